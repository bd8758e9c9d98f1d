"""The command line as a process: its streams, its signals, its exit code."""

import sys
from importlib import import_module

from checker.core.streams import guarded_output, open_closed_streams
from checker.supervisor.signals import end_at_interrupts, raise_interrupts

INTERRUPTED = 130
CANNOT = 2


def run_program(began_at: float) -> int:
    """Return the exit code of the command line in `sys.argv`, also if streams are closed or the process is interrupted.

    `began_at`: when the process began, of `time.monotonic`.
    """
    open_closed_streams()
    outlet = guarded_output()
    try:
        raise_interrupts()
        code = import_module("checker.cli").main(began_at)
    except KeyboardInterrupt:
        code = INTERRUPTED
    end_at_interrupts()
    sys.stdout.flush()
    # An interrupted one ends as such: a terminal that goes away interrupts and takes the output with it.
    if outlet.problem and code != INTERRUPTED:
        print(  # noqa: T201 - the one line that is not ours to lose
            f"Error: standard output cannot be written: {outlet.problem}; what it shows is not all there is",
            file=sys.stderr,
        )
        return CANNOT
    return int(code)
