"""The limits of a run at its target, and the signs that the target suffers. Pure."""
