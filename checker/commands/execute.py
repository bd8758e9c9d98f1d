"""Settings in, exit code out: the supervisor runs, the console shows, reports are written."""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path

from msgspec.structs import replace

from checker.commands.handlers import EventHandlers
from checker.commands.output import echo, echo_command, echo_line
from checker.commands.program import CANNOT, INTERRUPTED
from checker.config.settings import RunSettings
from checker.core.errors import UsageError
from checker.core.reports import WritingProgress
from checker.corpus.records import Record, RunStarted, SchemaOpened
from checker.corpus.secrets import secrets_of
from checker.reporting.console import Console
from checker.reporting.context import ReportContext
from checker.reporting.following import FollowingReports
from checker.reporting.github import add_summary, annotations
from checker.reporting.report import Report
from checker.reporting.summaries import write_summary
from checker.reporting.wall import walled
from checker.reporting.whole import check_writable
from checker.reporting.writers import writer_of
from checker.reporting.writing import FollowedRun, Target, format_named
from checker.supervisor.environment import RunEnvironment
from checker.supervisor.execution import RunOutcome, execute
from checker.supervisor.signals import Interrupts
from checker.workers.leaving import LeavingKind

REST_S = 0.4
"""What reports may take when the time of a run is over."""


def execute_run(
    settings: RunSettings, began_at: float, handlers: EventHandlers | None = None
) -> int:
    """Exit code of a run. Raises `UsageError` and `StorageError` when it cannot begin.

    `began_at`: from when on its time counts, of `time.monotonic`.
    """
    # Until the last line: who asks to stop while a report is written still wants the summary.
    with Interrupts() as interrupts, ExitStack() as stack:
        for name, path in settings.reports:
            check_writable(Path(path), is_folder=format_named(name).is_folder)
        if settings.baseline.updates or settings.baseline.prunes:
            check_writable(Path(settings.baseline.source), is_folder=False)
        console = Console(settings)
        stack.callback(console.close)
        console.title()
        console.loading()
        for line in handlers.context.initialization_lines if handlers is not None else ():
            console.screen.line(f"     {line}")
        followed = _Followed(settings, console, handlers)
        stack.callback(followed.close)
        age_s = time.monotonic() - began_at
        around = RunEnvironment(interrupts=interrupts, age_s=age_s, progress=followed.progress)
        if settings.live_port is not None:
            page = import_module("checker.reporting.live_page").LivePage(
                settings, settings.live_port
            )
            stack.callback(page.close)
            echo_line(f"     Live: {page.url}", err=True)
        outcome = execute(settings, followed.on_record, around)
        interrupts.take_one_more()
        is_given_up = outcome.error is not None and outcome.error.keeps_verdict
        if outcome.view.opened is None and not is_given_up:
            return _not_opened(console, outcome)
        until = _end_of_reports(settings, outcome)
        return _Reporting(outcome, console, followed, until).report(interrupts)


def _end_of_reports(settings: RunSettings, outcome: RunOutcome) -> float | None:
    """Return the deadline of reports, of `time.monotonic`; None without a time limit."""
    if settings.max_time_s is None:
        return None
    finished = outcome.view.finished
    left_s = 0.0 if finished is None else max(0.0, settings.max_time_s - finished.elapsed_s)
    return time.monotonic() + left_s + REST_S


class _Followed:
    """Passes records on, and has reports follow the run as soon as it is known what it is."""

    def __init__(
        self, settings: RunSettings, console: Console, handlers: EventHandlers | None = None
    ) -> None:
        self.handlers = handlers
        """Of users; None where there are none."""
        self.settings = settings
        """Those of the project, once it is known."""
        self.reports: FollowingReports | None = None
        """None when none is wanted that follows."""
        self._console = console
        self._first: int | None = None
        self._started: RunStarted | None = None
        self._opened: SchemaOpened | None = None

    @property
    def context(self) -> ReportContext:
        """Return the context that reports of the run share."""
        return ReportContext.of(self.settings, self._started, self._opened)

    def on_record(self, incarnation: int, record: Record) -> None:
        first = self._first
        self._first = incarnation if first is None else min(first, incarnation)
        match record:
            case RunStarted() if self._started is None:
                self._started = record
            case SchemaOpened() if self._opened is None and self._started is not None:
                self._opened = record
                self.settings = self.settings.for_project(record.title)
                if self.handlers is not None:
                    self.handlers.follow(self.settings, self._first)
                targets = [one for one in self.settings.reports if format_named(one[0]).streams]
                if targets:
                    run = FollowedRun(self._first, self._started, record)
                    self.reports = FollowingReports(self.settings, run, targets)
            case _:
                pass
        self._console.on_record(incarnation, record)

    def progress(self) -> WritingProgress | None:
        return None if self.reports is None else self.reports.progress()

    def close(self) -> None:
        if self.reports is not None:
            self.reports.close()


def _not_opened(console: Console, outcome: RunOutcome) -> int:
    error = outcome.error
    kind = None if error is None else error.kind
    if error is not None and kind is LeavingKind.USAGE:
        raise UsageError(error.sentence)
    if error is not None and kind is LeavingKind.CANNOT_OPEN:
        console.loading_failed(error.loader_error)
    elif error is None or outcome.outcome == "interrupted":
        console.loading_interrupted()
    else:
        shown = error.sentence if kind is LeavingKind.CANNOT_START else error
        echo(f"Error: {shown}", err=True)
    return outcome.exit_code


class _Reporting:
    """The work after a run: reports, the summary, the exit code."""

    def __init__(
        self, outcome: RunOutcome, console: Console, followed: _Followed, until: float | None
    ) -> None:
        """`until`: the deadline of reports, of `time.monotonic`."""
        self._outcome = outcome
        self._console = console
        self._followed = followed
        self._until = until

    def report(self, interrupts: Interrupts) -> int:
        """Exit code, once everything is told."""
        outcome = self._outcome
        before = interrupts.count

        def given_up() -> bool:
            return interrupts.count > before

        problems = self._finish_following(given_up)
        report = self._console.report(outcome.view, outcome.outcome)
        code = outcome.exit_code or int(bool(report.failing_warnings or report.shortfalls))
        handlers = self._followed.handlers
        if handlers is not None:
            handlers.finish(outcome.view, code, self._until, given_up)
        problems |= self._summaries(report, given_up)
        problems |= self._record(report)
        there = [(name, path) for name, path in self._targets() if path not in problems]
        if handlers is not None:
            there += handlers.context.reports
            report = replace(report, added_lines=tuple(handlers.context.summary_lines))
        self._console.finish(replace(report, reports=tuple(there)))
        problems |= self._uploaded(report, given_up)
        walled(lambda: _tell_github(report, self._followed.context), lambda _: None)
        if outcome.error or problems:
            for error in [outcome.error] if outcome.error else problems.values():
                echo(f"Error: {error}", err=True)
        if interrupts.count > before and not outcome.error:
            return INTERRUPTED
        if problems:
            return CANNOT
        if outcome.error:
            return outcome.exit_code
        failed = handlers.problems if handlers is not None else {}
        for name, why in failed.items():
            echo_line(f"Error: the handler {name} failed: {why}", err=True)
        return code or int(bool(failed))

    def _targets(self) -> tuple[Target, ...]:
        return self._followed.settings.reports

    def _finish_following(self, given_up: Callable[[], bool]) -> dict[str, str]:
        """Path -> why there is no report, of those that followed the run."""
        reports = self._followed.reports
        if reports is None:
            return {}
        finished = reports.finish(self._until, given_up)
        for note in finished.notes:
            self._outcome.view.absorb(0, note)
        return finished.problems

    def _record(self, report: Report) -> dict[str, str]:
        """Path -> why the baseline could not be written. What was interrupted saw too little to write it."""
        baseline = report.compared.baseline
        if not (baseline.updates or baseline.prunes) or report.outcome in ("interrupted", "error"):
            return {}
        file = import_module("checker.reporting.baseline_file")
        path = Path(baseline.source)
        entries = file.updated(report.compared, report.findings)
        try:
            file.write_baseline(path, entries)
        except OSError as error:
            why = error.strerror or type(error).__name__
            return {baseline.source: f"{path}: the baseline cannot be written: {why}"}
        return {}

    def _uploaded(self, report: Report, given_up: Callable[[], bool]) -> dict[str, str]:
        """URL -> why the receiver of archives does not have the one of this run."""
        settings = self._followed.settings
        asked = settings.upload
        if asked.url is None:
            return {}
        uploading = import_module("checker.reporting.uploading")
        write = writer_of(format_named("archive"))
        limit_s = uploading.TIMEOUT_S
        if self._until is not None:
            limit_s = min(limit_s, max(REST_S, self._until - time.monotonic()))
        hide = partial(
            secrets_of(settings).store.hide, replacement=settings.sanitization.replacement
        )
        problem = walled(
            lambda: uploading.upload(
                b"".join(write(report, self._followed.context)), asked, limit_s, given_up, hide
            ),
            str,
        )
        if not problem:
            echo_line(
                f"Uploaded the report archive to {settings.sanitization.redaction.url(asked.url)}"
            )
        return {asked.url: hide(problem)} if problem else {}

    def _summaries(self, report: Report, given_up: Callable[[], bool]) -> dict[str, str]:
        """Path -> why there is no report, of those that are made when the run is over."""
        context, problems = self._followed.context, {}
        for name, path in self._targets():
            row = format_named(name)
            if not row.streams:
                problem = write_summary(row, Path(path), report, context, given_up)
                if problem:
                    problems[path] = problem
        return problems


def _tell_github(report: Report, context: ReportContext) -> None:
    """Annotate the job of GitHub Actions that this may run in, and add to its summary."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for line in annotations(report, context):
        echo_command(line)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        add_summary(Path(summary), report, context)
