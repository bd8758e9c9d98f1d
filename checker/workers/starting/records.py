"""Opens what a worker writes down: journal, traffic, signals and values."""

import os
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.curl import Rendering
from checker.corpus.journal import Journals, JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note, Record, SignalsSeen, ValueGone, ValueSeen
from checker.corpus.secrets import secrets_of
from checker.corpus.snapshot import read_snapshot
from checker.corpus.traffic import InterestingAndLast, TrafficWriter, segment_bytes
from checker.values.pool import LayeredPool, ValuePool
from checker.workers.observers.creations import CreationHistory
from checker.workers.observers.demands import DemandLearner
from checker.workers.observers.knowledge import Knowledge
from checker.workers.observers.signals import SignalSet
from checker.workers.operation_tools import checks_by_case
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.traffic import CheckOutcomes, Components, Traffic
from checker.workers.selected import SelectedOperations


def remember(layout: RunLayout, signals: SignalSet, values: ValuePool) -> list[Note]:
    """Let signals of earlier nights be no news, and their values be offered again; stale ones sink by themselves.

    A note for each file that is damaged.
    """
    snapshot = read_snapshot(layout)
    _take_in(snapshot.records, signals, values)
    with closing(Journals(layout)) as journals:
        _take_in((record for _, record in journals.read_new()), signals, values)
        return [*snapshot.notes, *journals.notes()]


def _take_in(records: Iterable[Record], signals: SignalSet, values: ValuePool) -> None:
    for record in records:
        match record:
            case SignalsSeen():
                signals.learn(number for number, _ in record.ids)
            case ValueSeen() | ValueGone():
                values.absorb(record)
            case _:
                pass  # Everything else is of no use to a worker.


class RequestDisplay(Struct, frozen=True):
    """The display of requests."""

    render: Rendering
    """The command that sends one."""
    sends_as_made: bool
    """Whether cases are sent as they were made: no hook changes them before."""


def open_recorder(
    incarnation: int, settings: RunSettings, operations: OperationResolver, shown: RequestDisplay
) -> Recorder:
    """Return the journal and the traffic of an incarnation. Raises `StorageError`."""
    layout = RunLayout(Path(settings.corpus.folder))
    secrets = secrets_of(settings)
    writer = TrafficWriter(
        layout.traffic(incarnation, os.getpid()),
        # Only a report of traffic reads all of it.
        None if settings.report.keeps_traffic else InterestingAndLast(),
        segment_bytes=segment_bytes(settings.corpus.max_bytes, settings.processes.workers),
    )
    return Recorder(
        journal=JournalWriter(layout.journal(incarnation, os.getpid()), conceal=secrets.conceal),
        traffic=Traffic(
            incarnation,
            writer,
            CheckOutcomes(operations.common.checks, checks_by_case(operations)),
            secrets,
            most=settings.report.truncation.max_recorded_payload_size,
            components=Components(sends_as_made=shown.sends_as_made),
        ),
        secrets=secrets,
        reproduction=shown.render,
    )


def open_knowledge(settings: RunSettings, selected: SelectedOperations, recorder: Recorder) -> Knowledge:
    """Return what a worker knows at its start: in `fuzz`, what earlier incarnations learned. Damaged files are noted."""
    is_fuzz, holds = settings.kind == "fuzz", recorder.secrets.holds
    demands = DemandLearner(at_once=is_fuzz, operations=selected) if settings.sources.learns else None
    knowledge = Knowledge(
        demands=demands,
        creations=CreationHistory(selected.variables_below(), recorder.reproduction, recorder.traffic.components.of),
    )
    if is_fuzz:
        knowledge.values = ValuePool(selected.resources, selected.names, holds)
        layout = RunLayout(Path(settings.corpus.folder))
        for note in remember(layout, knowledge.signals, knowledge.values):
            recorder.note(note)
    else:
        unordered = settings.sources.unordered_phases
        knowledge.values = pool = LayeredPool(selected.resources, selected.names, holds, unordered=unordered)
        if demands is not None:
            demands.place_of = pool.place_of
            demands.is_awaited = lambda label: label in selected.resources.producers
    return knowledge
