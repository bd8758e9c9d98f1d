"""Values to text and bytes and back, cell by cell."""
