"""Sources of choices: random numbers, a record, Hypothesis, or always the simplest choice."""
