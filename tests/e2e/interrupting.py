"""The command line, which interrupts itself when its reports are to be finished: as often as the first argument says."""

import signal
import sys
from typing import Any

from checker.__main__ import main
from checker.reporting.following import FollowingReports


def _interrupted(times: int) -> None:
    finish = FollowingReports.finish

    def interrupting(*arguments: Any) -> Any:
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        return finish(*arguments)

    FollowingReports.finish = interrupting  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    _interrupted(int(sys.argv.pop(1)))
    main()
