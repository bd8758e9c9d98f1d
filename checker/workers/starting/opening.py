"""Creates one worker's tools for a description."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from msgspec.structs import replace

from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.constraints import Constraint
from checker.core.digests import digest_int
from checker.core.errors import IncorrectUsage, UsageError
from checker.core.hooks import COMPONENTS, HookRegistry, HookSource, metric_named
from checker.core.operation import Label
from checker.core.phases import EXPLORATION
from checker.core.send import Transport
from checker.corpus.discoveries import Discoveries, Discovery, load
from checker.corpus.inflight import InflightWriter
from checker.corpus.journal import Journals, JournalWriter, last_run
from checker.corpus.layout import RunLayout
from checker.corpus.records import DemandHeard, Note, SchemaOpened, SignalsSeen, ValueGone, ValueSeen
from checker.corpus.snapshot import read_snapshot
from checker.corpus.traffic import InterestingAndLast, TrafficWriter, segment_bytes
from checker.health import FirstAnswers
from checker.phases.attempt import CallHooks, Tools
from checker.phases.case_factory import CaseFactory, ReusedValues
from checker.phases.case_parts import literal_case
from checker.phases.sequences import SequenceBuilder
from checker.refusals.reading import demands_in, may_complain
from checker.values.pool import LayeredPool, ValuePool
from checker.workers.authentication.logins import LoginTraffic, UserTraffic
from checker.workers.authentication.opening import AuthNeeds, answer_to, discovery_case, look_first
from checker.workers.authentication.signup import AccountHooks, accounts_of
from checker.workers.cleaning import gate_for
from checker.workers.context import TimeAccounting, WorkerContext
from checker.workers.explorer import Explorer
from checker.workers.messages import PEER_RECORDS
from checker.workers.observers.creations import CreationHistory
from checker.workers.observers.demands import DemandLearner, declared_names
from checker.workers.observers.hill_climbing import HillClimber
from checker.workers.observers.knowledge import Knowledge
from checker.workers.observers.pacing import Lanes
from checker.workers.observers.saved_examples import SavedExamples
from checker.workers.observers.signals import SignalSet
from checker.workers.observers.witnesses import Sent
from checker.workers.operation_tools import checks_by_case, generation_rules, rendering
from checker.workers.recording.investigation_budget import FLOOR, LAST, LEAST, InvestigationBudget
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.traffic import CheckOutcomes, Components, Traffic
from checker.workers.selected import SelectedOperations
from checker.workers.starting.announcing import RecordingReader, opened_of, tell_of_subject
from checker.workers.starting.calling import keeper_of, open_tools, schemeless_maker, stages_of, transport_of, wiring_of
from checker.workers.starting.shards import partition_of
from checker.workers.subject import RUN_ENGINE, TestedDescription, give_engine, read_subject
from checker.workers.users import ALL_SCHEMAS, UsersCode


def remember(layout: RunLayout, signals: SignalSet, values: ValuePool) -> list[Note]:
    """Load the signals and values of earlier runs. Stale values lose their rank over time. Return a note for each damaged file.

    `PeerJournals` tells what workers of this run have learned.
    """
    snapshot, run = read_snapshot(layout), last_run(layout)
    below = None if run is None else run.first
    journals = Journals(layout, below=below, kinds=(SignalsSeen, ValueSeen, ValueGone))
    for record in chain(snapshot.records, (record for _, record in journals.read_new())):
        match record:
            case SignalsSeen():
                signals.learn((number for number, _ in record.ids), is_earlier=True)
            case ValueSeen() | ValueGone():
                values.absorb(record)
            case _:
                pass  # Workers need no other records.
    return [*snapshot.notes, *journals.notes()]


def _open_recorder(incarnation: int, subject: TestedDescription, *, sends_as_made: bool) -> Recorder:
    """Return the journal and the traffic of an incarnation. Raises `StorageError`.

    `sends_as_made`: whether no hook changes cases before they are sent.
    """
    settings, operations, secrets = subject.settings, subject.operations, subject.secrets
    layout = RunLayout(Path(settings.corpus.folder))
    writer = TrafficWriter(
        layout.traffic(incarnation, os.getpid()),
        # Only a report of traffic reads all interactions.
        None if settings.report.keeps_traffic else InterestingAndLast(),
        segment_bytes=segment_bytes(settings.corpus.max_bytes, settings.processes.workers),
    )
    return Recorder(
        journal=JournalWriter(
            layout.journal(incarnation, os.getpid()),
            secrets=secrets,
            recalls=() if settings.kind == "fuzz" else PEER_RECORDS,
        ),
        traffic=Traffic(
            incarnation,
            writer,
            CheckOutcomes(operations.common.checks, checks_by_case(operations)),
            secrets,
            most=settings.report.truncation.max_recorded_payload_size,
            components=Components(sends_as_made=sends_as_made),
        ),
        secrets=secrets,
        reproduction=rendering(subject.origin, operations),
    )


def _open_knowledge(settings: RunSettings, selected: SelectedOperations, recorder: Recorder) -> Knowledge:
    """Return what a worker knows at its start: in `fuzz`, what earlier incarnations learned. Damaged files are noted."""
    is_fuzz, secrets = settings.kind == "fuzz", recorder.secrets
    learns = settings.sources.learns
    demands = DemandLearner(at_once=is_fuzz, operations=selected, secrets=secrets) if learns else None
    creations = CreationHistory(
        selected.resources, selected.variables_below(), recorder.reproduction, recorder.traffic.components
    )
    if is_fuzz:
        pool = ValuePool(selected.resources, selected.names, secrets)
        knowledge = Knowledge(pool, demands=demands, creations=creations, journal=recorder.journal)
        for note in remember(RunLayout(Path(settings.corpus.folder)), knowledge.signals, pool):
            recorder.note(note)
        return knowledge
    unordered = settings.sources.unordered_phases
    mixes_phases = settings.max_time_s is not None
    layers = LayeredPool(selected.resources, selected.names, secrets, unordered=unordered, mixes_phases=mixes_phases)
    if demands is not None:
        demands.layers = layers
    return Knowledge(layers, demands=demands, creations=creations, journal=recorder.journal)


_PARTS = (*COMPONENTS, "case")


def _factories(
    subject: TestedDescription, recorder: Recorder, knowledge: Knowledge, users: UsersCode
) -> tuple[CaseFactory, CaseFactory | None]:
    """Return the factory of cases, and a factory of cases before `filter`, `map` and `flatmap` hooks change them.

    The second factory is None if `before_generate` hooks control generation, because it would draw other cases without
    them. Faults that are found while programs are compiled are passed to the recorder.
    """
    settings, selected = subject.settings, subject.selected
    references = selected.resources.naming_places
    rules = generation_rules(
        subject.operations, settings, subject.schemes, reuse=True, users=users, references=references
    )
    values = ReusedValues(knowledge.values.view, (*settings.sources.reusing_phases, EXPLORATION.name))
    reader = RecordingReader(recorder, settings.phases[0])

    def factory(hooks: HookSource) -> CaseFactory:
        return CaseFactory(selected, rules, values, hooks, reader=reader, is_first_of_path=selected.is_first_of_path)

    hooked = factory(users.hooks)
    if users.has_values:
        hooked.values = replace(values, users=users)
    if knowledge.demands is not None:
        hooked.learner = knowledge.demands
    decides = any(users.hooks.named(f"before_generate_{part}") for part in _PARTS)
    return hooked, None if decides else factory(HookRegistry())


_MOST = 100  # Requests.


def confirmed(
    known: Iterable[Discovery], selected: SelectedOperations, tools: Tools, http: Transport
) -> Iterator[DemandHeard]:
    """Yield the demands that the target makes again. The refused request is sent once more, once for all demands of a case."""
    cases: dict[str, list[Discovery]] = {}
    for one in known:
        if one.label in selected:
            cases.setdefault(repr((one.label, one.request)), []).append(one)
    for together in islice(cases.values(), _MOST):
        first = together[0]
        operation = selected[Label(first.label)]
        case = literal_case(operation, first.request, "discovery", "")
        # The description may have changed.
        answer, demands = answer_to(case, tools.maker, tools.gate, http), set[Constraint]()
        if answer is not None and may_complain(operation.status_of(answer)):
            demands.update(demands_in(case, answer, declared_names(operation)))
        for one in together:
            if one.demand in demands:
                yield DemandHeard(one.label, one.demand, "", refused=(one.request,))


def answering_405(labels: Iterable[str], tools: Tools, http: Transport, factory: CaseFactory) -> Iterator[Note]:
    """Yield a warning for each of these operations that answers 405 again, to one request each. Such operations are not tested."""
    for label in islice((Label(one) for one in labels if one in factory.operations), _MOST):
        case = discovery_case(factory, label)
        answer = None if case is None else answer_to(case, tools.maker, tools.gate, http)
        if answer is not None and answer.status_code == 405:
            yield Note(
                "method_not_allowed", label, "", "405 once more, after nothing but 405 in an earlier run: not tested"
            )


def open_worker_context(incarnation: int, settings: RunSettings, users: UsersCode = ALL_SCHEMAS) -> WorkerContext:
    """Return the document, hooks, operations and tools of one incarnation.

    Raises `LoaderError`, `ConfigError`, `UsageError`, `StorageError` for problems that stop the run before it begins.
    """
    ledger = TimeAccounting(time.monotonic, settings.processes.started_at)
    layout = RunLayout(Path(settings.corpus.folder))
    layout.create()
    subject = read_subject(settings, layout, users)
    with ExitStack() as undone:
        context = _laid_out(incarnation, subject, users, ledger, undone)
        undone.pop_all()
    return context


def _laid_out(
    incarnation: int, subject: TestedDescription, users: UsersCode, ledger: TimeAccounting, undone: ExitStack
) -> WorkerContext:
    """Return the context of a worker. If an error occurs, `undone` closes everything that was opened."""
    settings, operations, origin, selected = subject.settings, subject.operations, subject.origin, subject.selected
    recorder = _open_recorder(incarnation, subject, sends_as_made=not users.hooks.named("before_call"))
    undone.callback(recorder.release)
    logins = LoginTraffic(recorder.traffic)
    undone.callback(RUN_ENGINE.set, None)
    give_engine(subject, users, UserTraffic(logins, subject.description.schema.credentials))
    knowledge = _open_knowledge(settings, selected, recorder)
    partition = partition_of(subject)
    told = tell_of_subject(subject, recorder, partition)
    accounts = accounts_of(settings, subject.description.schema, recorder.note)
    # Half of the valid logins use the account of the run.
    acting = users if accounts is None else replace(users, hooks=AccountHooks(users.hooks, accounts))
    factory, unhooked = _factories(subject, recorder, knowledge, acting)
    subject.keeper = keeper = keeper_of(subject, logins.over(wiring_of(settings, origin)), users, accounts)
    if keeper is not None:
        keeper.logins, keeper.recorder = logins, recorder
    layout = RunLayout(Path(settings.corpus.folder))
    lanes = Lanes.of(settings, is_watched=bool(CallHooks.of(users.hooks) or users.told))
    tools = open_tools(subject, users, gate_for(settings.target.safety, layout, origin, selected))
    chains = SequenceBuilder(factory, selected.resources, settings.sources.sequences, origin.host, recorder.secrets)
    # No other incarnation makes the same random choices.
    chance = Random(digest_int(str(settings.seed), "explorer", str(incarnation)))
    http = transport_of(settings)(origin, operations.common.http, lanes.count)
    undone.callback(http.close)
    slots = InflightWriter(layout.inflight(incarnation), lanes.slots)
    undone.callback(slots.close)
    first_look, needs = _look_first(subject, tools, http, recorder, factory)
    opened = opened_of(subject, recorder, told.base_url, users, partition)
    renews = keeper is not None and any(source.is_kept for source in keeper.sources.values())
    opened = replace(opened, auth_needs=needs, renews=renews)
    return WorkerContext(
        subject=subject,
        opened=opened,
        factory=factory,
        unhooked=unhooked,
        tools=tools,
        explorer=Explorer(factory, selected.resources, chance, chains),
        hill_climber=_hill_climber(operations, factory, f"{settings.seed}", incarnation),
        http=http,
        lanes=lanes,
        slots=slots,
        recorder=recorder,
        knowledge=knowledge,
        ledger=ledger,
        saved=SavedExamples(settings.sources.database, recorder.secrets),
        investigation_budget=_investigation_budget(settings, recorder, len(selected)),
        first_answers=_first_answers(settings, told, configured=bool(subject.schemes.configured)),
        first_look=first_look,
        held_back={Label(card.label) for card in opened.operations if card.is_ending},
        stages=stages_of(users, keeper, operations.layers.checks_somewhere()),
    )


def _hill_climber(
    operations: OperationResolver, factory: CaseFactory, seed: str, incarnation: int
) -> HillClimber | None:
    """Return the hill climber; None if no metric is configured. Raises `UsageError` for an unknown metric."""
    asked = {name for own in operations.layers.everywhere() for name in own.cases.maximize}
    if not asked:
        return None
    try:
        for name in asked:
            metric_named(name)
    except IncorrectUsage as error:
        raise UsageError(f"generation.maximize: {error}") from error
    chance = Random(digest_int(seed, "hill_climber", str(incarnation)))
    return HillClimber(operations, factory, chance)


def _investigation_budget(settings: RunSettings, recorder: Recorder, operations: int) -> InvestigationBudget:
    """Return the budget of this worker for investigations of failures, for this many operations."""
    is_endless = settings.kind == "fuzz"
    usually_ends = settings.has_no_end and not settings.common.continue_on_failure
    ends_at_failure = is_endless and (usually_ends or settings.verdict.max_failures == 1)
    is_open_ended = is_endless or settings.max_time_s is not None
    # Each operation has a part of the floor. If the number of cases is unknown, the worker has it instead.
    floor = max(LEAST, FLOOR // max(1, operations))
    if is_open_ended:
        # The first worker opens the description for all.
        floor = FLOOR if settings.document is None else LEAST
    investigation_budget = InvestigationBudget(
        settings.sources.shrink_share,
        recorder.defects,
        is_open_ended=is_open_ended,
        spares_known_causes=not is_endless and settings.max_time_s is not None,
        floor=floor,
        credit=LAST if ends_at_failure else 0,
    )
    recorder.defects.reopens = investigation_budget.reopens
    return investigation_budget


def _look_first(
    subject: TestedDescription, tools: Tools, http: Transport, recorder: Recorder, factory: CaseFactory
) -> tuple[Sent | None, tuple[tuple[str, str], ...]]:
    """Send the requests before the run, in the first worker, to find out whether credentials and old demands still hold.

    Returns the request that tested the credentials, if there was one, and the scheme of each operation that needs an
    undeclared one.
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
        shut = list(answering_405(known.never_allowed, tools, http, factory))
        # If all operations answer 405, none is excluded.
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
