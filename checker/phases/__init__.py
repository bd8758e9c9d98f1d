"""The phases: which cases to try, in which order, and one attempt from the case to its verdict.

The names below are what a phase outside the package needs; Like all public names, they are resolved on first use.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Resolve a public name on first use: importing one module must not import all layers below."""
    return import_module("checker.faces").resolve(f"phases.{name}")
