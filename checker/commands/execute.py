"""Settings in, exit code out: the supervisor runs, the console shows, reports are written."""

import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from checker.commands.command import CANNOT, INTERRUPTED, echo, echo_command, echo_line
from checker.commands.extending import HANDLERS, EventHandler, HandlerContext
from checker.config.settings import RunSettings
from checker.core.errors import ConfigError, UsageError
from checker.core.system import Interrupts
from checker.core.user_code import described
from checker.corpus.fold import RunView
from checker.corpus.records import Record
from checker.corpus.secrets import secrets_of
from checker.reporting.console import Console
from checker.reporting.events import Event
from checker.reporting.report import Report
from checker.reporting.shown import ReportContext
from checker.reporting.text import walled
from checker.reporting.writing import (
    RunOnDisk,
    check_reports,
    check_writable,
    format_named,
    write_streams,
    write_summaries,
    writer_of,
)
from checker.supervisor.handle import Launcher
from checker.supervisor.launchers import ProcessLauncher
from checker.supervisor.supervisor import RunEnvironment, RunOutcome, execute
from checker.workers.messages import LeavingKind

_LOOK_S: Final = 0.2  # Seconds between two reads of new events.


class EventHandlers(Struct):
    """The handlers of one run. An error in one handler affects neither the others nor the run."""

    context: HandlerContext
    problems: dict[str, str] = field(default_factory=dict)  # Handler -> its error, after which it is not called again.
    _handlers: list[EventHandler] = field(default_factory=list)
    _is_over: threading.Event = field(default_factory=threading.Event)  # Whether the run has written everything.
    _thread: threading.Thread | None = None

    @classmethod
    def begin(cls, settings: RunSettings, params: Mapping[str, Any]) -> "EventHandlers | None":
        """Create and start the registered handlers; None if there are none. Raises `ConfigError` for a handler that cannot start."""
        if not HANDLERS:
            return None
        mine = cls(HandlerContext(settings))
        for kind in HANDLERS:
            try:
                one = kind(**params)
                one.start(mine.context)
            except Exception as error:
                raise ConfigError(f"the handler {kind.__name__} cannot start: {described(error)}") from error
            mine._handlers.append(one)
        return mine

    def follow(self, run: RunOnDisk) -> None:
        """Pass the events of a run that has begun to the handlers, in a thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._show, args=(run,), daemon=True)
            self._thread.start()

    def finish(self, view: RunView, exit_code: int, is_given_up: Callable[[], bool]) -> None:
        """Wait for the rest of the events, unless the user stops this, and shut all handlers down."""
        self._is_over.set()
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(_LOOK_S)
            if is_given_up():
                self.problems["handlers"] = "they had not received all events when the user interrupted them"
                break
        self.context.statistics, self.context.exit_code = view, exit_code
        for one in self._handlers:
            self._guarded(one, partial(one.shutdown, self.context))

    def _show(self, run: RunOnDisk) -> None:
        events = run.events()
        self.context.statistics = events.view
        is_over = False
        while not is_over:
            # Tested before the read, because records that are written in between would be missed otherwise.
            is_over = self._is_over.wait(_LOOK_S)
            for event in events.new():
                self._show_event(event)
        for event in events.end():
            self._show_event(event)

    def _show_event(self, event: Event) -> None:
        for one in self._handlers:
            if type(one).__name__ not in self.problems:
                self._guarded(one, partial(one.handle_event, self.context, event))

    def _guarded(self, one: EventHandler, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - user code may raise anything
            self.problems.setdefault(type(one).__name__, described(error))


def execute_run(settings: RunSettings, began_at: float, handlers: EventHandlers | None = None) -> int:
    """Return the exit code of a run. Raises `UsageError` and `StorageError` if it cannot begin.

    `began_at`: the time of `time.monotonic` from which the run is timed.
    """
    # Interrupts count until the last line, so that one while a report is written does not prevent the summary.
    with Interrupts() as interrupts, ExitStack() as stack:
        check_reports(settings)
        if settings.verdict.baseline.updates or settings.verdict.baseline.prunes:
            check_writable(Path(settings.verdict.baseline.source))
        console = Console(settings)
        stack.callback(console.close)
        console.title()
        console.loading()
        for line in handlers.context.initialization_lines if handlers is not None else ():
            console.screen.line(f"     {line}")
        run = RunOnDisk(settings)

        def on_record(incarnation: int, record: Record) -> None:
            if run.on_record(incarnation, record) and handlers is not None:
                handlers.follow(run)
            console.on_record(incarnation, record)

        if settings.report.live_port is not None:
            page = import_module("checker.reporting.live_page").LivePage(settings, settings.report.live_port)
            stack.callback(page.close)
            echo_line(f"     Live: {page.url}", err=True)
        launcher: Launcher | None = None
        if settings.processes.cluster is None and not settings.processes.inline:
            # A fork shows the command line of this process to other users as long as it runs.
            shows_secrets = secrets_of(settings).is_in(sys.argv)
            launcher = ProcessLauncher(forks=not (settings.may_load_user_code or shows_secrets))
        elif settings.processes.cluster is not None:
            launcher = import_module("checker.fleet.ray_cluster").launcher_of(settings)
        age_s = time.monotonic() - began_at
        outcome = execute(settings, on_record, RunEnvironment(launcher, interrupts=interrupts, age_s=age_s))
        interrupts.take_one_more()
        console.end_testing()
        is_given_up = outcome.error is not None and outcome.error.keeps_verdict
        if outcome.view.opened is None and not is_given_up:
            return _not_opened(console, outcome)
        return _reported(outcome, console, run, handlers, interrupts)


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


def _reported(
    outcome: RunOutcome, console: Console, run: RunOnDisk, handlers: EventHandlers | None, interrupts: Interrupts
) -> int:
    """Write all reports of a run after the testing, print the summary, and return the exit code."""
    targets, context, interrupts_before = run.settings.report.files, run.context, interrupts.count

    def is_given_up() -> bool:
        """Whether the user asked to stop since the testing ended. It is called often, so it also reports that the writing takes long."""
        console.still_writing()
        return interrupts.count > interrupts_before

    streams = write_streams([run], targets, is_given_up)
    for note in streams.notes:
        outcome.view.absorb(0, note)
    report = console.report(outcome.view, outcome.outcome)
    code = outcome.exit_code or int(report.falls_short)
    if handlers is not None:
        handlers.finish(outcome.view, code, is_given_up)
    problems = streams.problems | write_summaries(targets, report, context, is_given_up)
    missing = [name for name, path in targets if path in problems]
    problems |= _with_baseline(report)
    there = [(name, path) for name, path in targets if path not in problems]
    added: Sequence[str] = ()
    if handlers is not None:
        there += handlers.context.reports
        added = handlers.context.summary_lines
    console.finish(report, added, there)
    problems |= _uploaded(report, run, is_given_up)
    walled(lambda: _tell_github(report, context), lambda _: None)
    for error in [outcome.error] if outcome.error else problems.values():
        echo(f"Error: {error}", err=True)
    was_given_up = interrupts.count > interrupts_before
    if was_given_up and missing:
        command = shlex.join(("report", run.settings.corpus.folder))
        echo(f"`checker {command} --format {','.join(missing)}` writes what is missing.", err=True)
    if was_given_up and not outcome.error:
        return INTERRUPTED
    if problems:
        return CANNOT
    if outcome.error:
        return outcome.exit_code
    failed = handlers.problems if handlers is not None else {}
    for name, why in failed.items():
        echo_line(f"Error: the handler {name} failed: {why}", err=True)
    return code or int(bool(failed))


def _with_baseline(report: Report) -> dict[str, str]:
    """Write the baseline. Return path -> why it could not be written. An interrupted run has not seen enough to write it."""
    baseline = report.compared.baseline
    if not (baseline.updates or baseline.prunes) or report.outcome in ("interrupted", "error"):
        return {}
    file = import_module("checker.reporting.baselines")
    path = Path(baseline.source)
    entries = file.updated(report.compared, report.findings)
    try:
        file.write_baseline(path, entries)
    except OSError as error:
        why = error.strerror or type(error).__name__
        return {baseline.source: f"{path}: the baseline cannot be written: {why}"}
    return {}


def _uploaded(report: Report, run: RunOnDisk, is_given_up: Callable[[], bool]) -> dict[str, str]:
    settings = run.settings
    asked = settings.report.upload
    if asked.url is None:
        return {}
    uploading = import_module("checker.reporting.formats.archive")
    write = writer_of(format_named("archive"))
    hide = partial(secrets_of(settings).store.hide, replacement=settings.report.sanitization.replacement)
    problem = walled(
        lambda: uploading.upload(b"".join(write(report, run.context)), asked, uploading.TIMEOUT_S, is_given_up, hide),
        str,
    )
    if not problem:
        echo_line(f"Uploaded the report archive to {settings.report.sanitization.redaction.url(asked.url)}")
    return {asked.url: hide(problem)} if problem else {}


def _tell_github(report: Report, context: ReportContext) -> None:
    """Annotate the job of GitHub Actions that this may run in, and add to its summary."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    markdown = import_module("checker.reporting.formats.markdown")
    for line in markdown.annotations(report, context):
        echo_command(line)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        markdown.add_summary(Path(summary), report, context)
