"""Two opinions on a value: `compiled` for the hot path, `referee` for the second opinion."""
