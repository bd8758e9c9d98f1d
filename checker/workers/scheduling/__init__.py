"""The choice of the next request, and the handling of its response."""
