"""The Python interface: loaders, and the engine behind `case.call` and `operation.as_strategy`."""
