"""Documents of any kind, read from files and URLs within limits on bytes, time and number."""
