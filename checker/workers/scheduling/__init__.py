"""What flies next, and what becomes of its answer."""
