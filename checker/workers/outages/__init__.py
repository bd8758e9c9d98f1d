"""Outages of the target: how a worker notices them, looks for their cause, and repeats its cases."""
