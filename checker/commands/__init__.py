"""The commands: one module for each, and what several of them share."""
