"""Requests from schemas: one canonical form, compiled to closures that draw from one of three sources."""
