"""OpenAPI 2.0 to 3.2: reads documents, and makes operations and response contracts from them.

Inside the package, import from the modules: `checker.openapi.loaders` opens documents. For users, this module offers
the loaders of schemas with an engine, such as `checker.openapi.from_url`.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use: their targets are in higher rooms."""
    return import_module("checker.faces").resolve(f"openapi.{name}")
