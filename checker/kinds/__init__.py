"""Kinds of API descriptions: what each has to offer, and the one table of them.

Everything above works with any kind and imports none. The names below are what a kind outside the package needs; like all
public names they are resolved on first use.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use: reading the table must not bring in what draws cases."""
    return import_module("checker.faces").resolve(f"kinds.{name}")
