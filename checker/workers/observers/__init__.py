"""What learns from the interactions of a worker: one file for each, and one row in `table`."""
