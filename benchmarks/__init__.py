"""Claims about speed and memory, each one command; figures are ratios measured in one run."""
