"""Finds the bugs of HTTP APIs before their users do."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use, so that `import checker` costs next to nothing."""
    faces = import_module("checker.faces")
    return faces.resolve(name)
