"""The operations of a run, selected by their entries. Each is read on demand."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from checker.config.filters import Selection, unmatched, waits_for_name
from checker.core.case import Engine
from checker.core.operation import BrokenOperation, Label
from checker.core.resource_names import variables_of
from checker.core.resources import ResourceModel, Transition
from checker.core.schema import SchemaWarning
from checker.kinds.protocol import ApiOperation, ApiSchema, OperationEntry


class SelectedOperations(Mapping[Label, ApiOperation]):
    """Operations to test, in document order."""

    def __init__(
        self,
        schema: ApiSchema,
        selection: Selection,
        has_phases: Callable[[OperationEntry], bool] = lambda entry: True,
        inferred: Callable[[], Iterable[Transition]] = tuple,
    ) -> None:
        """`has_phases`: whether any phase tests an operation. `inferred`: links in addition to the described ones."""
        self._inferred = inferred
        self._schema = schema
        self._entries: dict[Label, OperationEntry] = {}
        self.broken: list[BrokenOperation] = []
        """Selected operations that cannot be read."""
        self.total = 0
        """Number of all operations."""
        self.engine: Engine | None = None
        """The engine that operations offer to user code. It is set before an operation is read."""
        self._with_engine: dict[Label, ApiOperation] = {}
        readable: list[OperationEntry] = []
        for entry in schema.checked_entries():
            self.total += 1
            if not isinstance(entry, BrokenOperation):
                readable.append(entry)
            if isinstance(entry, BrokenOperation):
                if selection.matches(entry):
                    self.broken.append(entry)
            elif waits_for_name(entry) and not selection.filters.names(entry):
                continue
            elif selection.matches(entry) and has_phases(entry):
                self._entries[entry.label] = entry
        self.unmatched = tuple(unmatched(selection.filters, readable))
        """Sentences about filters that match no operation."""
        self._selection = selection

    @cached_property
    def dropped(self) -> list[SchemaWarning]:
        """Return the entries that look like operations but are not tested. Call this when the schema knows the user's options."""
        return [
            one.warning
            for one in self._schema.dropped()
            if one.label not in self._entries and self._selection.matches(one)
        ]

    @property
    def entries(self) -> Iterable[OperationEntry]:
        """Return the entries of the table of contents."""
        return self._entries.values()

    @cached_property
    def resources(self) -> ResourceModel:
        model = self._schema.resources()
        inferred = tuple(self._inferred())
        if inferred:
            model = model.joined(inferred)
        return model.restricted(self._entries.keys())

    def is_first_of_path(self, label: Label) -> bool:
        """Whether no other operation of the same path precedes it."""
        return label in self._first_of_paths

    @cached_property
    def _first_of_paths(self) -> frozenset[Label]:
        first = {entry.path: label for label, entry in reversed(self._entries.items())}
        return frozenset(first.values())

    def names(self, label: Label) -> Iterable[str]:
        """Return the names of the parameters of an operation without reading the operation."""
        return self._schema.parameter_names(label)

    def __getitem__(self, label: Label) -> ApiOperation:
        known = self._with_engine.get(label)
        if known is not None:
            return known
        operation = self._schema.find(self._entries[label].label)
        # Unreadable entries are in `broken` and not in `_entries`.
        assert operation is not None
        assert not isinstance(operation, BrokenOperation)
        if self.engine is None:
            return operation
        # One object per operation, because they are compared by identity.
        known = self._with_engine[label] = operation.with_engine(self.engine)
        return known

    def variables_below(self) -> dict[str, tuple[str, ...]]:
        """Return path template without a trailing slash -> variables of the segments directly below it: `/users` -> `id`.

        `/users/{id}/mails` counts as well, because there may be no selected operation with the path `/users/{id}`.
        """
        found: dict[str, tuple[str, ...]] = {}
        for entry in self.entries:
            segments = entry.path.split("/")
            for number, segment in enumerate(segments):
                if names := variables_of(segment):
                    parent = "/".join(segments[:number])
                    found[parent] = tuple(dict.fromkeys((*found.get(parent, ()), *names)))
        return found

    def __iter__(self) -> Iterator[Label]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
