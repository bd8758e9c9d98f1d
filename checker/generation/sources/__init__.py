"""Sources of choices: chance, a record, Hypothesis, or always the simplest."""
