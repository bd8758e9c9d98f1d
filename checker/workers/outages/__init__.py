"""Whether the target still serves, what ended that, and what it means for the cases of a worker."""
