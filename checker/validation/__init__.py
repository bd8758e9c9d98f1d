"""What a schema says of a value, twice: `compiled` for the hot path, `referee` for the second opinion."""
