"""A process that leases tasks, works through them and writes down what it learns."""
