"""What people and other tools read: console and cassettes, folded from records."""
