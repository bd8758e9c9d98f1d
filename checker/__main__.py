"""The console script. It is small, because worker processes import it again."""

import os
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

_CANNOT: Final = 2
_HASH_SEED: Final = "PYTHONHASHSEED"
_TESTING: Final = frozenset(("run", "fuzz"))
_HELP: Final = frozenset(("--help", "-h", "--help-all"))
_STAT: Final = Path("/proc/self/stat")
_BEGAN: Final = 19
"""Index of the start time among the fields after the name of the program, in clock ticks since the boot (proc(5), field 22)."""


def process_age_s(stat: Path = _STAT) -> float:
    """Return the seconds of wall time since this process began, or its processor time if the system does not tell.

    If many processes wait for a processor, starting the interpreter takes several times its processor time.
    """
    spent_s = time.process_time()
    try:
        # The name of the program may hold anything, and ends with the last parenthesis.
        ticks = int(stat.read_bytes().rpartition(b")")[2].split()[_BEGAN])
        booted_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        return max(spent_s, booted_s - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, AttributeError, ValueError, IndexError):
        return spent_s


def take_hashes_of_workers() -> None:
    """Start this program again with the hash seed of workers, if it will start workers (Linux).

    Workers are then forked from this process, with the modules that both need. The seed is read when an interpreter starts,
    which costs 14 ms of CPU, a tenth of these imports. Nothing is done under a debugger, which would lose its process.
    """
    starts_workers = not _TESTING.isdisjoint(sys.argv) and _HELP.isdisjoint(sys.argv)
    if not starts_workers or not sys.platform.startswith("linux") or sys.gettrace() is not None:
        return
    # `python -E` does not read the variable.
    if sys.flags.hash_randomization and os.environ.get(_HASH_SEED) != "0":
        with suppress(OSError):
            os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | {_HASH_SEED: "0"})


def main() -> None:
    """Run the command line and end the process with its exit code."""
    take_hashes_of_workers()
    # The time that the interpreter needed until now belongs to the time of the run.
    began_at = time.monotonic() - process_age_s()
    try:
        code = import_module("checker.commands.command").run_program(began_at)
    except Exception as error:
        # Imported here, because the program may have been started again before.
        sentence = import_module("checker.core.system").limit_reached(error)
        if not sentence:
            raise
        print(f"Error: {sentence}", file=sys.stderr)  # noqa: T201 - other ways to print need more memory
        code = _CANNOT
    sys.exit(code)


if __name__ == "__main__":
    main()
