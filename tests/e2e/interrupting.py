"""The command line, which interrupts itself when its reports are to be written: as often as the first argument says."""

import signal
import sys
from importlib import import_module
from typing import Any

from checker.__main__ import main


def _interrupt(times: int) -> None:
    execution = import_module("checker.commands.execute")
    write = execution.write_streams

    def interrupting(*arguments: Any) -> Any:
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        return write(*arguments)

    execution.write_streams = interrupting  # type: ignore[attr-defined]


if __name__ == "__main__":
    _interrupt(int(sys.argv.pop(1)))
    main()
