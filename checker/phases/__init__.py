"""The phases: which cases to try, in which order, and one attempt from the case to its verdict.

The names below are what a phase outside the package needs; like all public names they are resolved on first use.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use: who imports one module must not get all floors below."""
    return import_module("checker.faces").resolve(f"phases.{name}")
