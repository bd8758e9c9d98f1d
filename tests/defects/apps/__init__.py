"""One module for each service: `DOCUMENT`, `DEFECTS` and `build`."""
