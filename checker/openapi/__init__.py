"""OpenAPI 2.0 to 3.1: documents read, operations and response contracts made of them.

Below the faces, import from the modules: `checker.openapi.loaders` opens documents. For users, the package itself has
the loaders that give schemas with an engine: `checker.openapi.from_url`.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use: what they stand for lives on a higher floor."""
    return import_module("checker.faces").resolve(f"openapi.{name}")
