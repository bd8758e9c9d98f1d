"""The terminal: text on any stream, and the progress of a run."""

import os
import sys
from collections.abc import Iterable
from functools import cached_property
from typing import IO, TYPE_CHECKING, Final

from msgspec import Struct, field

from checker.core.graphs import grouped
from checker.core.system import later
from checker.core.terminal import encodable, one_line, printable
from checker.corpus.fold import RunView
from checker.corpus.records import Finding, Record, SchemaOpened, TaskProgress, WorkerGone

if TYPE_CHECKING:
    import rich.console as rich_console
    import rich.text as rich_text
else:
    # Only terminals need it: logs of CI have neither colours nor redrawn lines.
    rich_console = later("rich.console", by_all=False)
    rich_text = later("rich.text", by_all=False)

WIDTH: Final = 80
_FORCING: Final = frozenset(("FORCE_COLOR", "TTY_COMPATIBLE"))
"""Variables that make rich treat other streams as terminals."""

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
"""Name -> (glyph, replacement for encodings without the glyph)."""


class Screen:
    """A stream that accepts any text. Characters that its encoding lacks are replaced, control characters are escaped."""

    def __init__(self, stream: IO[str] | None = None, *, color: bool | None = None) -> None:
        self._stream = stream
        self._color = color
        file = stream or sys.stdout
        self._is_plain = not color and not file.isatty() and _FORCING.isdisjoint(os.environ)
        self._encoding = getattr(file, "encoding", None) or "utf-8"
        self._pretty = True
        try:
            "".join(pair[0] for pair in GLYPHS.values()).encode(self._encoding)
        except (UnicodeEncodeError, LookupError):
            self._pretty = False

    @cached_property
    def rich(self) -> "rich_console.Console":
        return rich_console.Console(
            file=self._stream,
            force_terminal=True if self._color else None,
            # Without an option, rich reads NO_COLOR (https://no-color.org) from the environment.
            no_color=None if self._color is None else not self._color,
            highlight=False,
            markup=False,
            emoji=False,
        )

    @property
    def is_terminal(self) -> bool:
        """Whether the stream is a terminal on which lines may be redrawn."""
        return not self._is_plain and self.rich.is_terminal and not self.rich.is_dumb_terminal

    def glyph(self, name: str) -> str:
        return GLYPHS[name][not self._pretty]

    def line(self, text: str = "", style: str = "") -> None:
        r"""Print one line, never wrapped; a line feed in it is shown as `\n`."""
        self.block(one_line(text), style)

    def block(self, text: str, style: str = "") -> None:
        """Print text of one or more lines, never wrapped."""
        if self._is_plain:
            print(self.encodable(text).expandtabs(), file=self._stream, flush=True)
        else:
            self.rich.print(rich_text.Text(self.encodable(text), style=style), soft_wrap=True)

    def lines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.line(text)

    @property
    def width(self) -> int:
        """Return the characters of a ruled line: `WIDTH`, or fewer on a narrow terminal."""
        return min(WIDTH, self.rich.width) if self.is_terminal else WIDTH

    def section(self, title: str, style: str = "bold") -> None:
        self.line(ruled(title, "=", self.width), style)

    def heading(self, label: str) -> None:
        self.line(ruled(label, "_", self.width), "bold")

    def encodable(self, text: str) -> str:
        """Return text that the stream can encode, without control characters and commands of CI systems."""
        return encodable(printable(text), self._encoding)


def ruled(title: str, rule: str, width: int = WIDTH) -> str:
    """Return a title in the middle of a line of `rule`, with at least three of them on each side."""
    rest = max(width - len(title) - 2, 6)
    left = rest // 2
    return f"{rule * left} {title} {rule * (rest - left)}"


_WINDOW_S = 5.0  # Seconds over which rates are measured. The mean of the whole run would hide a stall.


class RunProgress(Struct):
    """The state of a run that has not ended."""

    started: float  # Monotonic seconds, like all times here.
    view: RunView = field(default_factory=RunView)
    last_found: float | None = None
    incarnations: set[int] = field(default_factory=set)  # Living workers that have opened the description.
    tasks: int = 0  # One task for each operation in each phase; 0 if the end of the run does not depend on tasks.
    max_time_s: float | None = None
    began_at: float = 0.0
    """Time of its beginning, in seconds since the epoch. Tasks of earlier processes of the run do not continue and are left out of rates."""
    _done: set[tuple[str, str]] = field(default_factory=set)
    """(phase, operation) of finished tasks. The live lines read this ten times a second, and a run may have 40,000 tasks."""
    _samples: list[tuple[float, int]] = field(default_factory=list)  # (time, requests) of the last records.

    def follow(self, incarnation: int, record: Record, now: float) -> bool:
        """Count a record. Return True for a finding that is counted for the first time."""
        before = self.view.finding_count()
        self.view.absorb(incarnation, record)
        match record:
            case SchemaOpened():
                # Each worker writes this record first.
                self.incarnations.add(incarnation)
            case WorkerGone():
                self.incarnations.discard(record.incarnation)
            case TaskProgress():
                if record.finished:
                    self._done.update((record.phase, label) for label in record.labels)
                    # Only running tasks are shown.
                    self.view.forget_finished(record.task)
                if record.at < self.began_at:
                    self.view.tasks.pop(record.task, None)
                    return False
                if self._samples and now - self._samples[0][0] > 2 * _WINDOW_S:
                    # Old samples are removed once per window: a busy run has hundreds of records a second.
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
        """Return the share of finished tasks. Phases of sequences have fewer tasks than operations, so the share may end below 1."""
        done = len(self._done)
        return done / max(self.tasks, done, 1)

    def left(self, now: float) -> str:
        """Return the finished share of the work and the remaining time: `46%, about 1:20 left`; empty if neither is known."""
        spent_s, share = now - self.started, self.share
        if self.max_time_s is not None:
            return f"{clock_text(self.max_time_s - spent_s)} left"
        estimate = f", about {clock_text(spent_s / share - spent_s)} left" if share >= _LEAST_SHARE else ""
        return f"{share:.0%}{estimate}" if self.tasks else ""

    def busy(self) -> dict[str, list[str]]:
        """Return the phases with running tasks, and the first operations of each task."""
        return grouped((task.phase, ", ".join(task.labels[:2])) for task in list(self.view.tasks.values()))

    def rate(self, now: float) -> float:
        recent = [sample for sample in self._samples if now - sample[0] <= _WINDOW_S]
        span = min(_WINDOW_S, max(now - self.started, 0.1))
        return sum(count for _, count in recent) / span


_LEAST_SHARE = 0.05  # Finished share from which the remaining time is estimated.


def clock_text(seconds: float) -> str:
    """Return seconds as `0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
