"""The process that writes reports while their run goes on: it reads what the workers leave on disk, and nobody waits for it."""

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, astuple, replace

from checker.config.plugins import load_plugins
from checker.config.settings import RunSettings
from checker.core.reports import ReportFormat, report_format
from checker.core.stopping import STOP_SIGNALS
from checker.corpus.fold import RunView
from checker.corpus.layout import RunLayout
from checker.corpus.reader import Journals
from checker.corpus.records import Finding, Note, RunStarted, SchemaOpened
from checker.reporting.context import ReportContext
from checker.reporting.events import Event, EventStream
from checker.reporting.ordered import OrderedTraffic
from checker.reporting.orders import Progressing, ReportOrders
from checker.reporting.wall import walled
from checker.reporting.whole import whole_file
from checker.reporting.writers import StreamWriter, writer_of

_COUNTING_S = 0.3
"""What counting may take of which there was no time to write it."""

Target = tuple[str, str]
"""(format, path) of a report."""


class FollowedRun(Struct, frozen=True):
    """What a report that follows its run has to know from the start."""

    first: int
    """The lowest incarnation of the run."""
    started: RunStarted
    opened: SchemaOpened

    def to_plain(self) -> tuple[Any, ...]:
        """For another process."""
        return self.first, astuple(self.started), astuple(self.opened)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> "FollowedRun":
        """Back from `to_plain`."""
        first, started, opened = plain
        return cls(first, RunStarted(*started), SchemaOpened(*opened))


class WrittenReports(Struct, frozen=True):
    """What became of the reports that followed a run."""

    count: int = 0
    """Interactions in them."""
    left_out: int = 0
    """Interactions that there was no time for."""
    is_counted: bool = True
    """Whether `left_out` is all of them."""
    notes: tuple[tuple[str, str, str, str], ...] = ()
    """Of damaged files: the fields of `Note`."""
    problems: tuple[tuple[str, str], ...] = ()
    """(path, why) of reports that are not there."""
    problem: str = ""
    """Why none is."""

    def to_bytes(self) -> bytes:
        """For a pipe."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "WrittenReports":
        """Back from `to_bytes`."""
        plain = json.loads(data)
        lists = {name: tuple(map(tuple, plain[name])) for name in ("notes", "problems")}
        return cls(**{**plain, **lists})


class RunEvents:
    """The events of a run in their order: journals as they are written, between them the traffic by time."""

    def __init__(
        self,
        layout: RunLayout,
        first: int,
        now: Callable[[], float] = time.time,
        *,
        has_traffic: bool = True,
    ) -> None:
        """`first`: the lowest incarnation of the run. `has_traffic`: whether anybody wants to see each interaction."""
        self.count = 0
        """Interactions so far."""
        self._journals = Journals(layout, above=first - 1)
        self._traffic = OrderedTraffic(layout, first, now) if has_traffic else None
        self._stream = EventStream()

    @property
    def view(self) -> RunView:
        """What is known of the run by the events so far."""
        return self._stream.view

    def all(self, orders: Progressing) -> Iterator[Event]:
        """All events until the run is over, or nobody waits any more."""
        is_over = False
        while not is_over:
            # Asked before anything is read: what is written after the answer would be missed.
            is_over = orders.is_over
            for incarnation, record in self._journals.read_new():
                yield from self._stream.follow(incarnation, record)
            if self._traffic is not None:
                for interaction in self._traffic.ready(is_over, orders.is_late):
                    self.count += 1
                    yield from self._stream.interaction(interaction)
                    orders.tell(self.count)
            if not is_over:
                orders.wait()
        yield from self._stream.end()

    def count_rest(self, stop: Callable[[], bool]) -> tuple[int, bool]:
        """How many interactions were not told, and whether that is all of them."""
        return (0, True) if self._traffic is None else self._traffic.count_rest(stop)

    def notes(self) -> list[Note]:
        """One for each file of traffic that is damaged; journals are told of by others."""
        return [] if self._traffic is None else self._traffic.notes()

    def close(self) -> None:
        """Close all files."""
        self._journals.close()
        if self._traffic is not None:
            self._traffic.close()


class OpenReport:
    """One report under way. What goes wrong with it costs no other one."""

    def __init__(
        self, path: Path, make: Callable[[], StreamWriter], permissions: int | None = None
    ) -> None:
        self.path = path
        self.problem = ""
        """Why there is none."""
        self._whole = whole_file(path, permissions=permissions)
        self._add: Callable[[str], object] | None = None
        self._guarded(lambda: self._begin(make))

    def event(self, event: Event) -> None:
        """Show it an event."""
        if self._add is not None:
            self._guarded(lambda: self._write(self._writer.event(event)))

    def turn_to(self, context: ReportContext) -> None:
        """From now on events are of this run."""
        if self._add is not None:
            self._guarded(partial(setattr, self._writer, "context", context))

    def end(self) -> None:
        """Let it stand at its place."""
        if self._add is not None:
            self._guarded(self._finish)

    def give_up(self) -> None:
        """Remove what there is of it."""
        if self._add is not None:
            self._fail(InterruptedError("given up"))

    def _begin(self, make: Callable[[], StreamWriter]) -> None:
        self._writer = make()
        self._add = self._whole.__enter__().write
        self._write(self._writer.head())

    def _finish(self) -> None:
        self._write(self._writer.end())
        self._add = None
        self._whole.__exit__(None, None, None)

    def _write(self, text: str) -> None:
        assert self._add is not None
        if text:
            self._add(text)

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001 - the wall: whatever is wrong with a writer costs its report
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        told = error.strerror if isinstance(error, OSError) else None
        self.problem = told or f"{type(error).__name__}: {error}"
        if self._add is not None:
            self._add = None
            # Removes what is not whole.
            self._whole.__exit__(type(error), error, error.__traceback__)


def main(
    settings: Mapping[str, Any],
    run: tuple[Any, ...],
    targets: Sequence[Target],
    down: Connection,
    up: Connection,
) -> None:
    """Write the reports that follow a run. `settings` and `run` are plain forms of `RunSettings` and `FollowedRun`."""
    # What asks the run to end is for the supervisor alone: it wants the reports.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    asked = RunSettings.from_dict(settings)
    # Nobody reads it where there is time enough.
    tells = None if asked.max_time_s is None else up
    orders = ReportOrders(down, [Path(path) for _, path in targets], tells)
    written = walled(
        lambda: follow([(asked, FollowedRun.from_plain(run))], targets, orders),
        lambda why: WrittenReports(problem=why),
    )
    up.send_bytes(written.to_bytes())


def follow(
    runs: Sequence[tuple[RunSettings, FollowedRun]],
    targets: Sequence[Target],
    orders: Progressing,
) -> WrittenReports:
    """Write the reports of a run from its beginning to its end; of several, at least one, of each in turn."""
    rows = [(format_named(name), Path(path)) for name, path in targets]
    contexts = [ReportContext.of(settings, run.started, run.opened) for settings, run in runs]
    reports = [
        OpenReport(path, partial(_opened, row, contexts[0]), contexts[0].mode) for row, path in rows
    ]
    has_traffic = any(row.needs_traffic for row, _ in rows)
    with ExitStack() as stack:
        sources = [
            stack.enter_context(
                closing(
                    RunEvents(
                        RunLayout(Path(settings.corpus_dir)), run.first, has_traffic=has_traffic
                    )
                )
            )
            for settings, run in runs
        ]
        return write(reports, list(zip(contexts, sources, strict=True)), orders)


def write(
    reports: Sequence[OpenReport],
    runs: Sequence[tuple[ReportContext, RunEvents]],
    orders: Progressing,
) -> WrittenReports:
    """Show every event of runs to reports until they are complete. A failure that an earlier run has is shown once."""
    try:
        _show(reports, runs, orders)
        for report in reports:
            report.end()
    finally:
        for report in reports:
            report.give_up()
    sources = [events for _, events in runs]
    written = WrittenReports(
        sum(events.count for events in sources),
        notes=tuple(_fields(note) for events in sources for note in events.notes()),
        problems=tuple((str(one.path), one.problem) for one in reports if one.problem),
    )
    if orders.is_late():
        late = partial(orders.is_late, _COUNTING_S)
        counts = [events.count_rest(late) for events in sources]
        left, is_counted = sum(count for count, _ in counts), all(is_all for _, is_all in counts)
        written = replace(written, left_out=left, is_counted=is_counted)
    return written


def _show(
    reports: Sequence[OpenReport],
    runs: Sequence[tuple[ReportContext, RunEvents]],
    orders: Progressing,
) -> None:
    told: set[str] = set()
    for number, (context, events) in enumerate(runs):
        if number:
            for report in reports:
                report.turn_to(context)
        found: set[str] = set()
        for event in events.all(orders):
            if isinstance(event, Finding):
                found.add(event.fingerprint)
                if event.fingerprint in told:
                    continue
            for report in reports:
                report.event(event)
        told |= found


def _opened(row: ReportFormat, context: ReportContext) -> StreamWriter:
    writer: StreamWriter = writer_of(row)(context)
    return writer


def format_named(name: str) -> ReportFormat:
    """The row of a format, which a plug-in may bring."""
    if report_format(name) is None:
        load_plugins()
    row = report_format(name)
    assert row is not None, name
    return row


def _fields(note: Note) -> tuple[str, str, str, str]:
    return note.kind, note.label, note.pointer, note.text
