"""What an operation promises of its responses, and whether it is kept."""
