"""Requests as bytes, and the transports that send them: libcurl, applications in this process, transports of users.

Transports outside the package use the names below. Like all public names, they are resolved on first use.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use."""
    return import_module("checker.faces").resolve(f"transport.{name}")
