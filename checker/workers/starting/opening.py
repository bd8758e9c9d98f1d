"""Opens a description and lays out one worker's tools."""

import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.custom import class_checks
from checker.config.attributes import load_attribute
from checker.config.hooks_loading import load_all_hooks
from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.hooks import GLOBAL_HOOKS, HookContext, run_hooks
from checker.core.operation import Label
from checker.core.request import BaseUrl, without_userinfo
from checker.core.security import ways_in
from checker.core.send import Transport
from checker.corpus.discoveries import Discoveries, load
from checker.corpus.inflight import InflightWriter, Stage
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note, SchemaOpened
from checker.health.first_answers import FirstAnswers
from checker.health.safety import Safety, leaves_out
from checker.health.signs import looks_dangerous
from checker.phases.attempt import Tools
from checker.phases.making import CaseFactory
from checker.transport.settings import HttpSettings
from checker.workers.authentication.auth_needs import AuthNeeds
from checker.workers.authentication.credentials import CredentialKeeper
from checker.workers.authentication.first_look import look_first
from checker.workers.authentication.logins import LoginTraffic
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.authentication.signup import AccountHooks, Accounts, accounts_of
from checker.workers.class_checks import ClassChecks
from checker.workers.cleaning import gate_for
from checker.workers.context import WorkerContext
from checker.workers.description import Description, other_host, read_description, settled_target
from checker.workers.hill_climbing import hill_climber_of
from checker.workers.makers import open_makers
from checker.workers.messages import Opened, OperationCard, PhaseOrder
from checker.workers.operation_tools import (
    generation_rules,
    rendering,
)
from checker.workers.recording.investigation_budget import LAST, InvestigationBudget
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.served import Sent
from checker.workers.saved import SavedExamples
from checker.workers.selected import SelectedOperations
from checker.workers.starting.calling import Caller, Lanes, open_tools, schemeless_maker
from checker.workers.starting.collector import uncollected
from checker.workers.starting.configured_sources import Requested, keeper_of, wiring_of
from checker.workers.starting.constants import with_constants
from checker.workers.starting.records import RequestDisplay, open_recorder
from checker.workers.starting.transports import transport_of
from checker.workers.starting.verification import answering_405, confirmed
from checker.workers.telling import (
    tell_of_blocks,
    tell_of_checks,
    tell_of_description,
    tell_of_parameters,
    tell_of_schemes,
    tell_of_servers,
    tell_of_unread,
    tell_of_warning_settings,
)
from checker.workers.time_accounting import TimeAccounting
from checker.workers.users import ALL_SCHEMAS, UsersCode


class Contents(Struct, frozen=True):
    """The description, and those of its operations that are tested."""

    settings: RunSettings
    """Those of the project that the description is of."""
    description: Description
    operations: OperationResolver
    selected: SelectedOperations
    notes: tuple[Note, ...] = ()
    """What could not be taken in."""


class TestedDescription(Struct, frozen=True):
    """What is tested: the description as it was read, and what holds for its operations."""

    settings: RunSettings
    description: Description
    operations: OperationResolver
    classes: ClassChecks
    schemes: SchemeCredentials
    origin: BaseUrl
    selected: SelectedOperations
    notes: tuple[Note, ...] = ()
    """What could not be taken in."""


def open_worker_context(
    incarnation: int, settings: RunSettings, users: UsersCode = ALL_SCHEMAS
) -> WorkerContext:
    """Document, hooks, operations and tools of one incarnation.

    Raises `LoaderError`, `ConfigError`, `UsageError`, `StorageError`: what stops the run before it begins.
    """
    ledger = TimeAccounting(time.monotonic, settings.started_at)
    layout = RunLayout(Path(settings.corpus_dir))
    layout.create()
    subject = read_subject(settings, layout, users)
    settings, operations, origin = subject.settings, subject.operations, subject.origin
    shown = RequestDisplay(
        rendering(origin, operations), sends_as_made=not users.hooks.named("before_call")
    )
    recorder = open_recorder(incarnation, settings, subject.selected, operations, shown)
    told = _tell(subject, recorder)
    rules = generation_rules(operations, settings, subject.schemes, reuse=True, users=users)
    accounts = accounts_of(settings, subject.description.schema, recorder.note)
    makers = open_makers(settings, subject.selected, rules, recorder, _acting(users, accounts))
    asked = Requested(settings, subject.schemes, operations, accounts, users)
    keeper = _keeper(asked, origin, recorder)
    caller = Caller(origin, subject.schemes, keeper, users)
    lanes = Lanes.of(settings, users)
    gate = gate_for(settings.safety, layout, origin, subject.selected)
    tools = open_tools(settings, operations, caller, subject.classes, gate)
    chains = makers.chains(settings.sequences, origin.host, recorder.secrets.is_in)
    http = transport_of(settings)(origin, HttpSettings.of(operations.common), lanes.count)
    first_look, needs = _look_first(subject, tools, http, recorder, makers.factory)
    opened = _opened(incarnation, subject, recorder, told.base_url)
    opened = replace(ordered(opened, users, settings.phases), auth_needs=needs)
    return WorkerContext(
        settings=settings,
        operations=operations,
        opened=opened,
        selected=subject.selected,
        factory=makers.factory,
        unhooked=makers.unhooked,
        tools=tools,
        explorer=makers.explorer(incarnation, chains),
        hill_climber=hill_climber_of(operations, makers, incarnation),
        chains=chains,
        origin=origin,
        http=http,
        pacing=lanes.pacing,
        beside=lanes.beside,
        lane_count=lanes.count,
        slots=InflightWriter(layout.inflight(incarnation), lanes.slots),
        slot_count=lanes.slots,
        recorder=recorder,
        ledger=ledger,
        once_s=subject.description.once_s,
        saved=SavedExamples(settings.database, recorder.secrets.is_in),
        investigation_budget=_investigation_budget(settings, recorder),
        class_checks=subject.classes,
        credentials=keeper,
        first_answers=_first_answers(settings, told, configured=bool(asked.schemes.configured)),
        first_look=first_look,
        held_back={Label(card.label) for card in opened.operations if card.is_ending},
        making_stage=makers.stage,
        calling_stage=caller.stage("before_call", Stage.MAKE),
        judging_stage=caller.stage("after_call", Stage.JUDGE),
    )


def _acting(users: UsersCode, accounts: Accounts | None) -> UsersCode:
    """Code of users, after which logins take what an account of the run says."""
    return users if accounts is None else replace(users, hooks=AccountHooks(users.hooks, accounts))


def _keeper(asked: Requested, origin: BaseUrl, recorder: Recorder) -> CredentialKeeper | None:
    """What fetches credentials, whose logins are recorded; None where there are none to fetch."""
    logins = LoginTraffic(recorder.traffic)
    wiring = logins.over(wiring_of(asked.settings, origin))
    keeper = keeper_of(asked, wiring, recorder.secrets)
    if keeper is not None:
        keeper.fetched = logins.write
    return keeper


def _investigation_budget(settings: RunSettings, recorder: Recorder) -> InvestigationBudget:
    """What looking into failures may cost this worker."""
    is_endless = settings.kind == "fuzz"
    ends_at_failure = is_endless and not settings.common.continue_on_failure
    investigation_budget = InvestigationBudget(
        settings.shrink_share,
        recorder.defects,
        is_open_ended=is_endless or settings.max_time_s is not None,
        credit=LAST if ends_at_failure else 0,
    )
    recorder.defects.reopens = investigation_budget.reopens
    return investigation_budget


def _look_first(
    subject: TestedDescription,
    tools: Tools,
    http: Transport,
    recorder: Recorder,
    factory: CaseFactory,
) -> tuple[Sent | None, tuple[tuple[str, str], ...]]:
    """What is sent before the run, by the first worker for all: to see whether credentials and old demands hold.

    Gives the request that tried the credentials, if one did, and the scheme of each operation that needs an undeclared one.
    """
    settings, selected = subject.settings, subject.selected
    if settings.document is not None:
        return None, ()
    first_look = look_first(selected, subject.schemes, tools, http)
    known = Discoveries() if settings.cache_dir is None else load(Path(settings.cache_dir))
    bare = schemeless_maker(subject.operations, subject.origin)
    asking = AuthNeeds(subject.schemes, bare, tools.gate, http, factory)
    needs = list(asking.found(selected, dict(known.auth_needs)))
    recorder.keep(needs)
    if not known.is_empty:
        if settings.learns:
            recorder.keep(confirmed(known.demands, selected, tools, http))
        shut = answering_405(known.never_allowed, tools, http, factory)
        # Where nothing else is left, all is tested: a run of nothing helps nobody.
        recorder.keep(shut if len(shut) < len(selected) else ())
    recorder.journal.flush()
    return first_look, tuple((note.label, note.pointer) for note in needs)


def _opened(
    incarnation: int, subject: TestedDescription, recorder: Recorder, base_url: str
) -> Opened:
    """What the supervisor is told of it."""
    return Opened(
        incarnation=incarnation,
        journal=str(recorder.journal.path),
        document=subject.description.digest,
        base_url=base_url,
        operations=_cards(subject.selected, subject.operations),
        concludes=subject.classes.concludes,
        cleans=subject.settings.safety == Safety.CREATE_OWN,
        works_alone=bool(subject.classes.works_alone),
    )


def ordered(opened: Opened, users: UsersCode, phases: Sequence[str]) -> Opened:
    """What was opened, with the order and the weights that users want."""
    cards, orders = opened.operations, opened.orders
    labels = [Label(card.label) for card in cards]
    if users.order is not None:
        orders = tuple(PhaseOrder(phase, tuple(users.order(phase, labels))) for phase in phases)
    if users.weights is not None:
        weights = users.weights(labels)
        cards = tuple(
            replace(card, weight=weight) for card, weight in zip(cards, weights, strict=True)
        )
    return replace(opened, operations=cards, orders=orders)


def _first_answers(
    settings: RunSettings, told: SchemaOpened, *, configured: bool
) -> FirstAnswers | None:
    """What looks at the first answers: of the worker that opens the description for all."""
    if settings.document is not None:
        return None
    given, declared = settings.base_url, told.declared_path.rstrip("/")
    lacks = (
        given is not None and declared and not urlsplit(given).path.rstrip("/").endswith(declared)
    )
    wanted = {"header authorization", *told.credentials}
    given_names = (
        name for name, _ in settings.common.headers if f"header {name.lower()}" in wanted
    )
    return FirstAnswers(
        told.base_url,
        declared if lacks else "",
        configured,
        next(given_names, ""),
        told.ways_in,
    )


def read_subject(
    settings: RunSettings, layout: RunLayout, users: UsersCode = ALL_SCHEMAS
) -> TestedDescription:
    """Hooks and description. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    return subject_of(read_contents(settings, layout, users), users)


def read_contents(
    settings: RunSettings, layout: RunLayout, users: UsersCode = ALL_SCHEMAS
) -> Contents:
    """What there is to be tested, wherever the target may be. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    # What is wrong with them is told before anything is fetched.
    load_all_hooks(settings.certain_hooks)
    with uncollected():
        description = read_description(settings, layout, users.description)
    schema = description.schema
    settings = settings.for_project(schema.title)
    load_all_hooks(settings.hooks)
    # Hooks bring sources of constants.
    settings, unread = with_constants(settings)
    run_hooks(GLOBAL_HOOKS.named("after_load_schema"), "after_load_schema", HookContext(), schema)
    # After hooks are loaded: they bring checks.
    operations = OperationResolver(settings.operations)
    level = Safety(settings.safety)
    with uncollected():
        selected = SelectedOperations(
            schema,
            settings.selection,
            lambda entry: bool(operations.of(entry).phases) and not leaves_out(level, entry),
            users.transitions,
        )
    return Contents(settings, description, operations, selected, tuple(unread))


def subject_of(contents: Contents, users: UsersCode = ALL_SCHEMAS) -> TestedDescription:
    """What is needed to send something, too. Raises `ConfigError` and `UsageError`."""
    settings, operations = contents.settings, contents.operations
    schema = contents.description.schema
    classes = ClassChecks(
        class_checks(operations.layers.checks_somewhere(), operations.common.check_settings)
    )
    schemes = SchemeCredentials(schema.security_schemes, operations.common.authentication)
    for label, name in settings.auth_needs:
        schemes.need(Label(label), name)
    origin = settled_target(schema, settings, operations, users.hooks)
    named = settings.app
    schema.app = users.app if named is None else load_attribute(named, what="application")
    return TestedDescription(
        settings=settings,
        description=contents.description,
        operations=operations,
        classes=classes,
        schemes=schemes,
        origin=origin,
        selected=contents.selected,
        notes=contents.notes,
    )


def _tell(subject: TestedDescription, recorder: Recorder) -> SchemaOpened:
    """Write down what was opened, and what is to be said of it."""
    told = replace(
        _told(subject.description, subject.selected, subject.settings, subject.origin),
        ways_in=ways_in(subject.schemes.declared.values()),
        auth_examples=subject.schemes.examples,
    )
    tell_of_description(recorder, subject.description, told)
    for note in subject.notes:
        recorder.note(note)
    tell_of_checks(recorder, subject.classes)
    tell_of_schemes(recorder, subject.schemes)
    schema, overrides = subject.description.schema, subject.settings.overrides
    tell_of_parameters(recorder, schema, overrides, subject.schemes)
    tell_of_blocks(recorder, schema, subject.settings.operations)
    tell_of_servers(recorder, subject.description, subject.settings.operations)
    tell_of_warning_settings(recorder, subject.selected, subject.operations)
    tell_of_unread(recorder, subject.selected, subject.settings.phases[0])
    return told


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
        selected=len(selected) + len(selected.broken),
        unreadable=len(selected.broken),
        fetched_from=other_host(settings, origin),
        credentials=schema.credentials,
        declared_path=schema.declared_path,
    )


def _cards(
    selected: SelectedOperations, operations: OperationResolver
) -> tuple[OperationCard, ...]:
    common, model = operations.common, selected.resources
    begins = frozenset(model.roots)
    cards = []
    for entry in selected.entries:
        card = OperationCard(
            str(entry.label),
            entry.method,
            model.uses[entry.label].resource,
            model.layers[entry.label],
            entry.label in model.producers,
            entry.label in begins,
            is_ending=looks_dangerous(entry.path, entry.operation_id),
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
