"""Judges of interactions: each failed check is a value with an identity."""
