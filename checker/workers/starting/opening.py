"""Lays out one worker's tools for a description."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings, SequenceSettings
from checker.core.case import Case
from checker.core.constraints import Constraint
from checker.core.curl import Rendering
from checker.core.digests import digest_int
from checker.core.errors import CheckerError, IncorrectUsage, UsageError
from checker.core.hooks import COMPONENTS, HookContext, HookSource, metric_named
from checker.core.meta import PhaseInfo
from checker.core.operation import Label, Operation
from checker.core.phases import EXPLORATION
from checker.core.request import BaseUrl
from checker.core.resources import ResourceModel, naming_places, status_of
from checker.core.response import Response
from checker.core.send import Transport
from checker.corpus.discoveries import Discoveries, Discovery, load
from checker.corpus.inflight import InflightWriter, Stage
from checker.corpus.journal import Journals, JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import DemandHeard, Note, Record, SchemaOpened, SignalsSeen, ValueGone, ValueSeen
from checker.corpus.secrets import secrets_of
from checker.corpus.snapshot import read_snapshot
from checker.corpus.traffic import InterestingAndLast, TrafficWriter, segment_bytes
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.settings import GenerationSettings
from checker.generation.sources.context import Rejected
from checker.health import FirstAnswers
from checker.phases.attempt import Tools
from checker.phases.case_factory import CaseFactory, GenerationRules, PoolView
from checker.phases.case_parts import literal_case
from checker.phases.sequences import SequenceBuilder, SequenceExtender
from checker.refusals.reading import demands_in, may_complain
from checker.values.pool import LayeredPool, ValuePool
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.logins import LoginTraffic
from checker.workers.authentication.opening import AuthNeeds, look_first
from checker.workers.authentication.signup import AccountHooks, Accounts, accounts_of
from checker.workers.cleaning import gate_for
from checker.workers.context import TimeAccounting, WorkerContext, release
from checker.workers.observers.creations import CreationHistory
from checker.workers.observers.demands import DemandLearner, declared_names
from checker.workers.observers.hill_climbing import HillClimber
from checker.workers.observers.knowledge import Knowledge
from checker.workers.observers.saved_examples import SavedExamples
from checker.workers.observers.signals import SignalSet
from checker.workers.observers.witnesses import Sent
from checker.workers.operation_tools import checks_by_case, generation_rules, rendering
from checker.workers.recording.investigation_budget import FLOOR, LAST, LEAST, InvestigationBudget
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.traffic import CheckOutcomes, Components, Traffic
from checker.workers.selected import SelectedOperations
from checker.workers.starting.announcing import (
    opened_of,
    ordered,
    tell_of_operation,
    tell_of_program,
    tell_of_subject,
    tell_of_warning,
)
from checker.workers.starting.calling import (
    Caller,
    Lanes,
    Requested,
    keeper_of,
    open_tools,
    schemeless_maker,
    transport_of,
    wiring_of,
)
from checker.workers.starting.subject import TestedDescription, give_engine, read_subject
from checker.workers.users import ALL_SCHEMAS, UsersCode


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


_MAKING_VERBS = ("before_generate", "filter", "map", "flatmap")
_PARTS = (*COMPONENTS, "case")


class Makers(Struct, frozen=True):
    """The makers of cases of a worker."""

    factory: CaseFactory
    unhooked: CaseFactory | None
    """Makes cases as they are before `filter`, `map` and `flatmap` hooks see them; None when `before_generate` hooks
    decide what is drawn."""
    stage: Stage
    """`HOOK` where users' code may run while a case is made."""
    seed: int
    resources: ResourceModel

    def explorer(self, incarnation: int, chains: SequenceBuilder) -> SequenceExtender:
        """Makes sequences, by chance that no other incarnation has."""
        chance = Random(digest_int(str(self.seed), "explorer", str(incarnation)))
        return SequenceExtender(self.factory, self.resources, chance, chains)

    def chains(self, settings: SequenceSettings, host: str, is_secret: Callable[[object], bool]) -> SequenceBuilder:
        """Return a maker of sequences for the stateful phase, the same in every worker; `host` is that of the API."""
        return SequenceBuilder(self.factory, self.resources, settings, host, is_secret)


def open_makers(
    settings: RunSettings,
    selected: SelectedOperations,
    rules: GenerationRules,
    recorder: Recorder,
    knowledge: Knowledge,
    users: UsersCode = ALL_SCHEMAS,
) -> Makers:
    """Makers of cases of the selected operations; what is found while programs are compiled goes to the recorder."""
    rules = _naming(rules, naming_places(selected.resources))
    make = partial(
        _factory, rules, selected, recorder, knowledge, (settings.phases[0], settings.sources.reusing_phases)
    )
    decides = _has_making_hooks(users.hooks, ("before_generate",))
    factory = make(_component_hooks(users.hooks))
    factory.values = users.pool
    if knowledge.demands is not None:
        factory.demands = knowledge.demands.wanted
    return Makers(
        factory=factory,
        unhooked=None if decides else make(_no_hooks),
        stage=Stage.HOOK if _has_making_hooks(users.hooks) or users.hooks.named("before_add_examples") else Stage.MAKE,
        seed=settings.seed,
        resources=selected.resources,
    )


def _factory(
    rules: GenerationRules,
    selected: SelectedOperations,
    recorder: Recorder,
    knowledge: Knowledge,
    phases: tuple[str, tuple[str, ...]],
    hooks: Callable[[Operation], ComponentHooks],
) -> CaseFactory:
    phase, reusing = phases
    pools: PoolView | None = None if knowledge.values is None else knowledge.values.view
    return CaseFactory(
        selected,
        rules,
        hooks,
        pools,
        reusing=(*reusing, EXPLORATION.name),
        met=partial(tell_of_operation, recorder),
        compiled=partial(tell_of_program, recorder, phase),
        warned=partial(tell_of_warning, recorder),
        is_first_of_path=selected.is_first_of_path,
    )


def _naming(rules: GenerationRules, places: Mapping[Label, tuple[str, ...]]) -> GenerationRules:
    """Rules that say, too, where bodies name what other operations make."""

    def of(operation: Operation, phase: str) -> GenerationSettings:
        settings, references = rules.of(operation, phase), places.get(operation.label)
        return settings if references is None else replace(settings, references=references)

    return replace(rules, of=of)


def _component_hooks(hooks: HookSource) -> Callable[[Operation], ComponentHooks]:
    """Hooks of operations, looked up once: they are asked for each case of a list."""
    found: dict[Label, ComponentHooks] = {}

    def of(operation: Operation) -> ComponentHooks:
        known = found.get(operation.label)
        if known is None:
            known = ComponentHooks.from_registry(hooks, HookContext(operation))
            found[operation.label] = known
        return known

    return of


def _no_hooks(operation: Operation) -> ComponentHooks:
    return NO_HOOKS


def _has_making_hooks(hooks: HookSource, verbs: Sequence[str] = _MAKING_VERBS) -> bool:
    return any(hooks.named(f"{verb}_{part}") for verb in verbs for part in _PARTS)


_MOST = 100
"""Requests."""


def confirmed(
    known: Iterable[Discovery], selected: SelectedOperations, tools: Tools, http: Transport
) -> Iterator[DemandHeard]:
    """Demands that the target makes again, when what it refused is sent once more: one request for all that one case showed."""
    cases: dict[str, list[Discovery]] = {}
    for one in known:
        if one.label in selected:
            cases.setdefault(repr((one.label, one.request)), []).append(one)
    for together in islice(cases.values(), _MOST):
        first = together[0]
        operation = selected[Label(first.label)]
        case = literal_case(operation, first.request, "discovery", "")
        demands = set(_demands(case, tools, http))
        for one in together:
            if one.demand in demands:
                yield DemandHeard(one.label, one.demand, "", refused=(one.request,))


def answering_405(labels: Iterable[str], tools: Tools, http: Transport, factory: CaseFactory) -> list[Note]:
    """A warning for each of these operations that answers 405 once more: one request each. They are not tested."""
    known = islice((Label(one) for one in labels if one in factory.operations), _MOST)
    text = "405 once more, after nothing but 405 in an earlier run: not tested"
    return [Note("method_not_allowed", label, "", text) for label in known if _is_405(label, tools, http, factory)]


def _is_405(label: Label, tools: Tools, http: Transport, factory: CaseFactory) -> bool:
    try:
        case = factory.make(label, 0, 0, PhaseInfo("discovery")).case
        request = tools.maker.make(case)
    except (CheckerError, Rejected):
        return False
    if tools.gate.refuses(case, request):
        return False
    outcome = http.send(0, request)
    return isinstance(outcome, Response) and outcome.status_code == 405


def _demands(case: Case, tools: Tools, http: Transport) -> Iterable[Constraint]:
    try:
        outcome = http.send(0, tools.maker.make(case))
    except CheckerError:
        # The description is another one by now.
        return ()
    if not isinstance(outcome, Response) or not may_complain(status_of(case.operation, outcome)):
        return ()
    return demands_in(case, outcome, declared_names(case.operation))


def open_worker_context(incarnation: int, settings: RunSettings, users: UsersCode = ALL_SCHEMAS) -> WorkerContext:
    """Document, hooks, operations and tools of one incarnation.

    Raises `LoaderError`, `ConfigError`, `UsageError`, `StorageError`: what stops the run before it begins.
    """
    ledger = TimeAccounting(time.monotonic, settings.processes.started_at)
    layout = RunLayout(Path(settings.corpus.folder))
    layout.create()
    subject = read_subject(settings, layout, users)
    with ExitStack() as undone:
        context = _laid_out(incarnation, subject, users, _Workplace(layout, ledger, undone))
        undone.pop_all()
    return context


class _Workplace(Struct, frozen=True):
    """The directory and files of a worker."""

    layout: RunLayout
    ledger: TimeAccounting
    undone: ExitStack
    """Closes what was opened, if nothing comes of it."""


def _laid_out(incarnation: int, subject: TestedDescription, users: UsersCode, place: _Workplace) -> WorkerContext:
    settings, operations, origin = subject.settings, subject.operations, subject.origin
    undone, parts = place.undone, give_engine(subject, users)
    shown = RequestDisplay(rendering(origin, operations), sends_as_made=not users.hooks.named("before_call"))
    recorder = open_recorder(incarnation, settings, operations, shown)
    undone.callback(release, recorder)
    knowledge = open_knowledge(settings, subject.selected, recorder)
    undone.callback(knowledge.close)
    told = tell_of_subject(subject, recorder)
    rules = generation_rules(operations, settings, subject.schemes, reuse=True, users=users)
    accounts = accounts_of(settings, subject.description.schema, recorder.note)
    makers = open_makers(settings, subject.selected, rules, recorder, knowledge, _acting(users, accounts))
    asked = Requested(settings, subject.schemes, operations, accounts, users)
    keeper = _keeper(asked, origin, recorder)
    parts.keeper, parts.secrets = keeper, recorder.secrets
    caller = Caller(origin, subject.schemes, keeper, users)
    lanes = Lanes.of(settings, users)
    gate = gate_for(settings.target.safety, place.layout, origin, subject.selected)
    tools = open_tools(settings, operations, caller, subject.classes, gate)
    chains = makers.chains(settings.sources.sequences, origin.host, recorder.secrets.is_in)
    http = transport_of(settings)(origin, operations.common.http, lanes.count)
    undone.callback(http.close)
    slots = InflightWriter(place.layout.inflight(incarnation), lanes.slots)
    undone.callback(slots.close)
    first_look, needs = _look_first(subject, tools, http, recorder, makers.factory)
    opened = opened_of(incarnation, subject, recorder, told.base_url)
    renews = keeper is not None and any(source.is_kept for source in keeper.sources.values())
    opened = replace(ordered(opened, users, settings.phases), auth_needs=needs, renews=renews)
    return WorkerContext(
        settings=settings,
        operations=operations,
        opened=opened,
        selected=subject.selected,
        factory=makers.factory,
        unhooked=makers.unhooked,
        tools=tools,
        explorer=makers.explorer(incarnation, chains),
        hill_climber=_hill_climber(operations, makers, incarnation),
        chains=chains,
        origin=origin,
        http=http,
        pacing=lanes.pacing,
        slow_lanes=lanes.slow,
        lane_count=lanes.count,
        slots=slots,
        slot_count=lanes.slots,
        recorder=recorder,
        knowledge=knowledge,
        ledger=place.ledger,
        once_s=subject.description.once_s,
        saved=SavedExamples(settings.sources.database, recorder.secrets.is_in),
        investigation_budget=_investigation_budget(settings, recorder, len(subject.selected)),
        class_checks=subject.classes,
        credentials=keeper,
        first_answers=_first_answers(settings, told, configured=bool(asked.schemes.configured)),
        first_look=first_look,
        held_back={Label(card.label) for card in opened.operations if card.is_ending},
        making_stage=makers.stage,
        calling_stage=caller.stage("before_call", Stage.MAKE),
        judging_stage=caller.judging_stage(operations.layers.checks_somewhere()),
    )


def _acting(users: UsersCode, accounts: Accounts | None) -> UsersCode:
    """Code of users, after which logins take what an account of the run says."""
    return users if accounts is None else replace(users, hooks=AccountHooks(users.hooks, accounts))


def _keeper(asked: Requested, origin: BaseUrl, recorder: Recorder) -> CredentialKeeper | None:
    """Return the keeper of credentials, whose logins are recorded; None if there are none to fetch."""
    logins = LoginTraffic(recorder.traffic)
    wiring = logins.over(wiring_of(asked.settings, origin))
    keeper = keeper_of(asked, wiring, recorder.secrets)
    if keeper is not None:
        keeper.fetched = logins.write
    return keeper


def _hill_climber(operations: OperationResolver, makers: Makers, incarnation: int) -> HillClimber | None:
    """Return what makes metrics large, None if no metric is named. Raises `UsageError` for an unknown metric."""
    asked = {name for own in operations.layers.everywhere() for name in own.cases.maximize}
    if not asked:
        return None
    try:
        for name in asked:
            metric_named(name)
    except IncorrectUsage as error:
        raise UsageError(f"generation.maximize: {error}") from error
    chance = Random(digest_int(str(makers.seed), "hill_climber", str(incarnation)))
    return HillClimber(lambda operation: operations.of(operation).cases.maximize, makers.factory, chance)


def _investigation_budget(settings: RunSettings, recorder: Recorder, operations: int) -> InvestigationBudget:
    """Return what this worker may send for investigations of failures of so many operations."""
    is_endless = settings.kind == "fuzz"
    usually_ends = settings.has_no_end and not settings.common.continue_on_failure
    ends_at_failure = is_endless and (usually_ends or settings.verdict.max_failures == 1)
    is_open_ended = is_endless or settings.max_time_s is not None
    investigation_budget = InvestigationBudget(
        settings.sources.shrink_share,
        recorder.defects,
        is_open_ended=is_open_ended,
        spares_known_causes=not is_endless and settings.max_time_s is not None,
        floor=_floor(settings, operations, is_open_ended=is_open_ended),
        credit=LAST if ends_at_failure else 0,
    )
    recorder.defects.reopens = investigation_budget.reopens
    return investigation_budget


def _floor(settings: RunSettings, operations: int, *, is_open_ended: bool) -> int:
    """Return the part of the floor that an operation has, or this worker where the number of cases is not known."""
    if not is_open_ended:
        return max(LEAST, FLOOR // max(1, operations))
    # The first worker opens the description for all.
    return FLOOR if settings.document is None else LEAST


def _look_first(
    subject: TestedDescription, tools: Tools, http: Transport, recorder: Recorder, factory: CaseFactory
) -> tuple[Sent | None, tuple[tuple[str, str], ...]]:
    """Send the requests before the run, in the first worker: they show whether credentials and old demands hold.

    Gives the request that tried the credentials, if one did, and the scheme of each operation that needs an undeclared one.
    """
    settings, selected = subject.settings, subject.selected
    if settings.document is not None:
        return None, ()
    first_look = look_first(selected, subject.schemes, tools, http)
    known = Discoveries() if settings.corpus.cache is None else load(Path(settings.corpus.cache))
    bare = schemeless_maker(subject.operations, subject.origin)
    asking = AuthNeeds(subject.schemes, bare, tools.gate, http, factory)
    needs = list(asking.found(selected, dict(known.auth_needs)))
    recorder.keep(needs)
    if not known.is_empty:
        if settings.sources.learns:
            recorder.keep(confirmed(known.demands, selected, tools, http))
        shut = answering_405(known.never_allowed, tools, http, factory)
        # Where nothing else is left, all is tested: a run of nothing helps nobody.
        recorder.keep(shut if len(shut) < len(selected) else ())
    recorder.journal.flush()
    return first_look, tuple((note.label, note.pointer) for note in needs)


def _first_answers(settings: RunSettings, told: SchemaOpened, *, configured: bool) -> FirstAnswers | None:
    """Return the observer of the first responses, in the worker that opens the description for all."""
    if settings.document is not None:
        return None
    given, declared = settings.target.base_url, told.declared_path.rstrip("/")
    lacks = given is not None and declared and not urlsplit(given).path.rstrip("/").endswith(declared)
    wanted = {"header authorization", *told.credentials}
    given_names = (name for name, _ in settings.common.headers if f"header {name.lower()}" in wanted)
    return FirstAnswers(told.base_url, declared if lacks else "", configured, next(given_names, ""), told.ways_in)
