"""Values that break exactly one keyword of a schema, and parts of requests that are proved invalid on the wire."""
