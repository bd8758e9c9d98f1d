"""GraphQL: reads schemas, writes queries, and judges responses by the types.

Code inside the package imports from the modules: `checker.graphql.loaders` opens schemas. For users, this module offers
loaders such as `checker.graphql.from_url`.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use, because their targets are in higher rooms."""
    return import_module("checker.faces").resolve(f"graphql.{name}")
