"""Settings in, exit code out: the supervisor runs, the console shows, reports are written."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click

from checker.config.settings import RunSettings
from checker.core.errors import LoaderError, StorageError, UsageError
from checker.corpus.exchange import Secrets
from checker.corpus.fold import RunView
from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction, Record
from checker.corpus.traffic import TrafficReader
from checker.reporting.console import Console
from checker.reporting.vcr import (
    CassetteSettings,
    all_interactions,
    check_writable,
    write_cassette,
)
from checker.reporting.wall import walled
from checker.supervisor.supervisor import RunOutcome, execute

_CANNOT = 2


def execute_run(settings: RunSettings) -> int:
    """Exit code of a run. Raises `UsageError` and `StorageError` when it cannot begin."""
    if settings.vcr_path is not None:
        check_writable(Path(settings.vcr_path))
    console = Console(settings)
    console.title()
    followed = _Followed(console)
    try:
        outcome = execute(settings, followed.on_record)
        if outcome.view.opened is None:
            return _not_opened(console, outcome)
        settings = settings.for_project(outcome.view.opened.title)
        return _report(settings, console, followed, outcome)
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


def _report(
    settings: RunSettings, console: Console, followed: _Followed, outcome: RunOutcome
) -> int:
    reports: tuple[tuple[str, str], ...] = ()
    error = outcome.error
    if settings.vcr_path is not None:
        problem = walled(
            lambda: _cassette_problem(settings, followed.first_incarnation or 0, outcome),
            lambda why: f"{settings.vcr_path}: the cassette cannot be written: {why}",
        )
        if problem:
            error = error or problem
        else:
            reports = (("vcr", settings.vcr_path),)
    console.finish(outcome.view, outcome.outcome, reports)
    if error:
        click.echo(f"Error: {error}", err=True)
        return _CANNOT
    return outcome.exit_code


def _cassette_problem(settings: RunSettings, first: int, outcome: RunOutcome) -> str:
    """Why there is no cassette; empty when there is one."""
    try:
        _write_cassette(settings, first, outcome)
    except StorageError as problem:
        return str(problem)
    return ""


def _write_cassette(settings: RunSettings, first: int, outcome: RunOutcome) -> None:
    assert settings.vcr_path is not None
    view = outcome.view
    opened, started = view.opened, view.run
    cassette = CassetteSettings(
        command=settings.command,
        seed=settings.seed if started is None else started.seed,
        base_url="" if opened is None else opened.base_url,
        preserve_bytes=settings.preserve_bytes,
        sanitization=settings.sanitization,
        secrets=Secrets(settings.headers),
    )
    interactions = all_interactions(_traffic(settings, first, view), view.findings.values())
    write_cassette(Path(settings.vcr_path), cassette, interactions)


def _traffic(settings: RunSettings, first: int, view: RunView) -> Iterator[Interaction]:
    """Plain interactions of this run; those of earlier runs stand before `first`. The view learns what is damaged."""
    for incarnation, path in RunLayout(Path(settings.corpus_dir)).traffic_paths():
        if incarnation >= first:
            with closing(TrafficReader(path)) as reader:
                yield from reader.stream()
                # The journals are closed by now, and who reads the file again finds it again.
                for note in reader.notes():
                    view.absorb(incarnation, note)
