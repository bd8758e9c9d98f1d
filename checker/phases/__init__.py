"""What to try, in what order; one attempt from making a case to its verdict."""
