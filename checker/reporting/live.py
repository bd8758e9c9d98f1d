"""The moving lines at the foot of a terminal while a run goes on."""

import time
from collections.abc import Callable

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from checker.core.terminal import one_line
from checker.reporting.progress import RunProgress
from checker.reporting.screen import Screen
from checker.reporting.summary import counted

_SHOWN_LABELS = 3
_BAR = 24


class LiveLines:
    """Redrawn ten times a second by a thread of rich; it only reads the counters."""

    def __init__(
        self,
        screen: Screen,
        progress: RunProgress,
        *,
        loading: str = "",
        max_time_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._screen = screen
        self._progress = progress
        self._loading = loading
        """What is done about the description, until it is there."""
        self._operations = 0
        self._max_time_s = max_time_s
        self._clock = clock
        self._spinner = Spinner("dots" if screen.glyph("rule") == "━" else "line")
        self._live = Live(
            console=screen.rich,
            get_renderable=self.renderable,
            refresh_per_second=10,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def start(self) -> None:
        """Begin to draw."""
        self._live.start(refresh=True)

    def opened(self, operations: int) -> None:
        """The description is there: from now on the work is shown, and how much of so many operations is done."""
        self._loading = ""
        self._operations = operations
        # What is printed next would be followed by the lines as they were drawn last.
        self._live.refresh()

    def stop(self) -> None:
        """Wipe the lines: what follows is the report."""
        self._live.stop()

    def renderable(self) -> Group:
        """The lines as of now."""
        now = self._clock()
        head = Table.grid(padding=(0, 1))
        head.add_row(self._spinner, Text(clock_text(now - self._progress.started)), *self._bar(now))
        lines = [
            Text(self._screen.encodable(one_line(line))[: self._screen.rich.width])
            for line in ([self._loading] if self._loading else self.counter_lines(now))
        ]
        return Group(head, *lines)

    def counter_lines(self, now: float) -> list[str]:
        """Counters in words."""
        at = self._progress
        found = counted(len(at.fingerprints), "unique failure")
        if at.last_found is not None:
            found += f", the last {clock_text(now - at.last_found)} ago"
        classes = "  ".join(
            f"{f'{status}xx' if status else 'none'} {count:,}"
            for status, count in sorted(at.statuses.items())
        )
        busy = [", ".join(labels[:2]) for labels in list(at.tasks.values())[:_SHOWN_LABELS]]
        workers = len(at.incarnations)
        # There is none before the first one has begun, and when all were killed.
        crew = counted(workers, "worker") if workers else "starting workers"
        lines = [
            f"  {at.cases:,} cases  {at.rate(now):,.0f} requests/s  {crew}  {classes}",
            f"  {self._screen.glyph('failure')} {found}"
            + (
                f"  {self._screen.glyph('error')} {counted(at.errors, 'error')}"
                if at.errors
                else ""
            ),
        ]
        if busy:
            lines.append(f"  now: {'; '.join(busy)}")
        if at.slowest:
            lines.append(f"  slowest: {at.slowest} ({clock_text(at.seconds[at.slowest])})")
        return lines

    def _bar(self, now: float) -> tuple[ProgressBar | Text, ...]:
        """Part that is done: of the time if there is a limit, else of the operations."""
        if self._max_time_s is not None:
            done = min(now - self._progress.started, self._max_time_s)
            left = clock_text(self._max_time_s - done)
            return ProgressBar(total=self._max_time_s, completed=done, width=_BAR), Text(
                f"{left} left"
            )
        if not self._operations:
            return ()
        done = len(self._progress.finished)
        share = f"{done / self._operations:.0%} ({done}/{self._operations})"
        return ProgressBar(total=self._operations, completed=done, width=_BAR), Text(share)


def clock_text(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
