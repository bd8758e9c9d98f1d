"""Judges of interactions: each failed check is a value with an identity.

For users, the package itself has the functions of the built-in checks: `checker.checks.not_a_server_error`.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use."""
    return import_module("checker.faces").resolve(f"checks.{name}")
