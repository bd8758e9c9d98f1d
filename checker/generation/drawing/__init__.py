"""Compiles canonical forms to closures that draw values."""
