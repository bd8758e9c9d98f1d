"""`httpx` without its command line, which imports rich and pygments and doubles the time of the import."""

import sys

_COMMAND_LINE = "httpx._main"
if "httpx" not in sys.modules:
    # An entry that is None makes the import of a module fail, and httpx works without its command line.
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment]
try:
    import httpx as httpx
finally:
    if sys.modules.get(_COMMAND_LINE, sys) is None:
        del sys.modules[_COMMAND_LINE]
