"""The contract of an operation's responses, and the judges of bodies and headers."""
