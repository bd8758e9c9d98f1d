"""Settings in, exit code out: the supervisor runs, the console shows, reports are written."""

import time
from contextlib import ExitStack
from pathlib import Path

import click

from checker.cli.program import CANNOT, INTERRUPTED
from checker.config.settings import RunSettings
from checker.core.errors import LoaderError, UsageError
from checker.corpus.records import Record, RunStarted, SchemaOpened
from checker.reporting.cassettes import CassetteWriter
from checker.reporting.console import Console
from checker.reporting.whole import check_writable
from checker.reporting.writing import CassetteRun
from checker.supervisor.execution import RunOutcome, Surroundings, execute
from checker.supervisor.signals import Interrupts

REST_S = 0.4
"""What reports may take when the time of a run is over."""


def execute_run(settings: RunSettings, began_at: float) -> int:
    """Exit code of a run. Raises `UsageError` and `StorageError` when it cannot begin.

    `began_at`: from when on its time counts, of `time.monotonic`.
    """
    # Until the last line: who asks to stop while a report is written still wants the summary.
    with Interrupts() as interrupts, ExitStack() as stack:
        if settings.vcr_path is not None:
            check_writable(Path(settings.vcr_path))
        console = Console(settings)
        stack.callback(console.close)
        console.title()
        console.loading()
        followed = _Followed(settings, console)
        stack.callback(followed.close)
        around = Surroundings(interrupts=interrupts, age_s=time.monotonic() - began_at)
        outcome = execute(settings, followed.on_record, around)
        interrupts.take_one_more()
        if outcome.view.opened is None:
            return _not_opened(console, outcome)
        until = _end_of_reports(settings, outcome)
        return _Reporting(outcome, console, followed.cassette, until).report(interrupts)


def _end_of_reports(settings: RunSettings, outcome: RunOutcome) -> float | None:
    """When nobody waits for reports any more, of `time.monotonic`; None without a time limit."""
    if settings.max_time_s is None:
        return None
    finished = outcome.view.finished
    left_s = 0.0 if finished is None else max(0.0, settings.max_time_s - finished.elapsed_s)
    return time.monotonic() + left_s + REST_S


class _Followed:
    """Passes records on, and has the cassette written as soon as it is known what it is of."""

    def __init__(self, settings: RunSettings, console: Console) -> None:
        self._settings = settings
        self._console = console
        self._first: int | None = None
        self._seed = settings.seed
        self.cassette: CassetteWriter | None = None
        """Where the cassette goes; None when nobody wants one."""

    def on_record(self, incarnation: int, record: Record) -> None:
        first = self._first
        self._first = incarnation if first is None else min(first, incarnation)
        match record:
            case RunStarted():
                self._seed = record.seed
            case SchemaOpened() if self.cassette is None and self._settings.vcr_path is not None:
                settings = self._settings.for_project(record.title)
                about = CassetteRun(self._seed, record.base_url, self._first, record.credentials)
                self.cassette = CassetteWriter(settings, about)
            case _:
                pass
        self._console.on_record(incarnation, record)

    def close(self) -> None:
        if self.cassette is not None:
            self.cassette.close()


def _not_opened(console: Console, outcome: RunOutcome) -> int:
    kind, _, reason = outcome.error.partition(": ")
    if kind == "usage":
        raise UsageError(reason)
    if kind == "cannot open":
        sentence, *extras = reason.split("\n")
        console.loading_failed(LoaderError(sentence, extras))
    elif outcome.outcome == "interrupted":
        console.loading_interrupted()
    else:
        click.echo(f"Error: {reason if kind == 'cannot start' else outcome.error}", err=True)
    return outcome.exit_code


class _Reporting:
    """What is left to do when a run is over: reports, the summary, the exit code."""

    def __init__(
        self,
        outcome: RunOutcome,
        console: Console,
        cassette: CassetteWriter | None,
        until: float | None,
    ) -> None:
        """`until`: when nobody waits for reports any more, of `time.monotonic`."""
        self._outcome = outcome
        self._console = console
        self._cassette = cassette
        self._until = until

    def report(self, interrupts: Interrupts) -> int:
        """Exit code, once everything is told."""
        outcome = self._outcome
        before = interrupts.count
        reports: tuple[tuple[str, str], ...] = ()
        problem = ""
        if (cassette := self._cassette) is not None:
            finished = cassette.finish(self._until, lambda: interrupts.count > before)
            for note in finished.notes:
                outcome.view.absorb(0, note)
            problem = finished.problem
            if not problem:
                reports = (("vcr", cassette.path),)
        self._console.finish(outcome.view, outcome.outcome, reports)
        if error := outcome.error or problem:
            click.echo(f"Error: {error}", err=True)
        if interrupts.count > before and not outcome.error:
            return INTERRUPTED
        return CANNOT if error else outcome.exit_code
