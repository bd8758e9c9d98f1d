"""The terminal: text on any stream, and redrawn lines with the progress of a run."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import IO, Final

from msgspec import Struct, field
from rich.console import Console as Rich
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from checker.core.graphs import grouped
from checker.core.terminal import encodable, one_line, printable
from checker.corpus.fold import RunView
from checker.corpus.records import Finding, Record, SchemaOpened, TaskProgress, WorkerGone
from checker.reporting.text import counted

WIDTH: Final = 80

GLYPHS: Final = {
    "success": ("✅", "[ok]"),
    "failure": ("❌", "[fail]"),
    "known": ("☑ ", "[known]"),
    "error": ("🚫", "[error]"),
    "skip": ("⏭ ", "[skip]"),
    "interrupted": ("⚡", "[cut]"),
    "warning": ("⚠ ", "[warn]"),
    "rule": ("━", "-"),
}
"""Name -> (glyph, its replacement in encodings without it)."""


class Screen:
    """A stream for any text. Characters that it cannot encode are replaced, control characters are escaped."""

    def __init__(self, stream: IO[str] | None = None, *, color: bool | None = None) -> None:
        self.rich = Rich(
            file=stream,
            force_terminal=True if color else None,
            # Without an option, rich reads NO_COLOR (https://no-color.org) from the environment.
            no_color=None if color is None else not color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._encoding = getattr(self.rich.file, "encoding", None) or "utf-8"
        self._pretty = _encodes(self._encoding, "".join(pair[0] for pair in GLYPHS.values()))

    @property
    def is_terminal(self) -> bool:
        """Whether the stream is a terminal on which lines may be redrawn."""
        return self.rich.is_terminal and not self.rich.is_dumb_terminal

    def glyph(self, name: str) -> str:
        """Return a glyph of `GLYPHS`, or its replacement."""
        return GLYPHS[name][not self._pretty]

    def line(self, text: str = "", style: str = "") -> None:
        r"""Print one line, never wrapped; a line feed in it is shown as `\n`."""
        self.block(one_line(text), style)

    def block(self, text: str, style: str = "") -> None:
        """Print text of one or more lines, never wrapped."""
        self.rich.print(Text(self.encodable(text), style=style), soft_wrap=True)

    def lines(self, texts: Iterable[str]) -> None:
        """Print each text on a line of its own."""
        for text in texts:
            self.line(text)

    @property
    def width(self) -> int:
        """Return the characters of a ruled line: `WIDTH`, or fewer on a narrow terminal."""
        return min(WIDTH, self.rich.width) if self.is_terminal else WIDTH

    def section(self, title: str, style: str = "bold") -> None:
        """Print `===== TITLE =====`."""
        self.line(ruled(title, "=", self.width), style)

    def heading(self, label: str) -> None:
        """Print `_____ GET /users _____`."""
        self.line(ruled(label, "_", self.width), "bold")

    def encodable(self, text: str) -> str:
        """Return text that the stream can encode, without control characters and commands of CI systems."""
        return encodable(printable(text), self._encoding)


def ruled(title: str, rule: str, width: int = WIDTH) -> str:
    """Return a title in the middle of a line of `rule`, with at least three of them on each side."""
    rest = max(width - len(title) - 2, 6)
    left = rest // 2
    return f"{rule * left} {title} {rule * (rest - left)}"


def _encodes(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


_WINDOW_S = 5.0
"""Seconds over which rates are measured. A mean of the whole run would hide a stall."""


class RunProgress(Struct):
    """The state of a run that has not ended."""

    started: float
    """Monotonic seconds, like all times here."""
    view: RunView = field(default_factory=RunView)
    last_found: float | None = None
    incarnations: set[int] = field(default_factory=set)
    """Living workers that have opened the description."""
    tasks: int = 0
    """One for each operation in each phase; 0 if the end of the run does not depend on them."""
    max_time_s: float | None = None
    _done: set[tuple[str, str]] = field(default_factory=set)
    """Phase and operation of finished tasks. The live lines ask ten times a second, and a run may have 40,000 tasks."""
    _samples: list[tuple[float, int]] = field(default_factory=list)
    """(time, requests) of the last records."""

    def follow(self, incarnation: int, record: Record, now: float) -> bool:
        """Count a record. Return True for a finding that was not counted before."""
        before = self.view.finding_count()
        self.view.absorb(incarnation, record)
        match record:
            case SchemaOpened():
                # Each worker writes it first.
                self.incarnations.add(incarnation)
            case WorkerGone():
                self.incarnations.discard(record.incarnation)
            case TaskProgress():
                if record.finished:
                    self._done.update((record.phase, label) for label in record.labels)
                if self._samples and now - self._samples[0][0] > 2 * _WINDOW_S:
                    # Old samples are removed once in a window: a busy run has hundreds of records in a second.
                    self._samples = [s for s in self._samples if now - s[0] <= _WINDOW_S]
                self._samples.append((now, record.requests))
            case Finding() if self.view.finding_count() > before:
                self.last_found = now
                return True
            case _:
                pass
        return False

    @property
    def share(self) -> float:
        """Return the share of the tasks that are done. Phases of sequences have fewer tasks than operations, so that it may end below 1."""
        done = len(self._done)
        return done / max(self.tasks, done, 1)

    def left(self, now: float) -> str:
        """Return the share of the work that is done and the time that is left: `46%, about 1:20 left`; empty if neither is known."""
        spent_s, share = now - self.started, self.share
        if self.max_time_s is not None:
            return f"{clock_text(self.max_time_s - spent_s)} left"
        estimate = f", about {clock_text(spent_s / share - spent_s)} left" if share >= _LEAST_SHARE else ""
        return f"{share:.0%}{estimate}" if self.tasks else ""

    def busy(self) -> dict[str, list[str]]:
        """Return the phases with running tasks, and the first operations of each task."""
        return grouped(
            (task.phase, ", ".join(task.labels[:2])) for task in list(self.view.tasks.values()) if not task.finished
        )

    def rate(self, now: float) -> float:
        """Return the requests per second in the last seconds."""
        recent = [sample for sample in self._samples if now - sample[0] <= _WINDOW_S]
        span = min(_WINDOW_S, max(now - self.started, 0.1))
        return sum(count for _, count in recent) / span


_LEAST_SHARE = 0.05
"""The share of the work from which on the time that is left is estimated."""
_SHOWN_LABELS = 3
_BAR = 24


class LiveLines:
    """Lines that a thread of rich redraws ten times a second. It only reads the counters."""

    def __init__(
        self, screen: Screen, progress: RunProgress, *, loading: str = "", clock: Callable[[], float] = time.monotonic
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
        """Begin to draw."""
        self._live.start(refresh=True)

    def opened(self) -> None:
        """Show the progress, now that the description is read."""
        self._loading = ""
        # Without a refresh, text that is printed next would be followed by the old lines.
        self._live.refresh()

    def stop(self) -> None:
        """Remove the lines."""
        self._live.stop()

    def renderable(self) -> Group:
        """Return the current lines."""
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
        """Return the counters as text."""
        at, view = self._progress, self._progress.view
        found = counted(view.finding_count(), "unique failure")
        if at.last_found is not None:
            found += f", the last {clock_text(now - at.last_found)} ago"
        # Copied: the supervisor adds entries while this thread reads.
        statuses = Counter[int]()
        for counts in [*view.statuses.values(), *view.probes.values()]:
            for status, count in list(counts.items()):
                statuses[status // 100] += count
        classes = "  ".join(f"{f'{one}xx' if one else 'none'} {count:,}" for one, count in sorted(statuses.items()))
        workers = len(at.incarnations)
        # There are none before the first start, and after all were killed.
        living = counted(workers, "worker") if workers else "starting workers"
        errors = f"  {self._screen.glyph('error')} {counted(len(view.errors), 'error')}" if view.errors else ""
        lines = [
            f"  {view.cases:,} cases  {at.rate(now):,.0f} requests/s  {living}  {classes}",
            f"  {self._screen.glyph('failure')} {found}{errors}",
        ]
        lines += [f"  {phase}: {'; '.join(labels[:_SHOWN_LABELS])}" for phase, labels in at.busy().items()]
        if slowest := max(list(view.seconds), key=view.seconds.__getitem__, default=None):
            lines.append(f"  slowest: {slowest} ({clock_text(view.seconds[slowest])})")
        return lines


def clock_text(seconds: float) -> str:
    """Return seconds as `0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
