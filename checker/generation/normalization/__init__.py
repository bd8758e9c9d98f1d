"""The meaning of a schema: one canonical form for all readers."""
