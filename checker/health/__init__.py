"""What a run may do to its target, and what tells that the target suffers. Pure."""
