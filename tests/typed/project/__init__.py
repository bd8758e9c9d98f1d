"""A project that uses all public names of `checker`, for type checkers: nothing here runs."""
