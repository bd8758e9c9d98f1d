"""The reader of JSON Schema: keywords, names and places of each dialect, and views of everything that applies to a value."""
