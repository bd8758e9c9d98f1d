"""Readers of refusals: the error bodies of many frameworks, as demands on the data."""
