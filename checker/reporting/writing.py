"""The writing of reports after the testing, from the records on disk or from the result of the run."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import IO, Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.config.user_code import load_plugins
from checker.core.errors import UsageError
from checker.core.reports import REPORT_FORMATS, ReportFormat
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding, Interaction, Note, Record, RunFinished, RunStarted, SchemaOpened
from checker.reporting.events import Event, PhaseFinished, PhaseStarted, RunEvents
from checker.reporting.report import INCOMPLETE, Report
from checker.reporting.shown import ReportContext


@contextmanager
def whole_file(path: Path, *, is_binary: bool = False, permissions: int | None = None) -> Iterator[IO[Any]]:
    """Yield a file that replaces `path` if the block ends without an exception. Raises `OSError`.

    Without `permissions` the umask decides. A `path` that is not a regular file (`/dev/stdout`, a pipe) cannot be replaced;
    the content is written into it at the end.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    how: dict[str, Any] = {} if is_binary else {"encoding": "utf-8", "newline": "\n"}
    mode = "wb" if is_binary else "w"
    if _is_device(path):
        with tempfile.TemporaryFile(f"{mode}+", **how) as whole:
            yield whole
            whole.seek(0)
            with path.open(mode, **how) as device:
                shutil.copyfileobj(whole, device)
        return
    partial = partial_of(path)
    try:
        with open_with(partial, permissions, mode, **how) as file:
            yield file
        partial.replace(path)
    except BaseException:
        # Also after an interrupt or a bug, because half a report would mislead.
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def open_with(path: Path, permissions: int | None, mode: str, **how: Any) -> IO[Any]:
    """Return a new open file with these permissions from the start; None leaves them to the umask."""
    if permissions is None:
        return path.open(mode, **how)
    # A leftover file of a dead process with the same pid would keep its permissions.
    path.unlink(missing_ok=True)
    file: IO[Any] = open(  # noqa: SIM115 - the caller closes it
        path, mode, opener=lambda name, flags: os.open(name, flags, 0o600), **how
    )
    os.fchmod(file.fileno(), permissions)
    return file


def check_writable(path: Path, *, is_folder: bool = False) -> None:
    """Raise `UsageError` if no report can be written to a path. Called before the run."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_folder and path.exists() and not path.is_dir():
            raise UsageError(f"{path}: the report cannot be written: it is no directory")
        if path.is_dir() and not is_folder:
            raise UsageError(f"{path}: the report cannot be written: it is a directory")
        if not _is_device(path):
            probe = partial_of(path)
            probe.write_bytes(b"")
            probe.unlink()
    except OSError as error:
        raise UsageError(f"{path}: the report cannot be written: {error.strerror}") from error


def check_reports(settings: RunSettings) -> None:
    """Raise `UsageError` if a report of a run cannot be written."""
    for name, path in settings.report.files:
        check_writable(Path(path), is_folder=format_named(name).is_folder)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


def partial_of(path: Path) -> Path:
    """Return the path of the partial file of this process."""
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


class StreamWriter(Protocol):
    """Makes a report event by event. The returned texts are appended to the file."""

    context: ReportContext  # Context of the current run. It changes when the next of several runs begins.

    def head(self) -> str:
        """Return the text before everything else."""
        ...

    def event(self, event: Event) -> str:
        """Return the text to add for an event; empty if the format does not show it."""
        ...

    def end(self) -> str:
        """Return the text after everything else."""
        ...


def writer_of(row: ReportFormat) -> Any:
    """Return the writer of a format. For a streaming format, it makes a `StreamWriter` from a `ReportContext`.

    For other formats, it makes the content from a `Report` and a `ReportContext`: pieces of bytes or text, or for a
    folder the (name, content) of each file.
    """
    return resolve_name(row.writer) if isinstance(row.writer, str) else row.writer


Target = tuple[str, str]  # (format, path) of a report.

_FOR_INTERACTIONS = 0.9  # Share of `reports.max-size` for interactions. The rest is reserved for findings and errors.
_ALWAYS = (PhaseStarted, PhaseFinished, RunFinished)
"""Events that are written even to a full report, because its structure needs them."""


def never() -> bool:
    """Return False: the report is to be completed."""
    return False


class RunOnDisk(Struct):
    """The run of a report, with the facts that reports need at their beginning."""

    settings: RunSettings  # Settings of the run; those of its project once the description is open.
    first: int | None = None  # The lowest incarnation of the run.
    started: RunStarted | None = None
    opened: SchemaOpened | None = None

    def on_record(self, incarnation: int, record: Record) -> bool:
        """Read a record. Return whether it opened the description."""
        self.first = incarnation if self.first is None else min(self.first, incarnation)
        if isinstance(record, RunStarted) and self.started is None:
            self.started = record
        if isinstance(record, SchemaOpened) and self.opened is None and self.started is not None:
            self.opened = record
            self.settings = self.settings.for_project(record.title)
            return True
        return False

    @property
    def context(self) -> ReportContext:
        return ReportContext.of(self.settings, self.started, self.opened)

    def events(self, *, has_traffic: bool = True) -> RunEvents:
        """Return the events of the run. The caller closes the iterator."""
        layout = RunLayout(Path(self.settings.corpus.folder))
        return RunEvents(layout, self.first or 0, has_traffic=has_traffic)


class WrittenReports(Struct):
    """The result of writing reports."""

    count: int = 0  # Number of interactions that were read.
    notes: list[Note] = field(default_factory=list)  # Notes on damaged files of traffic, and on incomplete reports.
    problems: dict[str, str] = field(default_factory=dict)  # Path -> the reason why there is no report, as a sentence.


def write_streams(
    runs: Sequence[RunOnDisk], targets: Sequence[Target], is_given_up: Callable[[], bool] = never
) -> WrittenReports:
    """Write the reports of event streams, of one run or of several in turn. Other formats are ignored.

    A failure of several runs is shown once. If the writing is interrupted, no report is left.
    """
    rows = [(row, path) for name, path in targets if (row := format_named(name)).streams]
    found = WrittenReports()
    if not rows:
        return found
    contexts = [run.context for run in runs]
    reports = [_OpenReport(row, path, runs[0].settings, contexts[0]) for row, path in rows]
    has_traffic = any(row.needs_traffic for row, _ in rows)
    shown: set[str] = set()
    with ExitStack() as stack:
        for report in reports:
            stack.callback(report.close)
        try:
            for run, context in zip(runs, contexts, strict=True):
                for report in reports:
                    report.turn_to(context)
                events = run.events(has_traffic=has_traffic)
                shown |= _show(events, reports, shown, is_given_up)
                found.count += events.count
                found.notes += events.notes()
            for report in reports:
                report.end()
        except InterruptedError as error:
            for report in reports:
                report.fail(error)
    for report in reports:
        if report.problem:
            found.problems[report.path] = report.problem
        elif report.left_out:
            found.notes.append(report.incomplete)
    return found


def _show(
    events: RunEvents, reports: Sequence["_OpenReport"], shown: set[str], is_given_up: Callable[[], bool]
) -> set[str]:
    """Write all events to all reports, without findings in `shown`. Return the fingerprints of the findings."""
    found = set()
    for event in events.all():
        if is_given_up():
            raise InterruptedError
        if isinstance(event, Finding):
            found.add(event.fingerprint)
            if event.fingerprint in shown:
                continue
            event = replace(event, needs=events.needs_of(event))
        for report in reports:
            report.event(event)
    return found


class _OpenReport:
    """One report under way. Errors of one report do not affect other reports."""

    def __init__(self, row: ReportFormat, path: str, settings: RunSettings, context: ReportContext) -> None:
        self.path = path
        self.problem = ""
        self.left_out = 0
        self._is_full = False
        self._row = row
        self._limit = settings.report.max_file_bytes
        self._size = 0
        self._stack = ExitStack()
        self._is_open = True
        self._guarded(lambda: self._begin(context))

    def turn_to(self, context: ReportContext) -> None:
        self._guarded(lambda: setattr(self._writer, "context", context))

    def event(self, event: Event) -> None:
        self._guarded(lambda: self._add(event))

    def end(self) -> None:
        self._guarded(self._finish)

    def fail(self, error: Exception) -> None:
        """Give up the report because of an error, and remove its partial file."""
        if self._is_open:
            self._is_open = False
            self.problem = _sentence(self._row, self.path, error)
            self._stack.__exit__(type(error), error, error.__traceback__)

    def close(self) -> None:
        self.fail(InterruptedError())

    @property
    def incomplete(self) -> Note:
        text = (
            f"{self.path}: {self.left_out:,} entries at the end are left out, because the report would be larger than "
            f"{self._limit:,} bytes (`reports.max-size`)"
        )
        return Note(INCOMPLETE, "", "", text)

    def _begin(self, context: ReportContext) -> None:
        self._writer: StreamWriter = writer_of(self._row)(context)
        self._file = self._stack.enter_context(whole_file(Path(self.path), is_binary=True, permissions=context.mode))
        self._write(self._writer.head().encode())

    def _add(self, event: Event) -> None:
        is_sent = isinstance(event, Interaction)
        if is_sent and self._is_full:
            self.left_out += 1
            return
        data = self._writer.event(event).encode()
        room = self._limit * _FOR_INTERACTIONS if is_sent else self._limit
        if self._size + len(data) <= room or isinstance(event, _ALWAYS):
            self._write(data)
        elif data:
            # Later interactions are left out as well, so that the report has no gap.
            self._is_full |= is_sent
            self.left_out += 1

    def _finish(self) -> None:
        if self.left_out:
            self._write(self._writer.event(self.incomplete).encode())
        self._write(self._writer.end().encode())
        self._stack.close()
        self._is_open = False

    def _write(self, data: bytes) -> None:
        if data:
            self._size += len(data)
            self._file.write(data)

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            if self._is_open:
                act()
        except Exception as error:  # noqa: BLE001 - an error in one writer must not affect other reports
            self.fail(error)


def write_stream(
    row: ReportFormat, path: str, settings: RunSettings, context: ReportContext, events: Iterable[Event]
) -> str:
    """Write a report of events. Return the reason why it is missing, or an empty text."""
    report = _OpenReport(row, path, settings, context)
    for event in events:
        report.event(event)
    report.end()
    return report.problem


def write_summary(
    row: ReportFormat, path: Path, report: Report, context: ReportContext, is_given_up: Callable[[], bool] = never
) -> str:
    """Write a report of the result of a run. Return the reason why it is missing, or an empty text.

    Never raises, so that an error does not affect other reports.
    """
    pieces = _until(is_given_up, lambda: writer_of(row)(report, context))
    try:
        if row.is_folder:
            partial = partial_of(path)
            shutil.rmtree(partial, ignore_errors=True)
            try:
                partial.mkdir(parents=True)
                names = []
                for name, content in pieces:
                    with open_with(partial / name, context.mode, "wb") as opened:
                        opened.write(content.encode() if isinstance(content, str) else content)
                    names.append(name)
                path.mkdir(parents=True, exist_ok=True)
                for name in names:
                    (partial / name).replace(path / name)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        else:
            with whole_file(path, is_binary=row.is_binary, permissions=context.mode) as file:
                for piece in pieces:
                    file.write(piece)
    except Exception as error:  # noqa: BLE001 - an error in one writer must not affect other reports
        return _sentence(row, path, error)
    return ""


def write_summaries(
    targets: Iterable[Target], report: Report, context: ReportContext, is_given_up: Callable[[], bool] = never
) -> dict[str, str]:
    """Write the reports of the result of a run. Return path -> why there is no report."""
    rows = ((format_named(name), path) for name, path in targets)
    told = {path: write_summary(row, Path(path), report, context, is_given_up) for row, path in rows if not row.streams}
    return {path: problem for path, problem in told.items() if problem}


def _until(is_given_up: Callable[[], bool], make: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    for piece in make():
        if is_given_up():
            raise InterruptedError
        yield piece


def _sentence(row: ReportFormat, path: Path | str, error: Exception) -> str:
    if isinstance(error, InterruptedError):
        return f"{path}: the {row.name} report was not written: interrupted"
    reason = error.strerror if isinstance(error, OSError) else None
    why = reason or f"{type(error).__name__}: {error}"
    return f"{path}: the {row.name} report cannot be written: {why}"


def format_named(name: str) -> ReportFormat:
    """Return the row of a format, loading plug-ins for an unknown name."""
    if name not in REPORT_FORMATS:
        load_plugins()
    return REPORT_FORMATS[name]
