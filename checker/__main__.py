"""The console script. Tiny: worker processes import it again."""

import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Final

from checker.core.system import limit_reached

_CANNOT: Final = 2
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


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # What the interpreter needed until now is of the run's time, too.
    began_at = time.monotonic() - process_age_s()
    try:
        code = import_module("checker.commands.output").run_program(began_at)
    except Exception as error:
        sentence = limit_reached(error)
        if not sentence:
            raise
        print(f"Error: {sentence}", file=sys.stderr)  # noqa: T201 - other ways to print need more memory
        code = _CANNOT
    sys.exit(code)


if __name__ == "__main__":
    main()
