"""The memory of a run: journals, traffic, values, signals and entries. Records reach the disk before they are reported."""
