"""A run as one stream of events by time, read from its journals and its traffic."""

import heapq
from collections.abc import Iterator
from functools import cached_property
from math import inf
from operator import itemgetter
from pathlib import Path

from msgspec import Struct

from checker.corpus.fold import RunView, fold
from checker.corpus.journal import TOGETHER_READ_BYTES, Journals
from checker.corpus.layout import RunLayout
from checker.corpus.needs import ResourceHistory, needed_by
from checker.corpus.records import (
    Finding,
    Interaction,
    Note,
    OperationError,
    Quarantined,
    Record,
    ResourceMade,
    RunFinished,
    RunStarted,
    SchemaOpened,
    WorkerGone,
)
from checker.corpus.traffic import TrafficReader


class PhaseStarted(Struct, frozen=True):
    """The first operation is tested in a phase."""

    name: str


class PhaseFinished(Struct, frozen=True):
    """The end of a phase. Phases may overlap, so all of them end with the run. A killed run has no end of phases."""

    name: str
    tested: int
    failed: frozenset[str]  # Operations with failures, known ones included.
    errored: int


Event = (
    RunStarted
    | SchemaOpened
    | PhaseStarted
    | Interaction
    | Finding
    | OperationError
    | Note
    | Quarantined
    | WorkerGone
    | PhaseFinished
    | RunFinished
)
"""All events. There is one event when a finding is found, and another when it is minimised (`stage`)."""

_SHOWN = (RunStarted, SchemaOpened, Interaction, Finding, OperationError, Note, Quarantined, WorkerGone)


class EventStream:
    """The events of records, and those that no record states: beginning and end of phases."""

    def __init__(self) -> None:
        self.view = RunView()
        """The fold of the records so far."""
        self._begun: dict[str, None] = {}
        self._started: set[str] = set()
        """Names of the runs that have begun, because a resumed run writes its beginning again."""
        self._is_opened = False
        self._finished: RunFinished | None = None

    def follow(self, incarnation: int, record: Record) -> Iterator[Event]:
        self.view.absorb(incarnation, record)
        phase = getattr(record, "phase", "")
        if phase:
            yield from self.begin_phase(phase)
        match record:
            case RunStarted() if record.run in self._started:
                return
            case RunStarted():
                self._started.add(record.run)
            case SchemaOpened() if self._is_opened:
                # Each worker writes this record.
                return
            case SchemaOpened():
                self._is_opened = True
            case RunFinished():
                self._finished = record
            case _:
                pass
        if isinstance(record, _SHOWN):
            yield record

    def interaction(self, record: Interaction) -> Iterator[Event]:
        if record.phase:
            yield from self.begin_phase(record.phase)
        yield record

    def begin_phase(self, name: str) -> Iterator[Event]:
        if name not in self._begun:
            self._begun[name] = None
            yield PhaseStarted(name)

    def end(self) -> Iterator[Event]:
        if self._finished is None:
            return
        for name in self._begun:
            phase = self.view.phases.get(name)
            if phase is not None:
                yield PhaseFinished(name, len(phase.tested), frozenset(phase.failed), len(phase.errored))
        yield self._finished


_Placed = tuple[tuple[float, str], int, Record | None]  # ((time, case), incarnation, record).


class RunEvents(EventStream):
    """The events of a run on disk.

    Records are merged by time while they are read, because the traffic may be larger than memory. The records of one file keep their order.
    """

    def __init__(self, layout: RunLayout, first: int, *, has_traffic: bool = True) -> None:
        """`first`: the lowest incarnation of the run. `has_traffic`: whether to yield each interaction."""
        super().__init__()
        self.count = 0
        self._layout = layout
        self._first = first
        self._has_traffic = has_traffic
        self._journals = Journals(layout, above=first - 1, read_bytes=TOGETHER_READ_BYTES)
        self._segments: dict[Path, TrafficReader] = {}

    def all(self) -> Iterator[Event]:
        """Yield all events of a finished run."""
        yield from self.new()
        yield from self.end()

    def new(self) -> Iterator[Event]:
        """Yield the events of records that were written since the last call."""
        journals = [_placed(*one) for one in self._journals.new_of_each()]
        found: dict[tuple[int, str], list[TrafficReader]] = {}
        for incarnation, path in self._layout.traffic_paths() if self._has_traffic else ():
            if incarnation >= self._first:
                segment = self._segments.setdefault(path, TrafficReader(path))
                found.setdefault((incarnation, path.name.rpartition("-")[0]), []).append(segment)
        for _, incarnation, record in heapq.merge(
            *journals,
            *[_sent(incarnation, segments) for (incarnation, _), segments in found.items()],
            key=itemgetter(0),
        ):
            if isinstance(record, Interaction):
                self.count += 1
                yield from self.interaction(record)
            elif record is not None:
                yield from self.follow(incarnation, record)

    def needs_of(self, finding: Finding) -> tuple[ResourceMade, ...]:
        """Return the requests that a finding needs, according to the whole run."""
        return needed_by(finding, self._resources)

    @cached_property
    def _resources(self) -> ResourceHistory:
        """The resources of the whole run, because a finding may precede the record of a resource that it needs."""
        return fold(Journals(self._layout, above=self._first - 1, kinds=(ResourceMade,)).read_new()).resources

    def notes(self) -> list[Note]:
        """Return a note for each damaged file of traffic."""
        return [note for segment in self._segments.values() for note in segment.notes()]


def _placed(incarnation: int, records: Iterator[Record]) -> Iterator[_Placed]:
    """Yield the records of a journal with their times. A record without a time gets the time of its predecessor."""
    at = -inf
    for record in records:
        # Before the first time: -inf, so that the beginning of a run comes first.
        yield (at, ""), incarnation, record
        at = max(at, getattr(record, "at", at))


def _sent(incarnation: int, segments: list[TrafficReader]) -> Iterator[_Placed]:
    for segment in segments:
        # The entry has the time of the first record instead of the record. A merge holds the next record of each worker
        # of a night, and each record keeps a whole frame in memory.
        yield (segment.began_at, ""), incarnation, None
        for one in segment.stream():
            yield (one.at, one.case), incarnation, one
        segment.forget_bodies()
