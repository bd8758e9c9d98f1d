"""The command line: options become a configuration, a configuration becomes settings, a run becomes an exit code.

The names below are what modules that extend it need; like all public names they are resolved on first use.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use."""
    return import_module("checker.faces").resolve(f"cli.{name}")
