"""Runs that are over: found by a folder, by a name below `.checker` or by a JSON report, and several runs combined into one."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.digests import digest
from checker.core.errors import UsageError
from checker.core.known import Baseline, KnownFailure
from checker.core.shards import Shard
from checker.core.system import read_local
from checker.corpus.fold import RunView, fold
from checker.corpus.inflight import InflightReader
from checker.corpus.journal import Journals, LastRun, holds_replays, last_run
from checker.corpus.known import entry_for, failure_id
from checker.corpus.layout import RunLayout
from checker.corpus.records import (
    Finding,
    FindingReplayed,
    OpenFindings,
    Record,
    RunFinished,
    SchemaOpened,
    TaskProgress,
    requests_alone,
)
from checker.reporting.report import ENDLESS, Discovery, MergedRun, Report, report_of
from checker.reporting.shown import ReportContext
from checker.reporting.writing import RunOnDisk

_CORPORA = Path(".checker")
_MOST_BYTES = 256 << 20
_OUTCOMES: Final = (
    *("completed", "first failure", "failure limit", "time limit", "saturated", "target unavailable", "interrupted"),
    *("error", ENDLESS),
)
"""Outcomes from the best to the worst; the common report has the worst."""
_COUNTED: Final = ("statuses", "wrong", "tried", "probes")
"""Fields of `TaskProgress` with tuples that begin with a label."""


class PastRun(Struct, frozen=True):
    """The last run of a corpus, read from its journals."""

    settings: RunSettings
    run: LastRun
    view: RunView
    elapsed_s: float

    @classmethod
    def of(cls, folder: Path, config: Config) -> "PastRun":
        """Return the last run of a corpus. Raises `UsageError` if it has none."""
        layout = RunLayout(folder)
        run = last_run(layout)
        if run is None:
            raise UsageError(f"{folder} holds no run; give the folder of one, or its name")
        settings = run_settings(config, Invocation(run.started.location, run.started.kind))
        settings = settings.with_changes(
            corpus={"folder": str(folder)},
            target={"app": run.started.app or None},
            seed=run.started.seed,
            processes={"workers": run.started.workers},
            command=run.started.command,
        )
        view = fold(_records(layout, run))
        if view.opened is not None:
            settings = settings.for_project(view.opened.title)
        return cls(settings, run, view, _written_at(layout) - run.started.at)

    @property
    def parts(self) -> tuple["PastRun", ...]:
        """Return the runs of the report: only this one."""
        return (self,)

    @property
    def outcome(self) -> str:
        """Return the outcome of `RunFinished`; `killed` if the run never finished."""
        return ENDLESS if self.view.finished is None else self.view.finished.outcome

    @property
    def report(self) -> Report:
        return report_of(self.view, self.settings, self.outcome, max(0.0, self.elapsed_s))

    @property
    def context(self) -> ReportContext:
        return self.on_disk.context

    @property
    def on_disk(self) -> RunOnDisk:
        """Return this run in the form that report writers read."""
        return RunOnDisk(self.settings, self.run.first, self.run.started, self.view.opened)

    @property
    def title(self) -> str:
        return self.view.opened.title if self.view.opened else ""

    @property
    def tested_s(self) -> float:
        """Return the seconds of the testing; for a killed run, the seconds until its last record."""
        return max(0.0, self.view.finished.elapsed_s if self.view.finished else self.elapsed_s)

    def records(self) -> Iterator[tuple[int, Record]]:
        return _records(RunLayout(Path(self.settings.corpus.folder)), self.run)


class Labels(Struct, frozen=True):
    """The labels of operations in a common report, with the title of the API if several APIs share a label."""

    shared: frozenset[str]
    moved: frozenset[tuple[str, str]]  # (title of the API, fingerprint) of failures of shared labels.

    @classmethod
    def of(cls, parts: Sequence[PastRun]) -> "Labels":
        titles: dict[str, set[str]] = {}
        for part in parts:
            for label in {*part.view.labels, *part.view.operations}:
                titles.setdefault(label, set()).add(part.title)
        shared = frozenset(label for label, of in titles.items() if len(of) > 1)
        moved = (
            (part.title, name)
            for part in parts
            for name, label in (
                *((name, finding.label) for name, finding in part.view.sights.best.items()),
                *((name, label) for name, (label, _) in (part.view.earlier or {}).items()),
            )
            if label in shared
        )
        return cls(shared, frozenset(moved))

    def renamed(self, record: Any, title: str) -> Any:
        """Return a record with the labels of the common report: `GET /health (Shop)`. The fingerprints of the record are those of this API only."""
        if not self.shared:
            return record
        changes: dict[str, Any] = {}
        names = record.__struct_fields__
        if "label" in names and record.label in self.shared:
            changes["label"] = self._name(record.label, title)
        if "labels" in names:
            changes["labels"] = tuple(self._name(label, title) for label in record.labels)
        if isinstance(record, Finding | FindingReplayed):
            changes["fingerprint"] = self._moved(record.fingerprint, title)
        if isinstance(record, OpenFindings):
            changes["findings"] = tuple(
                (self._moved(name, title), self._name(label, title), text) for name, label, text in record.findings
            )
        if isinstance(record, Finding):
            changes["same_as"] = self._moved(record.same_as, title)
        if isinstance(record, TaskProgress):
            for name in _COUNTED:
                rows = getattr(record, name)
                changes[name] = tuple((self._name(row[0], title), *row[1:]) for row in rows)
        return replace(record, **changes) if changes else record

    def _moved(self, fingerprint: str, title: str) -> str:
        return digest(fingerprint, title) if (title, fingerprint) in self.moved else fingerprint

    def _name(self, label: str, title: str) -> str:
        return f"{label} ({title})" if label in self.shared else label


class MergedRuns(Struct, frozen=True):
    """The last runs of several corpora, combined into one: counts are added, failures with equal fingerprints are one."""

    settings: RunSettings  # Settings of the first run, where they differ.
    runs: dict[str, PastRun]  # Name -> run, in the order of their starts.
    view: RunView
    fingerprints: tuple[frozenset[str], ...]  # The failures of each run, by their fingerprints in `view`.

    @classmethod
    def of(cls, runs: Mapping[str, PastRun]) -> "MergedRuns":
        """Return the combination of runs by their names, at least one."""
        ordered = dict(sorted(runs.items(), key=lambda item: (item[1].run.started.at, item[0])))
        parts = tuple(ordered.values())
        kind = "fuzz" if any(part.settings.kind == "fuzz" for part in parts) else "run"
        settings = parts[0].settings.with_changes(
            kind=kind,
            processes={"workers": max(part.settings.processes.workers for part in parts)},
            phases=tuple(dict.fromkeys(phase for part in parts for phase in part.settings.phases)),
        )
        labels, view = Labels.of(parts), RunView()
        above = 0
        for part in parts:
            last = 0
            for incarnation, record in part.records():
                last = max(last, incarnation)
                if not isinstance(record, RunFinished):
                    view.absorb(above + incarnation, labels.renamed(record, part.title))
            # Incarnations of different runs must not be equal: the fold orders records by them.
            above += last
        fingerprints = tuple(
            frozenset(labels.renamed(one, part.title).fingerprint for one in part.view.findings.values())
            for part in parts
        )
        found = cls(settings, ordered, view, fingerprints)
        if found.outcome != ENDLESS:
            ends = [part.view.finished for part in parts if part.view.finished is not None]
            make, wait, judge, write, idle = (sum(one.ledger[stage] for one in ends) for stage in range(5))
            at = max(one.at for one in ends)
            view.finished = RunFinished("", at, found.outcome, found.elapsed_s, (make, wait, judge, write, idle))
        view.opened = _opened(parts, len(view.labels))
        return found

    @property
    def parts(self) -> tuple[PastRun, ...]:
        """Return the runs in the order of their starts."""
        return tuple(self.runs.values())

    @property
    def outcome(self) -> str:
        return max(
            (part.outcome for part in self.parts),
            key=lambda outcome: _OUTCOMES.index(outcome) if outcome in _OUTCOMES else len(_OUTCOMES),
        )

    @property
    def elapsed_s(self) -> float:
        """Return the sum of the times of all runs."""
        return sum(part.tested_s for part in self.parts)

    @property
    def report(self) -> Report:
        """Return the result of the runs. It lists the runs, and each failure names the runs that have it."""
        runs = tuple(
            MergedRun(
                name, part.run.started.seed, part.outcome, part.view.counts.cases, part.view.finding_count(), names
            )
            for (name, part), names in zip(self.runs.items(), self.fingerprints, strict=True)
        )
        report = report_of(self.view, self.settings, self.outcome, self.elapsed_s)
        # Merged runs were not one after the other, so they have no common curve of discoveries.
        report = replace(report, runs=runs, discovery=Discovery())
        found = []
        for one in report.findings:
            # `seen_in` is empty if the fingerprint of the finding differs between the runs.
            if names := report.seen_in(one.fingerprint):
                seen = f"Seen in {len(names)} of {len(runs)} runs: {', '.join(names)}."
                one = replace(one, message=f"{one.message}\n\n{seen}".strip())
            found.append(one)
        return replace(report, findings=tuple(found))

    @property
    def context(self) -> ReportContext:
        first = self.parts[0].context
        of_all = ReportContext.of(self.settings, self.parts[0].run.started, self.view.opened)
        places = dict.fromkeys(part.context.location for part in self.parts)
        commands = dict.fromkeys(part.context.command for part in self.parts)
        return replace(
            of_all,
            command="; ".join(commands),
            # The line in a description can be named only if there is one description.
            location=first.location if len(places) == 1 else "",
        )


def _opened(parts: Sequence[PastRun], selected: int) -> SchemaOpened | None:
    """Return the opened description of all runs: an API that several runs tested counts only once."""
    found = [part.view.opened for part in parts if part.view.opened is not None]
    if not found:
        return None
    totals: Counter[str] = Counter()
    for one in found:
        totals[one.title] = max(totals[one.title], one.total)
    # Each shard reports only its own unreadable operations.
    unreadable = (sum if found[0].shard else max)(one.unreadable for one in found)
    return replace(
        found[0],
        title=" + ".join(totals),
        specification=", ".join(dict.fromkeys(one.specification for one in found)),
        base_url=", ".join(dict.fromkeys(one.base_url for one in found)),
        total=sum(totals.values()),
        selected=selected + unreadable if selected else max(one.selected for one in found),
        unreadable=unreadable,
        fetched_from="",
        shard="",
        tokens=found[0].tokens if len(totals) == 1 else (),
        credentials=tuple(sorted({place for one in found for place in one.credentials})),
        ways_in=tuple(dict.fromkeys(way for one in found for way in one.ways_in)),
    )


def missing_shards(runs: Mapping[str, PastRun]) -> str:
    """Return a sentence that names the shards without a run among these; empty if no run is a shard, or none is missing.

    Raises `UsageError` for shards of different partitions, and for two runs of one shard.
    """
    first: dict[str, tuple[str, tuple[int, str]]] = {}
    given: dict[str, dict[int, str]] = {}
    for name, run in runs.items():
        opened = run.view.opened
        shard = None if opened is None else Shard.of(opened.shard)
        if opened is None or shard is None:
            continue
        partition = (shard.count, opened.partition)
        other, wanted = first.setdefault(run.title, (name, partition))
        if partition != wanted:
            raise UsageError(
                f"{other} and {name} are shards of different partitions; run all shards with the same description, "
                "settings, weights and number of shards"
            )
        mine = given.setdefault(run.title, {})
        if shard.number in mine:
            raise UsageError(f"{mine[shard.number]} and {name} are both shard {shard}; give one of them")
        mine[shard.number] = name
    sentences = []
    for title, mine in given.items():
        _, (count, _) = first[title]
        if missing := [f"{number}/{count}" for number in range(1, count + 1) if number not in mine]:
            sentences.append(f"shards of {title} are missing: {', '.join(missing)}")
    return "; ".join(sentences)


def folder_of(name: str | None) -> Path:
    """Return the folder of a corpus by its name; None: the one below `.checker` that was written to last. Raises `UsageError`."""
    wanted = _CORPORA if name is None else Path(name)
    for folder in (wanted, _CORPORA / wanted):
        if (folder / "journals").is_dir():
            return folder
    inside = sorted(one.parent for one in wanted.glob("*/journals")) if wanted.is_dir() else []
    if len(inside) == 1 or (inside and name is None):
        # The commands that a run prints do not name its corpus, so they mean the last one. A mistyped location may have
        # left a corpus without a run.
        latest = sorted(inside, key=lambda corpus: _written_at(RunLayout(corpus)), reverse=True)
        return next((one for one in latest if last_run(RunLayout(one)) is not None), latest[0])
    if inside:
        names = ", ".join(one.name for one in inside)
        raise UsageError(f"{wanted} holds several corpora; name one of {names}")
    raise UsageError(f"{wanted} holds no run; give the folder of one, or its name below {_CORPORA}")


def _written_at(layout: RunLayout) -> float:
    """Return the time of the last write of a run, in seconds since the epoch. `checker replay` also writes into the corpus of an older run."""
    own = (path for _, path in layout.journal_paths() if not holds_replays(path))
    return max((path.stat().st_mtime for path in own), default=0.0)


def chosen_findings(ids: Sequence[str], findings: list[Finding]) -> list[Finding]:
    """Return the findings with these ids or beginnings of ids. Raises `UsageError` for an unknown or ambiguous one."""
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


def compared_with(name: str, today: str) -> Baseline:
    """Return the failures of another run as a baseline: a JSON report, or the last run of a corpus. Raises `UsageError`."""
    path = Path(name)
    if path.is_file():
        try:
            found: Any = json.loads(read_local(path, "a JSON report", most_bytes=_MOST_BYTES))
            entries = tuple(
                KnownFailure(
                    check=one["check"],
                    rule=one["rule"],
                    text=one["text"],
                    operation=one["operation"],
                    fingerprint=one["id"],
                    title=one["title"],
                    last_seen=today,
                )
                for one in found["failures"]
            )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise UsageError(
                f"--compare {path}: is no JSON report of checker ({type(error).__name__}: {error}); "
                "make one with `checker report --format json`"
            ) from error
    else:
        folder = folder_of(name)
        layout = RunLayout(folder)
        run = last_run(layout)
        if run is None:
            raise UsageError(f"{folder} holds no run to compare with")
        entries = tuple(entry_for(one, today) for one in fold(_records(layout, run)).findings.values())
    return Baseline(name, today, entries, is_run=True)


def _records(layout: RunLayout, run: LastRun) -> Iterator[tuple[int, Record]]:
    """Yield (incarnation, record) of a run, then damage of its journals and requests that only slots of workers count."""
    recorded: Counter[int] = Counter()
    journals = Journals(layout, above=run.first - 1)
    for incarnation, record in journals.read_new():
        if isinstance(record, TaskProgress):
            recorded[incarnation] += record.requests
        yield incarnation, record
    yield from ((0, note) for note in journals.notes())
    for incarnation, path in layout.inflight_paths():
        missing = InflightReader(path).sent - recorded[incarnation]
        if incarnation >= run.first and missing > 0:
            yield incarnation, requests_alone(missing)
