"""GraphQL: schemas read, queries written, answers judged by the types.

Below the faces, import from the modules: `checker.graphql.loaders` opens schemas. For users, the package itself has the
loaders that give schemas with an engine: `checker.graphql.from_url`.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use: what they stand for lives on a higher floor."""
    return import_module("checker.faces").resolve(f"graphql.{name}")
