"""Kinds of API descriptions: the protocol of a kind, and the table of kinds.

Every room above works with any kind and imports none. The names below are what a kind outside the package needs; like
all public names they are resolved on first use.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use: reading the table must not import generation."""
    return import_module("checker.faces").resolve(f"kinds.{name}")
