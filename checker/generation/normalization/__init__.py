"""What a schema means: one canonical form, whoever asks."""
