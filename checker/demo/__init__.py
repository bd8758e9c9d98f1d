"""A small booking service with planted defects, to try the tool on; standard library only.

`Server` runs it on loopback, with `fixed=True` without the defects, and `serve` until Ctrl-C; `DEFECTS` lists the
defects; `document` gives its OpenAPI 3.0 document.
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    "DEFECTS": "defects",
    "Defect": "defects",
    "Server": "server",
    "document": "description",
    "serve": "server",
}


def __getattr__(name: str) -> Any:
    """Names are resolved on first use: a command line that never starts the service does not pay for it."""
    if name in _ROOMS:
        value = getattr(import_module(f"checker.demo.{_ROOMS[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
