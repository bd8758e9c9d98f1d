"""Readers of refusals, which turn the error bodies of many frameworks into demands on the data."""
