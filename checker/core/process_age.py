"""How long this process is there: what its start took belongs to the time of a run."""

import os
import time
from pathlib import Path
from typing import Final

_STAT: Final = Path("/proc/self/stat")
_BEGAN: Final = 19
"""Place of the time of the start behind the name of the program, in clock ticks since the boot (proc(5), field 22)."""


def process_age_s(stat: Path = _STAT) -> float:
    """Seconds of wall time since this process began; its processor time where the system does not say.

    Where many wait for a processor, reading the interpreter takes several times what it costs.
    """
    spent_s = time.process_time()
    try:
        # The name of the program may hold anything, and ends with the last parenthesis.
        ticks = int(stat.read_bytes().rpartition(b")")[2].split()[_BEGAN])
        booted_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        return max(spent_s, booted_s - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, AttributeError, ValueError, IndexError):
        return spent_s
