"""The command line with a clock of its own: a script, so that no run ends before what it is to meet has come about.

The time of its runs passes at a twentieth of the usual pace, and is over as soon as there is a file `over` in the folder.
"""

import time
from functools import partial
from importlib import import_module
from pathlib import Path

OVER = "over"
"""Where such a file is, the time of a run is over."""
_PACE = 0.05
_LEAP_S = 1e6


def _clock() -> float:
    return time.monotonic() * _PACE + Path(OVER).exists() * _LEAP_S


def install() -> None:
    """Let the command line of this process run by it."""
    execution = import_module("checker.commands.execute")
    execution.RunEnvironment = partial(execution.RunEnvironment, clock=_clock)  # type: ignore[attr-defined]


if __name__ == "__main__":
    install()
    import_module("checker.__main__").main()
