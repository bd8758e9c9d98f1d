"""The outline of a run and the graph of its operations. Both are derived from the description; nothing is sent."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from msgspec import Struct

from checker.config.settings import RunSettings
from checker.core.errors import CheckerError
from checker.core.hooks import GLOBAL_HOOKS, HookContext
from checker.core.operation import Label
from checker.core.phases import CaseSource, phase_named
from checker.core.request import Location
from checker.core.resources import ResourceModel
from checker.corpus.layout import RunLayout
from checker.generation.hooks import ComponentHooks
from checker.kinds.protocol import ApiOperation
from checker.phases.listing import ListingContext, lister_of
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.operation_tools import generation_rules
from checker.workers.starting.announcing import tested_labels
from checker.workers.starting.shards import partition_of
from checker.workers.subject import Contents, read_contents


class OutlinedInput(Struct, frozen=True):
    """One input of an operation: a parameter, or an argument in the body."""

    name: str
    location: str  # `path`, `query`, ...; `body` for arguments that are sent in bodies.
    is_required: bool = False


class OutlinedOperation(Struct, frozen=True):
    """The facts that are known about an operation before the run."""

    label: str
    method: str
    path: str
    operation_id: str | None
    tags: tuple[str, ...]
    deprecated: bool
    inputs: tuple[OutlinedInput, ...]
    media_types: tuple[str, ...]  # Media types in which the body may be sent.
    phases: tuple[str, ...]  # Phases of the run that send requests to the operation.


class RunOutline(Struct, frozen=True):
    """The part of a description that a run tests."""

    title: str
    specification: str
    total: int  # Number of operations before filters.
    filters: tuple[str, ...]  # The filters, as options of the command line.
    unmatched: tuple[str, ...]  # Sentences about filters that match nothing.
    operations: tuple[OutlinedOperation, ...]
    broken: tuple[tuple[str, str], ...]  # (label, why it cannot be read) of operations that would otherwise be tested.

    @property
    def selected(self) -> int:
        """Return the number of selected operations, the unreadable ones included."""
        return len(self.operations) + len(self.broken)


def read_outline(settings: RunSettings, layout: RunLayout) -> RunOutline:
    """Return the operations that a run with these settings would test. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    contents = read_contents(settings, layout)
    schema, selected, settings = contents.description.schema, contents.selected, contents.settings
    mine = set(tested_labels(contents, partition_of(contents)))
    filters = [f"--{one.option} {one.value}".rstrip() for one in settings.selection.filters.specs]
    if settings.selection.disabled:
        filters.append(f"{len(settings.selection.disabled)} x [[operations]] enabled = false")
    if settings.selection.changed_since is not None:
        since = settings.report.sanitization.redaction.url(settings.selection.changed_since)
        filters.append(f"--changed-since {since}{' --with-dependents' * settings.selection.with_dependents}")
    if settings.selection.shard is not None:
        filters.append(f"--shard {settings.selection.shard}")
    if settings.target.safety != "full":
        filters.append(f"--safety {settings.target.safety}")
    return RunOutline(
        title=schema.title,
        specification=schema.specification,
        total=selected.total,
        filters=tuple(filters),
        unmatched=selected.unmatched,
        operations=tuple(_Outlining(contents, mine).operations()),
        broken=tuple((one.label, one.error) for one in selected.broken if one.label in mine),
    )


def read_resources(settings: RunSettings, layout: RunLayout) -> tuple[str, ResourceModel]:
    """Return (title, resource model of the selected operations). Raises `LoaderError`, `ConfigError` and `UsageError`."""
    contents = read_contents(settings, layout)
    return contents.description.schema.title, contents.selected.resources


class _Outlining:
    """Looks at one operation after the other."""

    def __init__(self, contents: Contents, labels: Collection[str]) -> None:
        self._labels = labels
        self._selected = contents.selected
        self._schema = contents.description.schema
        self._phases = contents.settings.phases
        self._operations = contents.operations
        schemes = SchemeCredentials(
            self._schema.security_schemes, contents.operations.common.authentication, contents.operations
        )
        self._rules = generation_rules(contents.operations, contents.settings, schemes, reuse=False)
        # Operations in sequences: those that begin one, and all that may follow.
        found: set[Label] = set()
        waiting = [label for label in contents.selected.resources.roots if label in labels]
        while waiting:
            label = waiting.pop()
            if label not in found:
                found.add(label)
                waiting.extend(contents.selected.resources.followers(label))
        self._chained = frozenset(found)

    def operations(self) -> Iterator[OutlinedOperation]:
        """Yield the outlines of the operations, in document order."""
        for entry in self._selected.entries:
            if entry.label not in self._labels:
                continue
            operation, wanted = self._selected[entry.label], self._operations.of(entry).phases
            inputs: list[OutlinedInput] = []
            known = set()
            for one in operation.iter_parameters():
                known.add(one.name)
                inputs.append(OutlinedInput(one.name, one.location.value, one.required))
            for name in self._schema.parameter_names(operation.label):
                if name not in known:
                    inputs.append(OutlinedInput(name, Location.BODY.value))
            yield OutlinedOperation(
                label=entry.label,
                method=entry.method,
                path=entry.path,
                operation_id=entry.operation_id,
                tags=tuple(entry.tags),
                deprecated=entry.deprecated,
                inputs=tuple(inputs),
                media_types=tuple(dict.fromkeys(body.media_type for body in operation.body)),
                phases=tuple(name for name in self._phases if name in wanted and self._has_cases(name, operation)),
            )

    def _has_cases(self, phase: str, operation: ApiOperation) -> bool:
        match phase_named(phase).source:
            case CaseSource.CHAINED:
                return operation.label in self._chained
            case CaseSource.LISTED:
                context = ListingContext(
                    self._rules.of(operation, phase),
                    ComponentHooks.from_registry(GLOBAL_HOOKS, HookContext(operation)),
                    is_first_of_path=self._selected.is_first_of_path(operation.label),
                )
                try:
                    listed: Iterable[Any] = lister_of(phase)(operation, context)
                    return next(iter(listed), None) is not None
                except CheckerError:
                    # No case can be made. The run reports the reason.
                    return False
            case _:
                return True
