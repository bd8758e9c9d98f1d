"""Boundary cases: requests with values at the edges of a schema. The list depends on the schema alone, not on a seed."""
