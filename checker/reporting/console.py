"""The console: progress of a run, and its report."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import replace

from checker import __version__
from checker.checks.table import BUILT_IN
from checker.config.settings import RunSettings
from checker.core import curl
from checker.core.blocks import marked
from checker.core.errors import LoaderError
from checker.core.request import BaseUrl
from checker.core.system import Clock
from checker.core.terminal import with_escaped_hashes
from checker.corpus.fold import RunView
from checker.corpus.records import Finding, Note, Record, RunStarted, SchemaOpened
from checker.health import KIND as FIRST_ANSWERS
from checker.reporting.baselines import NEW_FILE, baseline_size, known_lines
from checker.reporting.findings import (
    Printed,
    as_recorded,
    cause_line,
    causes_of,
    errors_by_label,
    failures_by_cause,
    marks_of,
)
from checker.reporting.live import RunProgress, Screen, clock_text, ruled
from checker.reporting.masking import Parts, Shown, ShownCommand, masked_url
from checker.reporting.report import Report, report_of
from checker.reporting.shown import ReportContext
from checker.reporting.summary import summary_lines, tally_parts, total_line
from checker.reporting.text import counted, cut_list, walled
from checker.reporting.warnings import warning_groups

if TYPE_CHECKING:
    from checker.reporting.live_lines import LiveLines

_FEW_CAUSES = 2  # Number of causes from which causes are listed. A single cause is visible in its own block.
_MOST_CAUSES = 40


def shown_as_python(shown: Shown, text: str, components: Sequence[Parts] = ()) -> ShownCommand:
    """Return a masked text with Python code in place of its commands."""
    found = shown(text, components)
    lines = [
        with_escaped_hashes(line, r"\x23")
        for number, one in enumerate(found.text.splitlines())
        for line in _as_python(one, is_first=number == 0)
    ]
    return replace(found, text="\n".join(lines))


def _as_python(command: str, *, is_first: bool) -> list[str]:
    if not command.startswith("curl "):
        return [command]
    try:
        request, url = curl.parse(command)
    except ValueError:
        return [command]
    if request.is_twice:
        # `http.client` waits for each response, so requests cannot be sent at once.
        return [command]
    place, socket = urlsplit(url), BaseUrl.from_url(url).socket
    kind = "HTTPSConnection" if place.scheme == "https" else "HTTPConnection"
    target = request.target.decode("latin-1") or "/"
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
    host = "localhost" if socket else place.netloc.rpartition("@")[2]
    return [
        *(["import http.client", *(["import socket"] if socket else [])] if is_first else []),
        f"connection = http.client.{kind}({host!a})",
        *(
            ["connection.sock = socket.socket(socket.AF_UNIX)", f"connection.sock.connect({socket!a})"]
            if socket
            else []
        ),
        f"connection.putrequest({request.method!a}, {target!a}, skip_accept_encoding=True)",
        *(f"connection.putheader({name!a}, {value!a})" for name, value in headers),
        *([f"connection.putheader('Content-Length', '{len(request.body)}')"] if request.body is not None else []),
        f"connection.endheaders({request.body if request.body is None else bytes(request.body)!r})",
        "response = connection.getresponse()",
        "print(response.status, response.read())",
        "connection.close()",
    ]


_FIELD = 18
_LARGE_BYTES = 1_000_000  # Size from which reading a description takes noticeable time.
_ELSEWHERE = "`--max-shown` shows more, and a report all of them, such as `--report html`."
_PULSE_S = (10.0, 60.0)  # Least and greatest number of seconds between two progress lines without a terminal.
_NOTICEABLE_S = 1.0  # Seconds after which the writing of reports is shown.
_PULSE_SHARE = 1 / 30  # Share of the elapsed time between two progress lines, so that long runs have fewer lines.


class Console:
    """The listener of a run's records. It shows progress, and at the end the report."""

    def __init__(self, settings: RunSettings, stream: IO[str] | None = None, *, clock: Clock = time.monotonic) -> None:
        self._settings = settings
        self._seed = settings.seed
        """Seed of the run, which an earlier process may have begun."""
        self._clock = clock
        self._progress = RunProgress(clock(), max_time_s=settings.max_time_s, began_at=time.time())
        self._live: LiveLines | None = None
        self._opened: SchemaOpened | None = None
        self._next_pulse = clock() + _PULSE_S[0]
        self._ended: float | None = None
        """The time when the testing ended."""
        self._is_writing_told = False
        self.screen = Screen(stream, color=settings.report.color)

    def title(self) -> None:
        name = f"Checker v{__version__}"
        self.screen.line(name, "bold")
        self.screen.line(self.screen.glyph("rule") * len(name), "bold")
        self.screen.line()

    def loading(self) -> None:
        """Print which description is being read, because reading may take long."""
        text = f"  {self._loading_text()}"
        if not self.screen.is_terminal:
            self.screen.line(text)
            return
        self._live = import_module("checker.reporting.live_lines").LiveLines(
            self.screen, self._progress, loading=text, clock=self._clock
        )
        self._live.start()

    def on_record(self, incarnation: int, record: Record) -> None:
        """Show progress: a header when the description is read, then counters and findings.

        Never raises: an error in the display must not end the run.
        """
        walled(lambda: self._follow(incarnation, record), lambda _: None)

    def _follow(self, incarnation: int, record: Record) -> None:
        now = self._clock()
        if isinstance(record, RunStarted):
            self._seed = record.seed
        if isinstance(record, SchemaOpened) and not self._opened:
            if self._settings.kind == "run":
                self._progress.tasks = record.selected * len(self._settings.phases)
            if self._live is not None:
                self._live.opened()
            self._header(record, now)
        if isinstance(record, Note) and record.kind == FIRST_ANSWERS:
            self._warn(record.text)
        new = self._progress.follow(incarnation, record, now)
        if now >= self._next_pulse:
            least, most = _PULSE_S
            pause = min(most, max(least, _PULSE_SHARE * (now - self._progress.started)))
            self._next_pulse = now + pause
            if self._live is None:
                at = self._progress
                found = counted(at.view.finding_count(), "unique failure")
                parts = (
                    clock_text(now - at.started),
                    at.left(now),
                    ", ".join(at.busy()),
                    f"{at.view.counts.cases:,} cases",
                    f"{at.rate(now):,.0f} requests/s",
                    found,
                )
                self.screen.line(f"     {'  '.join(filter(None, parts))}")
        # Without a terminal, only `fuzz` prints findings at once, because its report may come hours later.
        if new and isinstance(record, Finding) and (self._live or self._settings.kind == "fuzz"):
            since = clock_text(now - self._progress.started)
            # Only an investigated finding has marks.
            marks = marks_of(record) if record.investigation.stage == "minimised" else ()
            line = f" {self.screen.glyph('failure')}  {since}  {record.label}: {marked(record.title, marks)}"
            self.screen.line(line, "red")

    def end_testing(self) -> None:
        """Stop drawing. Reports are written next, and their time does not count as time of the run."""
        self.close()
        self._ended = self._clock()

    def still_writing(self) -> None:
        """Print once that reports are being written, if that takes noticeable time."""
        if self._ended is None or self._is_writing_told:
            return
        if self._clock() - self._ended >= _NOTICEABLE_S:
            self._is_writing_told = True
            self.screen.line("     Writing reports; Ctrl-C ends that")

    def report(self, view: RunView, outcome: str) -> Report:
        """Return the report of a finished run, with the settings of its project."""
        self.close()
        self.header_of(view)
        ended = self._clock() if self._ended is None else self._ended
        return report_of(view, self._settings, outcome, ended - self._progress.started)

    def header_of(self, view: RunView) -> None:
        if not self._opened and view.opened is not None:
            self._header(view.opened, self._clock())

    def finish(self, report: Report, added: Sequence[str] = (), written: Sequence[tuple[str, str]] = ()) -> None:
        """Print the report. If writing it and earlier reports took noticeable time, that time is shown.

        `added` and `written` as in `summary_lines`.
        """
        ended, self._ended = self._ended, None
        for phase in report.phases:
            glyph = self.screen.glyph(phase.icon)
            parts = tally_parts(phase.tally, self.screen.glyph)
            spent = f"in {phase.elapsed_s:.2f}s" if parts and phase.elapsed_s else ""
            notes = ", ".join(filter(None, (spent, phase.note)))
            title = f"{phase.title} ({notes})" if notes else phase.title
            self.screen.line(f" {glyph}  {'  '.join((title, *parts))}")
        self.screen.line()
        settings = self._settings
        context = ReportContext.of(settings, None, self._opened)
        shown: Shown = context.masking.command
        printed: Printed = context.printed
        if settings.report.code_sample_style == "python":
            shown = partial(shown_as_python, replace(context.masking, has_variables=False).command)
            printed = as_recorded
        self._causes(report, shown)
        sections = (
            ("FAILURES", failures_by_cause(report.failing, settings.report.truncation, shown, printed)),
            ("ERRORS", errors_by_label(report.joined_errors, report.quarantined, shown)),
        )
        for title, blocks in sections:
            count = 0
            for label, text in blocks:
                if count == 0:
                    self.screen.section(title)
                count += 1
                if count <= settings.report.max_shown:
                    self.screen.heading(label)
                    self.screen.block(text)
                    self.screen.line()
            if (left := count - settings.report.max_shown) > 0:
                self.screen.line(f"And {counted(left, 'more operation')}: {_ELSEWHERE}")
                self.screen.line()

        lines = list(known_lines(report))
        if lines:
            self.screen.section("KNOWN FAILURES")
            self.screen.line()
            most = self._settings.report.max_shown
            self.screen.lines(cut_list(lines, most, "  ", f": {_ELSEWHERE}"))
            self.screen.line()
        self.screen.section("SUMMARY")
        self.screen.line()
        self.screen.lines(summary_lines(report, self.screen.glyph, added, written))
        if ended is not None and (spent_s := self._clock() - ended) >= _NOTICEABLE_S:
            self.screen.line(f"Reports: {spent_s:.2f}s after the testing")
            self.screen.line()
        self.screen.line(ruled(total_line(report), "=", self.screen.width), _total_style(report))

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def loading_failed(self, error: LoaderError) -> None:
        self.close()
        glyph, spent = self.screen.glyph("failure"), self._clock() - self._progress.started
        location = self._shown_location()
        self.screen.line(f" {glyph}  Failed to load specification from {location} after {spent:.2f}s")
        self.screen.line()
        self.screen.line("Schema Loading Error", "bold red")
        self.screen.line()
        self.screen.block(error.message)
        if error.extras:
            self.screen.line()
            self.screen.lines(f"    {extra}" for extra in error.extras)

    def loading_interrupted(self) -> None:
        self.close()
        spent = self._clock() - self._progress.started
        glyph = self.screen.glyph("interrupted")
        self.screen.line(f" {glyph}  Loading interrupted after {spent:.2f}s")

    def _header(self, opened: SchemaOpened, now: float) -> None:
        self._opened = opened
        self._settings = self._settings.for_project(opened.title)
        spent = now - self._progress.started
        glyph = self.screen.glyph("success")
        settings = self._settings
        self.screen.line(f" {glyph}  Loaded specification from {self._shown_location()} (in {spent:.2f}s)")
        self.screen.line()
        most = "at most " if settings.processes.follows_cluster else ""
        against = "Compared with:" if settings.verdict.baseline.is_run else "Baseline:"
        intrusive = [one for one, check in BUILT_IN.items() if check.is_intrusive and one in settings.acting_checks]
        for name, value in (
            ("Base URL:", masked_url(opened.base_url, settings.report.sanitization)),
            ("Specification:", opened.specification),
            ("Shard:", opened.shard),
            ("Changed since:", opened.changed_since),
            ("Operations:", f"{opened.selected} selected / {opened.total} total"),
            ("Workers:", f"{most}{settings.processes.workers} (seed {self._seed})"),
            ("Intrusive:", ", ".join(intrusive)),
            (against, baseline_size(settings.verdict.baseline) if settings.verdict.baseline else ""),
        ):
            if value:
                self.screen.line(f"     {name:<{_FIELD}}{value}")
        self.screen.line()
        if settings.verdict.baseline.is_new:
            self._warn(NEW_FILE.format(source=settings.verdict.baseline.source))
        if opened.fetched_from:
            glyph = self.screen.glyph("warning")
            self.screen.line(
                f" {glyph}  The description comes from {opened.fetched_from}, but names another host:", "bold yellow"
            )
            self.screen.line("     all requests go to the base URL above; give `--url` to choose where.")
            self.screen.line()

    def _warn(self, text: str) -> None:
        self.screen.line(f" {self.screen.glyph('warning')}  {text}", "bold yellow")
        self.screen.line()

    def _causes(self, report: Report, shown: Shown) -> None:
        causes = causes_of(report.failing)
        if len(causes) < _FEW_CAUSES:
            return
        self.screen.section("CAUSES")
        self.screen.line()
        # Further causes are only counted: a line takes a millisecond, and a server may have thousands of causes.
        lines = [walled(partial(cause_line, one, shown), str) for one in causes[:_MOST_CAUSES]]
        self.screen.lines(cut_list([*lines, *[""] * (len(causes) - len(lines))], _MOST_CAUSES, "  ", f": {_ELSEWHERE}"))
        self.screen.line()

    def _loading_text(self) -> str:
        location, wait_s = self._shown_location(), self._settings.target.wait_for_schema_s
        if urlsplit(self._settings.location).netloc:
            waits = f", waiting up to {wait_s:g} s for it" if wait_s is not None else ""
            return f"Fetching {location}{waits}"
        # The worker that opens an unreadable file reports it.
        with suppress(OSError):
            if (size := os.path.getsize(self._settings.location)) >= _LARGE_BYTES:
                return f"Reading {location} ({size / 1e6:.1f} MB)"
        return f"Reading {location}"

    def _shown_location(self) -> str:
        return masked_url(self._settings.location, self._settings.report.sanitization)


def _total_style(report: Report) -> str:
    if report.failing or report.error_count or report.failing_warnings or report.coverage.shortfalls:
        return "bold red"
    is_doubtful = not report.succeeded or any(warning_groups(report.notes))
    return "bold yellow" if is_doubtful else "bold green"
