"""Runs that are over, as commands find them: by a folder, by a name below `.checker`, by a report in JSON."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from checker.commands.command import Root
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.errors import UsageError
from checker.core.known import Baseline, KnownFailure, entry_for, failure_id
from checker.core.system import read_local
from checker.corpus.fold import RunView, fold
from checker.corpus.inflight import InflightReader
from checker.corpus.journal import Journals, LastRun, last_run
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding, Record, TaskProgress, requests_alone
from checker.reporting.merging import MergedPart, MergedView, merged, with_runs
from checker.reporting.report import ENDLESS, Report, report_of
from checker.reporting.shown import ReportContext
from checker.reporting.writing import RunOnDisk

_CORPORA = Path(".checker")
_MOST_BYTES = 256 << 20


class PastRun(Struct, frozen=True):
    """The last run of a corpus, as its journals tell it."""

    settings: RunSettings
    run: LastRun
    view: RunView
    elapsed_s: float

    @classmethod
    def of(cls, folder: Path, config: Config) -> "PastRun":
        """Read it. Raises `UsageError` when there is none."""
        layout = RunLayout(folder)
        run = last_run(layout)
        if run is None:
            raise UsageError(f"{folder} holds no run; give the folder of one, or its name")
        settings = run_settings(config, Invocation(run.started.location, run.started.kind))
        settings = settings.with_changes(
            corpus={"folder": str(folder)},
            seed=run.started.seed,
            processes={"workers": run.started.workers},
            command=run.started.command,
        )
        view = _view(layout, run)
        if view.opened is not None:
            settings = settings.for_project(view.opened.title)
        last_written = max((path.stat().st_mtime for _, path in layout.journal_paths()), default=0.0)
        return cls(settings, run, view, last_written - run.started.at)

    @property
    def parts(self) -> tuple["PastRun", ...]:
        """The runs in the report: only this one."""
        return (self,)

    @property
    def outcome(self) -> str:
        """As in `RunFinished`; `killed` if the run never finished."""
        return ENDLESS if self.view.finished is None else self.view.finished.outcome

    @property
    def report(self) -> Report:
        """Return the result of the run."""
        return report_of(self.view, self.settings, self.outcome, max(0.0, self.elapsed_s))

    @property
    def context(self) -> ReportContext:
        """Return the context that its reports share."""
        return self.on_disk.context

    @property
    def on_disk(self) -> RunOnDisk:
        """Return this run in the form that report writers read."""
        return RunOnDisk(self.settings, self.run.first, self.run.started, self.view.opened)

    def named(self, name: str) -> MergedPart:
        """Return this run as a part of a combined report."""
        read = partial(_records, RunLayout(Path(self.settings.corpus.folder)), self.run)
        elapsed_s = self.view.finished.elapsed_s if self.view.finished else self.elapsed_s
        return MergedPart(name, self.run.started.seed, self.outcome, max(0.0, elapsed_s), self.view, read)


class MergedRuns(Struct, frozen=True):
    """The last runs of several corpora, combined into one."""

    settings: RunSettings
    """Settings of the first run, where they differ."""
    parts: tuple[PastRun, ...]
    """By when they began."""
    _named: tuple[MergedPart, ...]
    _merged: MergedView

    @classmethod
    def of(cls, runs: Mapping[str, PastRun]) -> "MergedRuns":
        """Runs by their names, at least one."""
        ordered = sorted(runs.items(), key=lambda item: (item[1].run.started.at, item[0]))
        parts = tuple(part for _, part in ordered)
        named = tuple(part.named(name) for name, part in ordered)
        kind = "fuzz" if any(part.settings.kind == "fuzz" for part in parts) else "run"
        settings = parts[0].settings.with_changes(
            kind=kind,
            processes={"workers": max(part.settings.processes.workers for part in parts)},
            phases=tuple(dict.fromkeys(phase for part in parts for phase in part.settings.phases)),
        )
        return cls(settings, parts, named, merged(named))

    @property
    def view(self) -> RunView:
        """All of them as one."""
        return self._merged.view

    @property
    def report(self) -> Report:
        """Return the result of the runs."""
        report = report_of(self.view, self.settings, self._merged.outcome, self._merged.elapsed_s)
        return with_runs(report, self._named, self._merged.fingerprints)

    @property
    def context(self) -> ReportContext:
        """Return the context that their reports share."""
        first = self.parts[0].context
        of_all = ReportContext.of(self.settings, self.parts[0].run.started, self.view.opened)
        places = dict.fromkeys(part.context.location for part in self.parts)
        commands = dict.fromkeys(part.context.command for part in self.parts)
        return replace(
            of_all,
            command="; ".join(commands),
            # A line of a description can be named where there is one alone.
            location=first.location if len(places) == 1 else "",
        )


def folder_of(name: str | None) -> Path:
    """The corpus that is meant; None: the one below `.checker` that was written to last. Raises `UsageError`."""
    wanted = _CORPORA if name is None else Path(name)
    for folder in (wanted, _CORPORA / wanted):
        if (folder / "journals").is_dir():
            return folder
    inside = sorted(one.parent for one in wanted.glob("*/journals")) if wanted.is_dir() else []
    if len(inside) == 1 or (inside and name is None):
        # Commands are printed by the run that was the last one, without its name; a mistyped location left a folder without any.
        latest = sorted(inside, key=_written_at, reverse=True)
        return next((one for one in latest if last_run(RunLayout(one)) is not None), latest[0])
    if inside:
        names = ", ".join(one.name for one in inside)
        raise UsageError(f"{wanted} holds several corpora; name one of {names}")
    raise UsageError(f"{wanted} holds no run; give the folder of one, or its name below {_CORPORA}")


def _written_at(corpus: Path) -> int:
    """Return the time of the last write of one of its runs, in nanoseconds since the epoch."""
    return max((one.stat().st_mtime_ns for one in (corpus / "journals").iterdir()), default=0)


def chosen_findings(ids: Sequence[str], findings: list[Finding]) -> list[Finding]:
    """Findings whose ids begin like that. Raises `UsageError` for what is none, or several."""
    if list(ids) == ["all"]:
        return findings
    chosen = []
    for wanted in ids:
        bare = wanted.lower()
        found = [one for one in findings if failure_id(one).startswith(bare) or one.fingerprint.startswith(bare)]
        if len(found) != 1:
            what = "no failure" if not found else f"{len(found)} failures"
            known = ", ".join(map(failure_id, findings[:5])) or "none"
            raise UsageError(f"{wanted!r} is the id of {what} of the last run; it has {known}")
        chosen += found
    return chosen


def configured(ctx: click.Context) -> Config:
    """The configuration of a command that has no options for it. Raises `ConfigError`."""
    root = ctx.find_object(Root) or Root()
    return Config.from_path(root.config_file) if root.config_file else Config.discover()


def compared_with(name: str, today: str) -> Baseline:
    """The failures of another run as a baseline: a JSON report, or the last run of a corpus. Raises `UsageError`."""
    path = Path(name)
    if path.is_file():
        entries = tuple(_reported(path, today))
    else:
        folder = folder_of(name)
        layout = RunLayout(folder)
        run = last_run(layout)
        if run is None:
            raise UsageError(f"{folder} holds no run to compare with")
        entries = tuple(entry_for(one, today) for one in _view(layout, run).findings.values())
    return Baseline(name, today, entries, is_run=True)


def _view(layout: RunLayout, run: LastRun) -> RunView:
    return fold(_records(layout, run))


def _records(layout: RunLayout, run: LastRun) -> Iterator[tuple[int, Record]]:
    """Yield (incarnation, record) of a run, then damage of its journals and requests that only slots of workers count."""
    told: Counter[int] = Counter()
    with closing(Journals(layout, above=run.first - 1)) as journals:
        for incarnation, record in journals.read_new():
            if isinstance(record, TaskProgress):
                told[incarnation] += record.requests
            yield incarnation, record
        yield from ((0, note) for note in journals.notes())
    for incarnation, path in layout.inflight_paths():
        missing = InflightReader(path).sent - told[incarnation]
        if incarnation >= run.first and missing > 0:
            yield incarnation, requests_alone(missing)


def _reported(path: Path, today: str) -> Iterator[KnownFailure]:
    """Entries for the failures of a JSON report."""
    try:
        found: Any = json.loads(read_local(path, "a JSON report", most_bytes=_MOST_BYTES))
        for one in found["failures"]:
            yield KnownFailure(
                check=one["check"],
                rule=one["rule"],
                text=one["text"],
                operation=one["operation"],
                fingerprint=one["id"],
                title=one["title"],
                last_seen=today,
            )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            f"--compare {path}: is no JSON report of checker ({type(error).__name__}: {error}); "
            "make one with `checker report --format json`"
        ) from error
