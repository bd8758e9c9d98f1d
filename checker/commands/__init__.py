"""The commands: one module for each, and modules that several of them share."""
