"""Redrawn lines with the progress of a run, on a terminal."""

import time
from collections import Counter
from operator import itemgetter

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from checker.core.system import Clock
from checker.core.terminal import one_line
from checker.reporting.live import RunProgress, Screen, clock_text
from checker.reporting.text import counted

_SHOWN_LABELS = 3
_BAR = 24


class LiveLines:
    """Lines that a thread of rich redraws ten times a second. The thread only reads counters."""

    def __init__(
        self, screen: Screen, progress: RunProgress, *, loading: str = "", clock: Clock = time.monotonic
    ) -> None:
        self._screen = screen
        self._progress = progress
        self._loading = loading
        """The text shown until the description is read."""
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
        self._live.start(refresh=True)

    def opened(self) -> None:
        """Show the progress, now that the description is read."""
        self._loading = ""
        # Without a refresh, the old lines would follow the text that is printed next.
        self._live.refresh()

    def stop(self) -> None:
        self._live.stop()

    def renderable(self) -> Group:
        now = self._clock()
        head = Table.grid(padding=(0, 1))
        at = self._progress
        left = at.left(now)
        share = at.share if at.max_time_s is None else min((now - at.started) / max(at.max_time_s, 1), 1.0)
        head.add_row(
            self._spinner,
            Text(clock_text(now - self._progress.started)),
            *((ProgressBar(total=1, completed=share, width=_BAR), Text(left)) if left else ()),
        )
        lines = [
            Text(self._screen.encodable(one_line(line))[: self._screen.rich.width])
            for line in ([self._loading] if self._loading else self.counter_lines(now))
        ]
        return Group(head, *lines)

    def counter_lines(self, now: float) -> list[str]:
        at, view = self._progress, self._progress.view
        found = counted(view.finding_count(), "unique failure")
        if at.last_found is not None:
            found += f", the last {clock_text(now - at.last_found)} ago"
        # Copied: the supervisor adds entries while this thread reads.
        statuses = Counter[int]()
        operations = list(view.operations.items())
        for _, one in operations:
            for status, count in [*one.statuses.items(), *one.probes.items()]:
                statuses[status // 100] += count
        classes = "  ".join(f"{f'{one}xx' if one else 'none'} {count:,}" for one, count in sorted(statuses.items()))
        workers = len(at.incarnations)
        # There are no workers before the first start, and after all were killed.
        living = counted(workers, "worker") if workers else "starting workers"
        errors = f"  {self._screen.glyph('error')} {counted(len(view.errors), 'error')}" if view.errors else ""
        lines = [
            f"  {view.counts.cases:,} cases  {at.rate(now):,.0f} requests/s  {living}  {classes}",
            f"  {self._screen.glyph('failure')} {found}{errors}",
        ]
        lines += [f"  {phase}: {'; '.join(labels[:_SHOWN_LABELS])}" for phase, labels in at.busy().items()]
        slowest, seconds = max(
            ((label, one.seconds) for label, one in operations), key=itemgetter(1), default=("", 0.0)
        )
        if seconds:
            lines.append(f"  slowest: {slowest} ({clock_text(seconds)})")
        return lines
