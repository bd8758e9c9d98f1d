"""The records and messages of a worker about the description that it has opened."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct, json
from msgspec.structs import replace

from checker.config.filters import Selectable, unmatched
from checker.config.operation_settings import OperationLayers
from checker.config.overrides import Overrides
from checker.config.settings import credentials_in
from checker.config.value_kinds import did_you_mean_or_all
from checker.core.errors import did_you_mean
from checker.core.operation import BrokenOperation, Operation
from checker.core.phases import CaseSource, phases_of_runs
from checker.core.providers import registered_names
from checker.core.request import Location, without_userinfo
from checker.core.resources import SAFE
from checker.core.schema import SchemaWarning, WarningKind
from checker.core.security import ways_in
from checker.core.shards import Partition, digest_of
from checker.corpus.records import OWN_WARNINGS, Note, OperationDescribed, SchemaOpened
from checker.health import Safety, ends_access, looks_dangerous, switches_access
from checker.kinds.protocol import ApiSchema
from checker.phases.case_factory import DescriptionReader
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.messages import Opened, OperationCard
from checker.workers.recording.coverage import documented_types, enumerations_of
from checker.workers.recording.recorder import Recorder
from checker.workers.starting.shards import helpers_of, helping
from checker.workers.subject import Contents, Description, TestedDescription, other_host
from checker.workers.users import UsersCode

if TYPE_CHECKING:
    # The compiler imports the writer of requests, which the collection of tests does not need.
    from checker.generation.program import OperationProgram

_SEQUENCES_OF_READS: Final = 8
"""Sequences for each operation at the end of a sequence, if no operation changes anything. More sequences would repeat requests."""
_IN_A_BLOCK: Final = "{option} = {value!r}` of `[[operations]]"


def tell_of_parameters(recorder: Recorder, schema: ApiSchema, overrides: Overrides, schemes: SchemeCredentials) -> None:
    """Warn about configured values for parameters that no operation has. Bodies are not tested, because their members are not listed."""
    wanted = [one for one in overrides.parameters if one.location is not Location.BODY]
    if not wanted:
        return
    entries = [one for one in schema.checked_entries() if not isinstance(one, BrokenOperation)]
    names = {entry.label: tuple(schema.parameter_names(entry.label)) for entry in entries}
    carried = tuple(name for _, name in (one.place for one in schemes.declared.values()))
    for override in wanted:
        about = [one for one in entries if Overrides((override,)).of(one).parameters]
        if not about:
            # `tell_of_blocks` reports blocks whose filters match no operation.
            continue
        known = list(dict.fromkeys(name for one in about for name in (*names[one.label], *carried)))
        locations = [override.location] if override.location is not None else list(Location)
        if not any(override.names(location, name) for location in locations for name in known):
            place = ".".join((*filter(None, (override.location,)), *override.path))
            hint = did_you_mean(override.path[0], known)
            text = f"none of its operations has a parameter {override.path[0]!r}{hint}"
            recorder.note(Note("unmatched_parameter", "", f"parameters.{place}", text))


def tell_of_blocks(recorder: Recorder, schema: ApiSchema, operations: OperationLayers) -> None:
    """Warn about filters of `[[operations]]` that match no operation, so that their settings have no effect.

    If there are `[[project]]` tables, blocks at the root are not reported, because they may be meant for another API.
    """
    blocks = [one for one in operations.blocks if not one.is_shared]
    if not blocks:
        return
    readable: list[Selectable] = []
    # A block may exclude operations that cannot be read.
    others: list[Selectable] = [*schema.dropped()]
    for entry in schema.checked_entries():
        (others if isinstance(entry, BrokenOperation) else readable).append(entry)
    for block in blocks:
        for text in unmatched(block.filters, readable, others, written=_IN_A_BLOCK):
            recorder.note(Note("unmatched_filter", "", "", text))


def tell_of_servers(recorder: Recorder, description: Description, operations: OperationLayers) -> None:
    """Warn about configured values for variables that no server of the description has, and values that it does not list."""
    given = dict.fromkeys(pair for one in operations.everywhere() for pair in one.server_variables)
    declared = description.schema.server_variables_declared if given else None
    if declared is None:
        return
    for name, value in given:
        if name not in declared:
            text = f"no server of the description has a variable {name!r}{did_you_mean_or_all(name, sorted(declared))}"
        elif declared[name] and value not in declared[name]:
            hint = did_you_mean_or_all(value, sorted(declared[name]))
            text = f"{value!r} is not in the `enum` of the server variable {name!r}{hint}"
        else:
            continue
        recorder.note(Note("unused_server_variable", "", f"servers.variables.{name}", text))


class RecordingReader(Struct, DescriptionReader):
    """Records facts about a description that are found while cases are generated."""

    recorder: Recorder
    phase: str  # The first phase. Faults that prevent the tests of an operation are recorded for it.

    def compiled(self, program: "OperationProgram") -> None:
        """Record which parts of an operation are not tested, for the summary."""
        label = program.operation.label
        if program.fault is not None:
            self.recorder.gave_up(label, self.phase, program.fault)
        for pointer, keyword in program.opaque.items():
            self.recorder.note(Note("opaque", label, pointer, keyword))
        for place, text in program.mismatched.items():
            self.recorder.note(Note(WarningKind.DICTIONARY_MISMATCH.value, label, place, f"{place}: {text}"))
        for pointer, reason in program.left_out.items():
            self.recorder.note(Note(WarningKind.LEFT_OUT.value, label, pointer, reason))

    def met(self, operation: Operation) -> None:
        """Record the facts about an operation that coverage needs, and the faults of its description."""
        for warning in operation.warnings():
            self.warned(warning)
        body = ("body",) if operation.bodies else ()
        described = OperationDescribed(
            operation.label,
            tuple(operation.tags),
            # 405 is hardly ever documented, so no schema is compiled for it.
            operation.contract.plan(405, None).documented_statuses,
            (*(f"{one.location.value} {one.name}" for one in operation.parameters), *body),
            bool(operation.security),
            tuple((one.place, member) for one in enumerations_of(operation) for member in one.members.values()),
            tuple(documented_types(operation)),
        )
        self.recorder.keep([described])

    def warned(self, warning: SchemaWarning) -> None:
        """Record a fault of the description that prevents the test of a part of an operation."""
        self.recorder.note(Note(warning.kind.value, warning.label, warning.pointer, warning.message))


def tell_of_subject(subject: TestedDescription, recorder: Recorder, partition: Partition | None) -> SchemaOpened:
    """Record the description that was opened, with everything about it that readers of the results need."""
    description, selected, settings, operations = (
        subject.description, subject.selected, subject.settings, subject.operations,
    )  # fmt: skip
    schema, schemes = description.schema, subject.schemes
    mine = tested_labels(subject, partition)
    broken = [one for one in selected.broken if one.label in mine]
    told = SchemaOpened(
        title=schema.title,
        specification=schema.specification,
        base_url=settings.report.sanitization.redaction.url(without_userinfo(schema.base_url or "")),
        document=description.digest,
        total=selected.total,
        selected=len(mine),
        unreadable=len(broken),
        fetched_from=other_host(settings, subject.origin),
        credentials=schema.credentials,
        declared_path=schema.declared_path,
        ways_in=ways_in(schemes.declared.values()),
        tokens=tuple(schemes.tokens),
        auth_examples=schemes.examples(schema.described_login, subject.origin.plain),
        shard="" if settings.selection.shard is None else str(settings.selection.shard),
        partition="" if partition is None else digest_of(partition),
        changed_since=settings.report.sanitization.redaction.url(settings.selection.changed_since or ""),
    )
    recorder.journal.append(told)
    for note in (*description.notes, *subject.notes):
        recorder.note(note)
    if subject.classes.works_alone:
        text = "it has `after_run` and no `merge`: the results of several workers cannot be merged"
        recorder.note(Note("alone", subject.classes.works_alone, "", text))
    for name, text in schemes.unused:
        recorder.note(Note(WarningKind.UNUSED_OPENAPI_AUTH.value, "", f"auth.openapi.{name}", text))
    tell_of_parameters(recorder, schema, settings.sources.overrides, schemes)
    tell_of_blocks(recorder, schema, settings.operations)
    tell_of_servers(recorder, description, settings.operations)
    # Reports only know the names of operations, so warnings that differ from the common settings are recorded.
    for entry in () if operations.is_uniform else selected.entries:
        own = operations.of(entry).warnings
        if own != operations.common.warnings:
            recorder.note(Note(OWN_WARNINGS, entry.label, "", json.encode(own).decode()))
    for unread in broken:
        recorder.operation_error(unread.label, settings.phases[0], "Schema Error", unread.error)
    for dropped in selected.dropped:
        recorder.note(Note(dropped.kind.value, dropped.label, dropped.pointer, dropped.message))
    for text in selected.unmatched:
        recorder.note(Note("unmatched_filter", "", "", text))
    recorder.journal.flush()
    return told


def tested_labels(subject: Contents, partition: Partition | None) -> tuple[str, ...]:
    """Return the labels of the operations that the run tests or reports as unreadable."""
    labels: tuple[str, ...] = (*subject.selected, *(one.label for one in subject.selected.broken))
    shard = subject.settings.selection.shard
    if shard is not None and partition is not None:
        labels = partition[shard.number - 1]
    return tuple(label for label in labels if subject.is_tested(label))


def opened_of(
    subject: TestedDescription, recorder: Recorder, base_url: str, users: UsersCode, partition: Partition | None
) -> Opened:
    """Return the message to the supervisor, with the user's order and weights of operations."""
    cards, labels = list(_cards(subject)), list(subject.selected)
    weights = users.weights(labels)
    if weights is not None:
        cards = [replace(card, weight=weight) for card, weight in zip(cards, weights, strict=True)]
    # The others stay selected, because sequences, credentials and values depend on the whole description in each shard.
    mine = set(tested_labels(subject, partition))
    helpers = helpers_of(subject, mine)
    cards = [
        helping(card, subject.settings) if card.label in helpers else card
        for card in cards
        if card.label in mine or card.label in helpers
    ]
    orders = ((phase, users.order(phase, labels)) for phase in subject.settings.phases)
    credentials = credentials_in(subject.settings)
    if subject.origin.userinfo:
        credentials = (*credentials, "user info of the base URL")
    return Opened(
        journal=str(recorder.journal.path),
        document=subject.description.digest,
        base_url=base_url,
        operations=tuple(cards),
        concludes=subject.classes.concludes,
        cleans=subject.settings.target.safety == Safety.CREATE_OWN,
        works_alone=bool(subject.classes.works_alone),
        credentials=credentials or registered_names(users.auth),
        changed=None if subject.changed is None else tuple(sorted(subject.changed)),
        orders=tuple((phase, tuple(order)) for phase, order in orders if order is not None),
    )


def _cards(subject: TestedDescription) -> Iterator[OperationCard]:
    operations, model = subject.operations, subject.selected.resources
    # `run` tests operations that look dangerous at its end, `fuzz` hardly or not at all.
    is_ending = ends_access if subject.settings.kind == "fuzz" else looks_dangerous
    begins = frozenset(model.roots)
    reading = [group for group in model.groups if all(model.uses[label].method in SAFE for label in group)]
    most = {label: _SEQUENCES_OF_READS * len(group) for group in reading for label in group}
    for entry in subject.selected.entries:
        own = operations.of(entry)
        is_usual = own is operations.common
        # Phases in which the operation has another number of cases or sequences than usual.
        numbers: list[tuple[str, int]] = []
        for row in phases_of_runs():
            count = operations.of(entry, row.name).cases.max_examples
            if row.source is CaseSource.CHAINED and entry.label in most:
                count = min(count, most[entry.label])
            if row.source is not CaseSource.LISTED and count != operations.common.cases.max_examples:
                numbers.append((row.name, count))
        yield OperationCard(
            str(entry.label),
            entry.method,
            model.uses[entry.label].resource,
            model.layers[entry.label],
            entry.label in model.producers,
            entry.label in begins,
            max_examples=tuple(numbers),
            continue_on_failure=None if is_usual else own.continue_on_failure,
            phases=() if is_usual else own.phases,
            is_ending=is_ending(entry.path, entry.operation_id) or switches_access(entry.method, entry.path),
        )
