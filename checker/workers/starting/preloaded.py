"""The modules that the fork server imports, so that workers need not: those for the whole life of a worker, and the loaders of OpenAPI."""

import os
import sys
from importlib import import_module
from typing import Final

from checker.core.system import ended_after, import_all, show_no_limits, uncollected

_LIFE: Final = "checker.workers.incarnation"
_LOADERS: Final = "checker.openapi.loaders"
_MOST_CPU_S: Final = 60.0
"""The imports take 1 to 2 CPU-seconds. The supervisor waits for the fork server, so an endless import would stop the run."""

# The supervisor reports in one sentence that no process could be started.
show_no_limits()
if sys.path[:1] in ([""], [os.getcwd()]):
    # Otherwise Python looks into the working directory first, where a user's `queue.py` or `six.py` may be.
    sys.path.append(sys.path.pop(0))
with ended_after(_MOST_CPU_S), uncollected():
    # Modules live as long as the process. Scanning them in every garbage collection took a sixth of the import time.
    import_module(_LIFE)
    import_module(_LOADERS)
    import_all()
