"""What refusals say of the data that was refused: error bodies of many frameworks, read."""
