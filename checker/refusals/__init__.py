"""Readers of refusals: they turn the error bodies of many frameworks into demands on the data."""
