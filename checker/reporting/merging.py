"""Several runs as one: shards of a test, services of a system. Pure: records in, a view out."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.digests import digest
from checker.corpus.fold import RunView
from checker.corpus.records import Finding, Record, RunFinished, SchemaOpened, TaskProgress
from checker.reporting.report import ENDLESS, MergedRun, Report

_OUTCOMES: Final = (
    "completed",
    "first failure",
    "failure limit",
    "time limit",
    "target unavailable",
    "interrupted",
    "error",
    ENDLESS,
)
"""Outcomes from the best to the worst; the common report has the worst."""
_COUNTED: Final = ("statuses", "wrong", "tried", "probes")
"""Fields of `TaskProgress` with tuples that begin with a label."""


class MergedPart(Struct, frozen=True):
    """One of the runs of a common report."""

    name: str
    """The folder, as it was given."""
    seed: int
    outcome: str
    elapsed_s: float
    view: RunView
    records: Callable[[], Iterable[tuple[int, Record]]]
    """Return (incarnation, record) of all its records."""

    @property
    def title(self) -> str:
        """Return the title of its API."""
        return self.view.opened.title if self.view.opened else ""


class Labels(Struct, frozen=True):
    """The labels of operations in a common report, with the title of the API if several APIs share a label."""

    shared: frozenset[str]
    moved: frozenset[tuple[str, str]]
    """(title of the API, fingerprint) of failures of shared labels."""

    @classmethod
    def of(cls, parts: Sequence[MergedPart]) -> "Labels":
        """Return the labels for these runs."""
        titles: dict[str, set[str]] = {}
        for part in parts:
            for label in {*part.view.labels, *part.view.statuses, *part.view.probes}:
                titles.setdefault(label, set()).add(part.title)
        shared = frozenset(label for label, of in titles.items() if len(of) > 1)
        moved = (
            (part.title, name)
            for part in parts
            for name, finding in part.view.sights.items()
            if finding.label in shared
        )
        return cls(shared, frozenset(moved))

    def renamed(self, record: Any, title: str) -> Any:
        """Return a record with the labels of the common report: `GET /health (Shop)`. Its fingerprints are those of this API only."""
        if not self.shared:
            return record
        changes: dict[str, Any] = {}
        names = record.__struct_fields__
        if "label" in names and record.label in self.shared:
            changes["label"] = self._name(record.label, title)
        if "labels" in names:
            changes["labels"] = tuple(self._name(label, title) for label in record.labels)
        if isinstance(record, Finding):
            changes["fingerprint"] = self._moved(record.fingerprint, title)
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


class MergedView(Struct, frozen=True):
    """All runs as one."""

    view: RunView
    outcome: str
    """The worst outcome of the runs."""
    elapsed_s: float
    """The sum of their times."""
    fingerprints: tuple[frozenset[str], ...]
    """The failures of each run, by their fingerprints in `view`."""


def merged(parts: Sequence[MergedPart]) -> MergedView:
    """Return several runs as one: counts are added, failures with equal fingerprints are one."""
    labels, view = Labels.of(parts), RunView()
    above = 0
    for part in parts:
        last = 0
        for incarnation, record in part.records():
            last = max(last, incarnation)
            if not isinstance(record, RunFinished):
                view.absorb(above + incarnation, labels.renamed(record, part.title))
        above += last
    outcome = max((part.outcome for part in parts), key=_badness)
    elapsed_s = sum(part.elapsed_s for part in parts)
    if outcome != ENDLESS:
        view.finished = _finished(parts, outcome, elapsed_s)
    view.opened = _opened(parts, len(view.labels))
    fingerprints = tuple(
        frozenset(labels.renamed(one, part.title).fingerprint for one in part.view.findings.values()) for part in parts
    )
    return MergedView(view, outcome, elapsed_s, fingerprints)


def with_runs(report: Report, parts: Sequence[MergedPart], fingerprints: Sequence[frozenset[str]]) -> Report:
    """Return a report that lists its runs, and whose failures name the runs that have them."""
    runs = tuple(
        MergedRun(part.name, part.seed, part.outcome, part.view.cases, part.view.finding_count(), names)
        for part, names in zip(parts, fingerprints, strict=True)
    )
    report = replace(report, runs=runs)
    found = []
    for one in report.findings:
        # A finding that each run has under another fingerprint has no names.
        if names := report.seen_in(one.fingerprint):
            seen = f"Seen in {len(names)} of {len(parts)} runs: {', '.join(names)}."
            one = replace(one, message=f"{one.message}\n\n{seen}".strip())
        found.append(one)
    return replace(report, findings=tuple(found))


def _finished(parts: Sequence[MergedPart], outcome: str, elapsed_s: float) -> RunFinished:
    """Return the end of the last run, with the times of all runs."""
    ends = [part.view.finished for part in parts if part.view.finished is not None]
    make, wait, judge, record, idle = (sum(one.ledger[stage] for one in ends) for stage in range(5))
    at = max(one.at for one in ends)
    return RunFinished("", at, outcome, elapsed_s, (make, wait, judge, record, idle))


def _badness(outcome: str) -> int:
    return _OUTCOMES.index(outcome) if outcome in _OUTCOMES else len(_OUTCOMES)


def _opened(parts: Sequence[MergedPart], selected: int) -> SchemaOpened | None:
    """Return the opened description of all runs: an API that several runs tested counts once."""
    found = [part.view.opened for part in parts if part.view.opened is not None]
    if not found:
        return None
    totals: Counter[str] = Counter()
    for one in found:
        totals[one.title] = max(totals[one.title], one.total)
    unreadable = max(one.unreadable for one in found)
    return replace(
        found[0],
        title=" + ".join(totals),
        specification=", ".join(dict.fromkeys(one.specification for one in found)),
        base_url=", ".join(dict.fromkeys(one.base_url for one in found)),
        total=sum(totals.values()),
        selected=selected + unreadable if selected else max(one.selected for one in found),
        unreadable=unreadable,
        fetched_from="",
        credentials=tuple(sorted({place for one in found for place in one.credentials})),
        ways_in=tuple(dict.fromkeys(way for one in found for way in one.ways_in)),
    )
