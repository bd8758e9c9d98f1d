"""Regular expressions of schemas: read, matched, and written from."""
