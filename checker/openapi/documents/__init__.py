"""Descriptions with every document that they refer to, and the names in them."""
