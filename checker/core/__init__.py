"""Words of the domain: what an operation, a case, a response and a failure are. Standard library only."""
