"""Settings in, exit code out: the supervisor runs, the console shows, reports are written."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import click

from checker.cli.program import CANNOT, INTERRUPTED
from checker.config.settings import RunSettings
from checker.core.errors import LoaderError, StorageError, UsageError
from checker.corpus.fold import RunView
from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction, Record
from checker.corpus.secrets import secrets_of
from checker.corpus.traffic import TrafficReader
from checker.reporting.console import Console
from checker.reporting.vcr import CassetteSettings, all_interactions, write_cassette
from checker.reporting.wall import walled
from checker.reporting.whole import check_writable
from checker.supervisor.execution import RunOutcome, Surroundings, execute
from checker.supervisor.signals import Interrupts


def execute_run(settings: RunSettings, began_at: float) -> int:
    """Exit code of a run. Raises `UsageError` and `StorageError` when it cannot begin.

    `began_at`: from when on its time counts, of `time.monotonic`.
    """
    # Until the last line: who asks to stop while a report is written still wants the summary.
    with Interrupts() as interrupts:
        if settings.vcr_path is not None:
            check_writable(Path(settings.vcr_path))
        console = Console(settings)
        console.title()
        followed = _Followed(console)
        try:
            around = Surroundings(interrupts=interrupts, age_s=time.monotonic() - began_at)
            outcome = execute(settings, followed.on_record, around)
            interrupts.take_one_more()
            if outcome.view.opened is None:
                return _not_opened(console, outcome)
            settings = settings.for_project(outcome.view.opened.title)
            reporting = _Reporting(settings, console, outcome)
            return reporting.report(followed.first_incarnation or 0, interrupts)
        finally:
            console.close()


class _Followed:
    """Passes records on, and remembers where the run begins in the corpus."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.first_incarnation: int | None = None

    def on_record(self, incarnation: int, record: Record) -> None:
        first = self.first_incarnation
        self.first_incarnation = incarnation if first is None else min(first, incarnation)
        self._console.on_record(incarnation, record)


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

    def __init__(self, settings: RunSettings, console: Console, outcome: RunOutcome) -> None:
        self._settings = settings
        self._console = console
        self._outcome = outcome

    def report(self, first_incarnation: int, interrupts: Interrupts) -> int:
        """Exit code, once everything is told."""
        outcome = self._outcome
        before = interrupts.count
        reports: tuple[tuple[str, str], ...] = ()
        problem = ""
        if (path := self._settings.vcr_path) is not None:
            problem = walled(
                lambda: self._cassette_problem(
                    path, first_incarnation, lambda: interrupts.count > before
                ),
                lambda why: f"{path}: the cassette cannot be written: {why}",
            )
            if not problem:
                reports = (("vcr", path),)
        self._console.finish(outcome.view, outcome.outcome, reports)
        if error := outcome.error or problem:
            click.echo(f"Error: {error}", err=True)
        if interrupts.count > before and not outcome.error:
            return INTERRUPTED
        return CANNOT if error else outcome.exit_code

    def _cassette_problem(self, path: str, first: int, given_up: Callable[[], bool]) -> str:
        """Why there is no cassette; empty when there is one."""
        interactions = all_interactions(
            _traffic(self._settings, first, self._outcome.view),
            self._outcome.view.findings.values(),
        )
        try:
            written = write_cassette(
                Path(path), self._cassette_settings(), interactions, given_up=given_up
            )
        except StorageError as problem:
            return str(problem)
        return "" if written is not None else f"{path}: the cassette was not written: interrupted"

    def _cassette_settings(self) -> CassetteSettings:
        settings, view = self._settings, self._outcome.view
        opened, started = view.opened, view.run
        return CassetteSettings(
            command=settings.command,
            seed=settings.seed if started is None else started.seed,
            base_url="" if opened is None else opened.base_url,
            preserve_bytes=settings.preserve_bytes,
            sanitization=settings.sanitization,
            secrets=secrets_of(settings),
        )


def _traffic(settings: RunSettings, first: int, view: RunView) -> Iterator[Interaction]:
    """Plain interactions of this run; those of earlier runs stand before `first`. The view learns what is damaged."""
    for incarnation, path in RunLayout(Path(settings.corpus_dir)).traffic_paths():
        if incarnation >= first:
            with closing(TrafficReader(path)) as reader:
                yield from reader.stream()
                # The journals are closed by now, and who reads the file again finds it again.
                for note in reader.notes():
                    view.absorb(incarnation, note)
