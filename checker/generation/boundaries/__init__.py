"""Values at the edges of a schema, listed: the list depends on the schema alone."""
