"""Where choices come from: chance, a record, Hypothesis, or always the simplest."""
