"""The plugin of pytest, and its public names, which `checker.faces` resolves: `checker.pytest.from_fixture`, `.parametrize`."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a public name. It is resolved on first use, because the plugin is loaded with every start of pytest."""
    return import_module("checker.faces").resolve(f"pytest.{name}")
