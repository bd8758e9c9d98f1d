"""Workers without their limits in seconds: hooks, for tests of what the seed alone decides.

What a wall limit cuts short may change what is sent, and on a busy machine they are hit.
"""

from math import inf
from typing import Any

from checker.workers.observers import pacing
from checker.workers.recording import investigation_budget, task_state

_LIMITS: tuple[tuple[Any, str, Any], ...] = (
    (task_state, "LONG_WAIT_S", inf),
    (pacing, "LONG_WAIT_S", inf),
    (investigation_budget, "_SLOW_S", inf),
    (investigation_budget, "_FIRST_S", inf),
    (investigation_budget, "_LATER_S", inf),
    (investigation_budget, "_QUICK_S", inf),
)
for module, name, value in _LIMITS:
    assert hasattr(module, name), f"{module} has no {name} any more"
    setattr(module, name, value)
