"""The records and messages of a worker about the description that it has opened."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.operation import Label
from checker.core.phases import CaseSource, phases_of_runs
from checker.core.request import BaseUrl, without_userinfo
from checker.core.security import ways_in
from checker.corpus.records import SchemaOpened
from checker.health import Safety, ends_access, looks_dangerous
from checker.kinds.protocol import OperationEntry
from checker.workers.description import Description, other_host
from checker.workers.messages import Opened, OperationCard, PhaseOrder
from checker.workers.recording.recorder import Recorder
from checker.workers.selected import SelectedOperations
from checker.workers.starting.subject import TestedDescription
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
from checker.workers.users import UsersCode


def tell_of_subject(subject: TestedDescription, recorder: Recorder) -> SchemaOpened:
    """Write down what was opened, and what is to be said of it."""
    told = replace(
        _told(subject.description, subject.selected, subject.settings, subject.origin),
        ways_in=ways_in(subject.schemes.declared.values()),
        auth_examples=subject.schemes.examples(subject.description.schema.described_login),
    )
    tell_of_description(recorder, subject.description, told)
    for note in subject.notes:
        recorder.note(note)
    tell_of_checks(recorder, subject.classes)
    tell_of_schemes(recorder, subject.schemes)
    schema, overrides = subject.description.schema, subject.settings.sources.overrides
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
        base_url=settings.report.sanitization.redaction.url(without_userinfo(schema.base_url or "")),
        document=description.digest,
        total=selected.total,
        selected=len(selected) + len(selected.broken),
        unreadable=len(selected.broken),
        fetched_from=other_host(settings, origin),
        credentials=schema.credentials,
        declared_path=schema.declared_path,
    )


def opened_of(incarnation: int, subject: TestedDescription, recorder: Recorder, base_url: str) -> Opened:
    """Return the message to the supervisor."""
    return Opened(
        incarnation=incarnation,
        journal=str(recorder.journal.path),
        document=subject.description.digest,
        base_url=base_url,
        operations=_cards(subject),
        concludes=subject.classes.concludes,
        cleans=subject.settings.target.safety == Safety.CREATE_OWN,
        works_alone=bool(subject.classes.works_alone),
    )


def ordered(opened: Opened, users: UsersCode, phases: Sequence[str]) -> Opened:
    """Return the opened description with the order and the weights that users want."""
    cards, orders = opened.operations, opened.orders
    labels = [Label(card.label) for card in cards]
    if users.order is not None:
        orders = tuple(PhaseOrder(phase, tuple(users.order(phase, labels))) for phase in phases)
    if users.weights is not None:
        weights = users.weights(labels)
        cards = tuple(replace(card, weight=weight) for card, weight in zip(cards, weights, strict=True))
    return replace(opened, operations=cards, orders=orders)


def _cards(subject: TestedDescription) -> tuple[OperationCard, ...]:
    selected, operations = subject.selected, subject.operations
    # `run` tests what looks dangerous at its end, `fuzz` hardly or not at all.
    is_ending = ends_access if subject.settings.kind == "fuzz" else looks_dangerous
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
            is_ending=is_ending(entry.path, entry.operation_id),
        )
        card = replace(card, max_examples=tuple(_numbers(entry, operations)))
        own = operations.of(entry)
        if own is not common:
            card = replace(card, continue_on_failure=own.continue_on_failure, phases=own.phases)
        cards.append(card)
    return tuple(cards)


def _numbers(entry: OperationEntry, operations: OperationResolver) -> Iterator[tuple[str, int]]:
    """Yield (phase, cases or sequences) where an operation has another number of them than usual."""
    for row in phases_of_runs():
        own = operations.of(entry, row.name).cases.max_examples
        if row.source is not CaseSource.LISTED and own != operations.common.cases.max_examples:
            yield row.name, own
