"""Values at the edges of a schema, listed: the same ones for the same schema, whoever asks and in whatever order."""
