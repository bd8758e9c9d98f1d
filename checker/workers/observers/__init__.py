"""The observers of the interactions of a worker: one file for each, and one row in `observer_table`."""
