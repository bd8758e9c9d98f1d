"""What the generator makes, judged over real schemas: right, fast, small when shrunk, and where its values fall."""
