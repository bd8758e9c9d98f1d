"""Kinds of API descriptions: the protocol of a kind, and the table of kinds.

The rooms above work with any kind and import none. A kind outside the package needs the names below. Like
all public names they are resolved on first use.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use: reading the table must not import generation."""
    return import_module("checker.faces").resolve(f"kinds.{name}")
