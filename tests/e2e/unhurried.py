"""Workers without their limits in seconds: hooks, for tests of what the seed alone decides.

What a wall limit cuts short may change what is sent, and on a busy machine they are hit.
"""

from math import inf
from typing import Any

from checker.generation.sources import shrinking
from checker.workers.failures import failure_queue
from checker.workers.observers import slowness
from checker.workers.recording import task_state

_LIMITS: tuple[tuple[Any, str, Any], ...] = (
    (shrinking, "monotonic", lambda: 0.0),
    (task_state, "LONG_WAIT_S", inf),
    (slowness, "LONG_WAIT_S", inf),
    (failure_queue, "_SLOW_S", inf),
    (failure_queue, "_FIRST_S", inf),
    (failure_queue, "_LATER_S", inf),
    (failure_queue, "_QUICK_S", inf),
)
for module, name, value in _LIMITS:
    assert hasattr(module, name), f"{module} has no {name} any more"
    setattr(module, name, value)
