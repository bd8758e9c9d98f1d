"""Opens what a worker writes down: journal, traffic, signals and values."""

import os
from pathlib import Path

from msgspec import Struct

from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.curl import Rendering
from checker.corpus.journal import JournalWriter
from checker.corpus.layered_values import LayeredValues
from checker.corpus.layout import RunLayout
from checker.corpus.secrets import secrets_of
from checker.corpus.signals import SignalSet
from checker.corpus.space import segment_bytes
from checker.corpus.traffic import InterestingAndLast, TrafficWriter
from checker.corpus.values import LiveValues
from checker.workers.operation_tools import (
    checks_by_case,
)
from checker.workers.recording.components import Components
from checker.workers.recording.corpus_loading import remember
from checker.workers.recording.creation_history import CreationHistory
from checker.workers.recording.demands import DemandLearner
from checker.workers.recording.outcomes import CheckOutcomes
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.traffic import Traffic
from checker.workers.selected import SelectedOperations


class RequestDisplay(Struct, frozen=True):
    """How requests are shown."""

    render: Rendering
    """The command that sends one."""
    sends_as_made: bool
    """Whether cases are sent as they were made: no hook changes them before."""


def open_recorder(
    incarnation: int,
    settings: RunSettings,
    selected: SelectedOperations,
    operations: OperationResolver,
    shown: RequestDisplay,
) -> Recorder:
    """Journal and traffic of an incarnation, with what earlier ones learned where values are reused.

    Raises `StorageError`.
    """
    is_fuzz = settings.kind == "fuzz"
    layout = RunLayout(Path(settings.corpus_dir))
    signals = SignalSet()
    secrets = secrets_of(settings)
    values = LiveValues(selected.resources, selected.names, secrets.holds) if is_fuzz else None
    notes = [] if values is None else remember(layout, signals, values)
    writer = TrafficWriter(
        layout.traffic(incarnation, os.getpid()),
        # Nobody but a report of traffic reads all of it.
        None if settings.keeps_traffic else InterestingAndLast(),
        segment_bytes=segment_bytes(settings.corpus_max_bytes, settings.workers),
    )
    components = Components(sends_as_made=shown.sends_as_made)
    recorder = Recorder(
        journal=JournalWriter(layout.journal(incarnation, os.getpid()), conceal=secrets.conceal),
        traffic=Traffic(
            incarnation,
            writer,
            CheckOutcomes(operations.common.checks, checks_by_case(operations)),
            secrets,
            most=settings.truncation.max_recorded_payload_size,
            components=components,
        ),
        signals=signals,
        values=values,
        secrets=secrets,
        layered=None
        if is_fuzz
        else LayeredValues(
            selected.resources, selected.names, settings.unordered_phases, secrets.holds
        ),
        demands=DemandLearner(at_once=is_fuzz) if settings.learns else None,
        reproduction=shown.render,
        creations=CreationHistory(selected.variables_below(), shown.render, components.of),
    )
    for note in notes:
        recorder.note(note)
    return recorder
