"""The command line, which interrupts itself while it writes a cassette: as often as the first argument says."""

import signal
import sys
from collections.abc import Iterator
from typing import Any

from checker.__main__ import main
from checker.reporting import vcr


def _interrupted(times: int) -> None:
    pieces = vcr.cassette_pieces

    def interrupting(*arguments: Any) -> Iterator[str]:
        for number, piece in enumerate(pieces(*arguments)):
            if number == 2:
                for _ in range(times):
                    signal.raise_signal(signal.SIGINT)
            yield piece

    vcr.cassette_pieces = interrupting  # type: ignore[assignment]


if __name__ == "__main__":
    _interrupted(int(sys.argv.pop(1)))
    main()
