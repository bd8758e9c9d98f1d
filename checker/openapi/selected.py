"""The operations of a run: chosen by their entries, each read when it is first asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from checker.config.filters import Selection
from checker.core.operation import BrokenOperation, Label
from checker.core.schema_warnings import SchemaWarning
from checker.openapi.operation import Entry, OpenApiOperation
from checker.openapi.parameters import parameter_names
from checker.openapi.schema import OpenApiSchema


class SelectedOperations(Mapping[Label, OpenApiOperation]):
    """Operations to test, in document order."""

    def __init__(
        self,
        schema: OpenApiSchema,
        selection: Selection,
        has_phases: Callable[[Entry], bool] = lambda entry: True,
    ) -> None:
        """`has_phases`: whether any phase tests an operation."""
        self._schema = schema
        self._entries: dict[Label, Entry] = {}
        self.broken: list[BrokenOperation] = []
        """Those that would be tested and cannot be read."""
        self.dropped: list[SchemaWarning] = []
        """Those that would be tested if the version of the description knew their method."""
        self.total = 0
        """Number of all operations."""
        for entry in schema.checked_entries():
            self.total += 1
            if isinstance(entry, BrokenOperation):
                if selection.matches_broken(entry):
                    self.broken.append(entry)
            elif selection.matches(entry) and has_phases(entry):
                self._entries[entry.label] = entry
        for dropped in schema.dropped():
            unread = BrokenOperation(dropped.label, dropped.method, dropped.path, "")
            if selection.matches_broken(unread):
                self.dropped.append(dropped.warning)

    @property
    def entries(self) -> Iterable[Entry]:
        """What the table of contents says of them."""
        return self._entries.values()

    @cached_property
    def paths(self) -> Mapping[Label, str]:
        """Path template of each."""
        return {label: entry.path for label, entry in self._entries.items()}

    def names(self, label: Label) -> Iterator[str]:
        """Names of the parameters of one, which is not read for them."""
        entry = self._entries[label]
        return parameter_names(self._schema.document, entry.path, *entry.parameter_lists)

    def __getitem__(self, label: Label) -> OpenApiOperation:
        operation = self._schema.read(self._entries[label])
        assert isinstance(operation, OpenApiOperation)
        return operation

    def __iter__(self) -> Iterator[Label]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
