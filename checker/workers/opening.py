"""Opens a description and lays out one worker's tools."""

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

from checker import __version__
from checker.checks.custom import class_checks
from checker.config.credentials import without_credentials
from checker.config.hooks_loading import load_all_hooks
from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.case import Case
from checker.core.digests import digest_int
from checker.core.hooks import COMPONENTS, GLOBAL_HOOKS, HookContext
from checker.core.operation import Operation
from checker.core.request import BaseUrl, WireRequest, without_userinfo
from checker.core.send import Transport
from checker.corpus.inflight import InflightWriter, Stage
from checker.corpus.journal import JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import SchemaOpened
from checker.corpus.secrets import secrets_of
from checker.corpus.signals import SignalSet
from checker.corpus.space import segment_bytes
from checker.corpus.traffic import InterestingAndLast, TrafficWriter
from checker.corpus.values import LiveValues
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.phases.attempt import CallHooks, Tools, check_tools
from checker.phases.exploration import Explorer
from checker.phases.making import CaseFactory, GenerationRules, PoolView
from checker.phases.safety import SafetyGate
from checker.transport.factories import transport_factory
from checker.transport.prepare import RequestMaker
from checker.transport.settings import HttpSettings
from checker.workers.class_checks import ClassChecks
from checker.workers.components import Components
from checker.workers.concurrency import Concurrency, SlowLanes
from checker.workers.corpus_loading import remember
from checker.workers.credentials import CredentialKeeper
from checker.workers.description import Description, other_host, read_description, settled_target
from checker.workers.messages import Opened, OperationCard
from checker.workers.operation_tools import (
    checks_by_case,
    dispatching,
    generation_rules,
    judging,
    rendering,
)
from checker.workers.outcomes import CheckOutcomes
from checker.workers.purse import Purse
from checker.workers.recorder import Recorder
from checker.workers.saved import SavedExamples
from checker.workers.schemes import SchemeCredentials
from checker.workers.selected import SelectedOperations
from checker.workers.telling import (
    tell_of_checks,
    tell_of_description,
    tell_of_program,
    tell_of_schemes,
    tell_of_unread,
    tell_of_warning,
)
from checker.workers.time_accounting import TimeAccounting
from checker.workers.traffic import Traffic

_IMPORTED_BY = os.getpid()
"""The fork server, if it preloaded this module for us."""

_MAKING_VERBS = ("before_generate", "filter", "map", "flatmap")
_PARTS = (*COMPONENTS, "case")
_THRESHOLDS = (10_000, 10, 10)

MOST_LANES = 8
"""In flight at one target by all workers together, unless told otherwise."""


@dataclass(slots=True)
class WorkerContext:
    """Everything that one incarnation works with."""

    settings: RunSettings
    operations: OperationResolver
    """What holds for each operation."""
    opened: Opened
    factory: CaseFactory
    unhooked: CaseFactory | None
    """Makes cases as they are before `filter`, `map` and `flatmap` hooks see them, for reports of those that these kill;
    None when `before_generate` hooks decide what is drawn."""
    tools: Tools
    explorer: Explorer
    origin: BaseUrl
    http: Transport
    pacing: Concurrency
    beside: SlowLanes
    lane_count: int
    slots: InflightWriter
    slot_count: int
    recorder: Recorder
    ledger: TimeAccounting
    saved: SavedExamples
    purse: Purse
    class_checks: ClassChecks
    credentials: CredentialKeeper | None
    """None where all that requests carry is known from the start."""
    making_stage: Stage
    """`HOOK` wherever users' code may run: it has a deadline of its own."""
    calling_stage: Stage
    judging_stage: Stage

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.http.close()
        self.slots.close()


def open_worker_context(incarnation: int, settings: RunSettings) -> WorkerContext:
    """Document, hooks, operations and tools of one incarnation.

    Raises `LoaderError`, `ConfigError`, `UsageError`, `StorageError`: what stops the run before it begins.
    """
    ledger = TimeAccounting(time.monotonic, settings.started_at)
    layout = RunLayout(Path(settings.corpus_dir))
    layout.create()
    # What is wrong with them is told before anything is fetched.
    load_all_hooks(settings.certain_hooks)
    with _uncollected():
        description = read_description(settings, layout)
    schema = description.schema
    settings = settings.for_project(schema.title)
    load_all_hooks(settings.hooks)
    # After hooks are loaded: they bring checks.
    operations = OperationResolver(settings.operations)
    classes = ClassChecks(
        class_checks(operations.layers.checks_somewhere(), operations.common.check_settings)
    )
    schemes = SchemeCredentials(schema.security_schemes, operations.common.authentication)
    origin = settled_target(
        schema, settings, lambda operation: operations.of(operation).validate_formats
    )
    with _uncollected():
        selected = SelectedOperations(
            schema, settings.selection, lambda entry: bool(operations.of(entry).phases)
        )
    render = rendering(origin, operations)
    recorder = _recorder(incarnation, settings, selected, operations, render)
    told = _told(description, selected, settings, origin)
    tell_of_description(recorder, description, told)
    tell_of_checks(recorder, classes)
    tell_of_schemes(recorder, schemes)
    tell_of_unread(recorder, selected, settings.phases[0])
    rules = generation_rules(operations, settings, schemes, reuse=recorder.values is not None)
    factory = _factory(rules, selected, recorder, _component_hooks, settings.phases[0])
    keeper = CredentialKeeper.of_registered(recorder.secrets)
    decides = _has_making_hooks(("before_generate",))
    pacing, beside = _pacing(settings), _beside(settings)
    connect = transport_factory(settings.transport)
    # One more than can be in flight: to look into a failure while what is slow is waited for.
    lane_count = pacing.most + beside.most + bool(beside.most)
    slot_count = 2 * lane_count + 2
    return WorkerContext(
        settings=settings,
        operations=operations,
        opened=Opened(
            incarnation=incarnation,
            journal=str(recorder.journal.path),
            document=description.digest,
            base_url=told.base_url,
            operations=_cards(selected, operations),
            preloaded=os.getpid() != _IMPORTED_BY,
            concludes=classes.concludes,
            works_alone=bool(classes.works_alone),
        ),
        factory=factory,
        unhooked=None
        if decides
        else _factory(rules, selected, recorder, _no_hooks, settings.phases[0]),
        tools=_tools(settings, operations, _Caller(origin, schemes, keeper), classes),
        explorer=_explorer(incarnation, settings, selected, factory),
        origin=origin,
        http=connect(origin, HttpSettings.of(operations.common), lane_count),
        pacing=pacing,
        beside=beside,
        lane_count=lane_count,
        slots=InflightWriter(layout.inflight(incarnation), slot_count),
        slot_count=slot_count,
        recorder=recorder,
        ledger=ledger,
        saved=SavedExamples(settings.database),
        purse=Purse(settings.shrink_share, recorder.defects),
        class_checks=classes,
        credentials=keeper,
        making_stage=Stage.HOOK
        if _has_making_hooks() or GLOBAL_HOOKS.named("before_add_examples")
        else Stage.MAKE,
        calling_stage=Stage.HOOK if keeper or GLOBAL_HOOKS.named("before_call") else Stage.MAKE,
        judging_stage=Stage.HOOK if keeper or GLOBAL_HOOKS.named("after_call") else Stage.JUDGE,
    )


def _told(
    description: Description, selected: SelectedOperations, settings: RunSettings, origin: BaseUrl
) -> SchemaOpened:
    schema = description.schema
    return SchemaOpened(
        title=schema.title,
        specification=schema.specification,
        base_url=settings.sanitization.redaction.url(without_userinfo(schema.base_url or "")),
        document=description.digest,
        total=selected.total,
        selected=len(selected),
        fetched_from=other_host(settings, origin),
        credentials=schema.credentials,
    )


def _explorer(
    incarnation: int, settings: RunSettings, selected: SelectedOperations, factory: CaseFactory
) -> Explorer:
    chance = Random(digest_int(str(settings.seed), "explorer", str(incarnation)))
    return Explorer(factory, selected.resources, chance)


@contextmanager
def _uncollected() -> Iterator[None]:
    """What is made in here lives as long as the worker: no collection need ever look at it.

    A description of a megabyte is 100,000 objects; looking through them took a third of the time of reading it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        # What a request leaves behind is freed without the collector: it need not look after each ten of them.
        gc.set_threshold(*_THRESHOLDS)
        if was_enabled:
            gc.enable()


def _cards(
    selected: SelectedOperations, operations: OperationResolver
) -> tuple[OperationCard, ...]:
    common, model = operations.common, selected.resources
    cards = []
    for entry in selected.entries:
        card = OperationCard(
            str(entry.label),
            entry.method,
            model.uses[entry.label].resource,
            model.layers[entry.label],
            entry.label in model.producers,
        )
        own = operations.of(entry)
        if own is not common:
            card = replace(
                card,
                max_examples=own.max_examples,
                continue_on_failure=own.continue_on_failure,
                phases=own.phases,
            )
        cards.append(card)
    return tuple(cards)


def _recorder(
    incarnation: int,
    settings: RunSettings,
    selected: SelectedOperations,
    operations: OperationResolver,
    render: Callable[[WireRequest], str],
) -> Recorder:
    is_fuzz = settings.kind == "fuzz"
    layout = RunLayout(Path(settings.corpus_dir))
    signals = SignalSet()
    secrets = secrets_of(settings)
    values = LiveValues(selected.resources, selected.names) if is_fuzz else None
    notes = [] if values is None else remember(layout, signals, values)
    writer = TrafficWriter(
        layout.traffic(incarnation, os.getpid()),
        # Nobody but a report of traffic reads all of it.
        None if settings.keeps_traffic else InterestingAndLast(),
        segment_bytes=segment_bytes(settings.corpus_max_bytes, settings.workers),
    )
    recorder = Recorder(
        journal=JournalWriter(layout.journal(incarnation, os.getpid()), conceal=secrets.conceal),
        traffic=Traffic(
            incarnation,
            writer,
            CheckOutcomes(operations.common.checks, checks_by_case(operations)),
            secrets,
            most=settings.truncation.max_recorded_payload_size,
            components=Components(sends_as_made=not GLOBAL_HOOKS.named("before_call")),
        ),
        signals=signals,
        values=values,
        secrets=secrets,
        reproduction=render,
    )
    for note in notes:
        recorder.note(note)
    return recorder


def _factory(
    rules: GenerationRules,
    selected: SelectedOperations,
    recorder: Recorder,
    hooks: Callable[[Operation], ComponentHooks],
    phase: str,
) -> CaseFactory:
    values = recorder.values
    pools: PoolView | None = None if values is None else values.view
    return CaseFactory(
        selected,
        rules,
        hooks,
        pools,
        compiled=partial(tell_of_program, recorder, phase),
        warned=partial(tell_of_warning, recorder),
    )


def _component_hooks(operation: Operation) -> ComponentHooks:
    return ComponentHooks.from_registry(GLOBAL_HOOKS, HookContext(operation))


def _no_hooks(operation: Operation) -> ComponentHooks:
    return NO_HOOKS


def _has_making_hooks(verbs: Sequence[str] = _MAKING_VERBS) -> bool:
    return any(GLOBAL_HOOKS.named(f"{verb}_{part}") for verb in verbs for part in _PARTS)


@dataclass(frozen=True, slots=True)
class _Caller:
    """Where requests go, and what they carry to say who is calling."""

    origin: BaseUrl
    schemes: SchemeCredentials
    keeper: CredentialKeeper | None


def _tools(
    settings: RunSettings, operations: OperationResolver, caller: _Caller, classes: ClassChecks
) -> Tools:
    common, origin, keeper = operations.common, caller.origin, caller.keeper
    maker = RequestMaker(
        origin,
        common.headers,
        version=__version__,
        own_servers=True,
        dispatch=dispatching(operations, caller.schemes),
    )
    nobody = partial(without_credentials, settings.sanitization.redaction)
    anonymous = RequestMaker(
        origin.with_userinfo(""),
        nobody(common.headers),
        version=__version__,
        own_servers=True,
        dispatch=dispatching(operations, None, nobody),
    )
    hooks = CallHooks(
        before=GLOBAL_HOOKS.named("before_call"),
        after=GLOBAL_HOOKS.named("after_call"),
        context=_hook_context,
    )
    tools = check_tools(maker, anonymous, hooks, keeper)
    judge = judging(operations, settings.truncation, classes.checks, tools)
    return Tools(maker, judge, SafetyGate(), hooks, keeper)


def _hook_context(case: Case) -> HookContext:
    return HookContext(case.operation)


def _pacing(settings: RunSettings) -> Concurrency:
    if settings.lanes is not None:
        return Concurrency(most=settings.lanes, lanes=settings.lanes, fixed=True)
    return Concurrency(most=max(1, MOST_LANES // settings.workers))


def _beside(settings: RunSettings) -> SlowLanes:
    """Lanes for what is slow. Hooks around calls see one after the other, if there is one lane."""
    has_hooks = GLOBAL_HOOKS.named("before_call") or GLOBAL_HOOKS.named("after_call")
    return SlowLanes(0 if has_hooks else max(1, MOST_LANES // settings.workers))
