"""Two opinions on a value: `compiled` is fast, for the hot path; `referee` is the independent second opinion."""
