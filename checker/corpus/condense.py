"""Condensation of closed journals: fewer records with the same meaning. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from checker.corpus.entries import favoured
from checker.corpus.fold import RunView, fold
from checker.corpus.learned import SignalsSeen, ValueGone, ValueSeen
from checker.corpus.records import (
    CorpusEntry,
    Finding,
    Note,
    OperationDescribed,
    OperationError,
    OperationsSelected,
    Quarantined,
    Record,
    RunFinished,
    RunStarted,
    SchemaOpened,
    TaskProgress,
    TaskStarted,
    WorkerGone,
)
from checker.corpus.value_history import Above, agree

_OF_A_RUN = (
    RunStarted,
    RunFinished,
    SchemaOpened,
    OperationsSelected,
    OperationDescribed,
    TaskStarted,
    TaskProgress,
    OperationError,
    Note,
    WorkerGone,
)
_VALUES = 64
Tried = tuple[tuple[str, str, str, int, int], ...]

Numbered = tuple[int, Record]


def condense(pairs: Sequence[Numbered]) -> list[Record]:
    """Records that fold to what `pairs` of (incarnation, record) fold to, most important first.

    Of runs, only the last one's own records stay, and they too go once it is finished: what a corpus keeps for ever is
    findings, quarantined cases, entries, signals and values.
    """
    current = _of_current_run(pairs)
    view = fold(current)
    everything = fold((number, record) for number, record in pairs if isinstance(record, Finding))
    records: list[Record] = []
    if view.run is not None and view.finished is None:
        records += _life(view)
        if view.labels:
            records.append(OperationsSelected(tuple(view.labels)))
        records += view.described.values()
        records += _progress(current)
        records += view.errors.values()
        records += [note for notes in view.notes.values() for note in notes.values()]
    for finding in everything.findings.values():
        records += _versions(finding, everything.first_seen_at(finding.fingerprint))
    plain = [record for _, record in pairs]
    records += fold((0, r) for r in plain if isinstance(r, Quarantined)).quarantined.values()
    records += favoured(record for record in plain if isinstance(record, CorpusEntry))
    records += _signals(plain)
    records += _values(plain)
    return records


def _of_current_run(pairs: Sequence[Numbered]) -> list[Numbered]:
    starts = [(n, record) for n, record in pairs if isinstance(record, RunStarted)]
    if not starts:
        return [(n, record) for n, record in pairs if isinstance(record, _OF_A_RUN)]
    last = max(starts, key=lambda start: (start[1].at, start[1].run))[1].run
    # Incarnations are numbered in order, and the supervisor of a run takes the first number.
    first = min(number for number, record in starts if record.run == last)
    return [
        (number, record)
        for number, record in pairs
        if number >= first
        and isinstance(record, _OF_A_RUN)
        and not (isinstance(record, RunStarted | RunFinished) and record.run != last)
    ]


def _life(view: RunView) -> list[Record]:
    found: list[Record] = [record for record in (view.run, view.opened) if record is not None]
    found += [WorkerGone(number, reason) for number, reason in sorted(view.gone.items())]
    return found


def _progress(pairs: Iterable[Numbered]) -> list[Record]:
    merged: dict[str, TaskProgress] = {}
    started: dict[str, TaskStarted] = {}
    for _, record in pairs:
        if isinstance(record, TaskProgress):
            known = merged.get(record.task)
            merged[record.task] = record if known is None else _sum(known, record)
        elif isinstance(record, TaskStarted):
            started.setdefault(record.task, record)
    return [*(start for task, start in started.items() if task not in merged), *merged.values()]


_Counts = tuple[tuple[str, int, int], ...]


def _merged(one: _Counts, other: _Counts) -> _Counts:
    counts: Counter[tuple[str, int]] = Counter()
    for label, status, count in (*one, *other):
        counts[label, status] += count
    return tuple((label, status, count) for (label, status), count in counts.items())


def _merged_tried(one: Tried, other: Tried) -> Tried:
    counts: Counter[tuple[str, str, str, int]] = Counter()
    for label, place, what, status, count in (*one, *other):
        counts[label, place, what, status] += count
    return tuple((*kind, count) for kind, count in counts.items())


def _sum(one: TaskProgress, other: TaskProgress) -> TaskProgress:
    make, wait, judge, record, idle = map(sum, zip(one.ledger, other.ledger, strict=True))
    return replace(
        one,
        next_index=max(one.next_index, other.next_index),
        finished=one.finished or other.finished,
        cases=one.cases + other.cases,
        requests=one.requests + other.requests,
        failed_cases=one.failed_cases + other.failed_cases,
        statuses=_merged(one.statuses, other.statuses),
        wrong=_merged(one.wrong, other.wrong),
        tried=_merged_tried(one.tried, other.tried),
        ledger=(make, wait, judge, record, idle),
        note=max(one.note, other.note),
        inquiries=one.inquiries + other.inquiries,
        probes=_merged(one.probes, other.probes),
        turned_away=_merged(one.turned_away, other.turned_away),
    )


def _versions(best: Finding, first_seen_at: float) -> list[Record]:
    """The best version, and before it the bare fact of when the first one was seen: reports are in that order."""
    if best.at == first_seen_at:
        return [best]
    bare = replace(best, stage="found", at=first_seen_at, steps=(), interactions=(), reproduction="", message="")
    return [bare, best]


def _signals(records: Iterable[Record]) -> list[Record]:
    found: dict[str, dict[int, str]] = {}
    for record in records:
        if isinstance(record, SignalsSeen):
            found.setdefault(record.label, {}).update(dict(record.ids))
    return [SignalsSeen(label, tuple(sorted(ids.items()))) for label, ids in sorted(found.items())]


def _values(records: Iterable[Record]) -> list[Record]:
    """The newest 64 values of each place that no DELETE took away later."""
    found: dict[tuple[str, str], dict[tuple[type, object], dict[Above, ValueSeen]]] = {}
    for record in records:
        if isinstance(record, ValueSeen):
            place = found.setdefault((record.producer, record.pointer), {})
            key = (type(record.value), record.value)
            contexts = place[key] = place.pop(key, {})
            contexts[record.above] = record
        elif isinstance(record, ValueGone) and record.succeeded:
            for place in found.values():
                contexts = place.get((type(record.value), record.value), {})
                for above in [one for one in contexts if agree(one, record.above)]:
                    del contexts[above]
    return [
        value
        for place in found.values()
        for value in [one for contexts in place.values() for one in contexts.values()][-_VALUES:]
    ]
