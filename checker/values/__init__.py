"""Values of responses, and the parameters that they are offered to: the pool of a run and of a sequence."""
