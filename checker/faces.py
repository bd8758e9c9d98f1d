"""The public names, each resolved on first use: the only way from the top of the package to the floors below."""

from difflib import get_close_matches
from importlib import import_module
from typing import Any

PUBLIC = {
    "Case": "checker.core.case:Case",
    "Config": "checker.config.config:Config",
    "GenerationMode": "checker.core.meta:GenerationMode",
    "NOT_SET": "checker.core.case:NOT_SET",
    "Response": "checker.core.response:Response",
    "check": "checker.checks.custom:check",
    "config": "checker.config",
    "errors": "checker.errors",
    "hook": "checker.core.hooks:hook",
    "hooks": "checker.core.hooks:GLOBAL_HOOKS",
    "openapi": "checker.openapi",
    "openapi.format": "checker.core.registry:register_format",
    "openapi.from_asgi": "checker.library.loaders:from_asgi",
    "openapi.from_dict": "checker.library.loaders:from_dict",
    "openapi.from_file": "checker.library.loaders:from_file",
    "openapi.from_path": "checker.library.loaders:from_path",
    "openapi.from_url": "checker.library.loaders:from_url",
    "openapi.from_wsgi": "checker.library.loaders:from_wsgi",
}
"""Name below `checker` -> module, or module:attribute."""


def resolve(name: str) -> Any:
    """What a public name stands for. Raises `AttributeError` with the nearest name."""
    target = PUBLIC.get(name)
    if target is None:
        package, _, attribute = f"checker.{name}".rpartition(".")
        near = [] if attribute.startswith("_") else get_close_matches(name, PUBLIC, n=1)
        hint = f". Did you mean {near[0].rpartition('.')[2]!r}?" if near else ""
        raise AttributeError(f"module {package!r} has no attribute {attribute!r}{hint}")
    module, _, attribute = target.partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found
