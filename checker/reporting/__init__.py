"""Reports for people and for other tools, made from the records of a run."""
