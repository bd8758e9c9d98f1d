"""What is measured of generation and of the referee: tests ask for bounds, benchmarks for tables."""
