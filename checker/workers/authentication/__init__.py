"""Who is calling: where credentials come from, how requests get them, and what becomes of refused ones."""
