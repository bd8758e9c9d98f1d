"""Finds the bugs of HTTP APIs before their users do."""

from checker.core.public_names import public_names

__version__ = "0.1.0"

__getattr__, __dir__ = public_names("")
