"""What is remembered: journals, traffic, values, signals and entries, on disk before anyone is told."""
