"""The reader of JSON Schema: places, names and keywords of each dialect, and views of everything that holds of a value."""
