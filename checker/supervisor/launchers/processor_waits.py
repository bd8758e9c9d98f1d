"""How long workers were ready to run and got no processor: on a machine where many wait, that is no sign that one hangs."""

from pathlib import Path
from typing import Final

_PROCESSES: Final = Path("/proc")
_WAITED: Final = 1
"""Place of the nanoseconds in the queue of a processor among the words of `schedstat` (Linux, scheduler/sched-stats)."""
_NANO: Final = 1e-9


def waited_s(pid: int, processes: Path = _PROCESSES) -> float:
    """Seconds that the main thread of a process has waited for a processor; 0 where the system does not say, or it is gone."""
    try:
        return int((processes / str(pid) / "schedstat").read_bytes().split()[_WAITED]) * _NANO
    except (OSError, ValueError, IndexError):
        return 0.0


def age_s(mark_ns: int, now_ns: int) -> float:
    """Seconds since a mark, by the clock."""
    return (now_ns - mark_ns) * _NANO


class FairAge:
    """How long ago a process did what it marked with its clock, without the time in which it waited for a processor since."""

    __slots__ = ("_mark_ns", "_seen_s", "_waited_s")

    def __init__(self) -> None:
        self._mark_ns = 0
        self._seen_s = 0.0
        """Waited in all, when last looked at."""
        self._waited_s = 0.0
        """Waited in all, when last looked at before the mark was there."""

    def of(self, mark_ns: int, now_ns: int, waited_s: float) -> float:
        """Seconds since the mark; `waited_s`: in all, so far.

        What it waited between the last look and the mark is taken off as well: nobody saw when the mark was made.
        """
        if mark_ns != self._mark_ns:
            self._mark_ns, self._waited_s = mark_ns, self._seen_s
        # Of one that is gone the system says nothing any more.
        self._seen_s = max(self._seen_s, waited_s)
        return max(0.0, age_s(mark_ns, now_ns) - (self._seen_s - self._waited_s))
