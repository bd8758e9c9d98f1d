"""Values that a user wants in place of generated ones: forced, or from a dictionary with some probability (spec 2.6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from checker.config.filters import OperationFilters, Selectable
from checker.core.locations import Location

EACH: Final = "[*]"
"""Every element of an array."""


@dataclass(frozen=True, slots=True)
class Override:
    """What stands in one place of a request."""

    location: Location | None
    """None: wherever there is a parameter of this name."""
    path: tuple[str, ...]
    """Name of a parameter, or property names and `EACH` from the root of a body."""
    entries: tuple[Any, ...]
    """Values to choose from; the one value, when it is forced."""
    share: float | None = None
    """Probability that one is taken; None: it is forced, valid or not."""
    operations: OperationFilters | None = None
    """None: all of them."""

    @property
    def is_forced(self) -> bool:
        """True when the value stands there always."""
        return self.share is None

    def names(self, location: Location, name: str) -> bool:
        """True when it is about this parameter; names of headers have no case."""
        if self.location is not location and self.location is not None:
            return False
        if location is Location.HEADER:
            return self.path[0].lower() == name.lower()
        return self.path == (name,)


@dataclass(frozen=True, slots=True)
class TypeWords:
    """Values that stand for generated ones of a type, anywhere."""

    type: str
    """`string`, `integer` or `number`."""
    entries: tuple[Any, ...]
    share: float
    operations: OperationFilters | None = None
    """None: all of them."""


@dataclass(frozen=True)
class Overrides:
    """All that a user wants; those that win first."""

    parameters: tuple[Override, ...] = ()
    types: tuple[TypeWords, ...] = ()

    def of(self, operation: Selectable) -> "Overrides":
        """Those of one operation."""
        parameters = tuple(one for one in self.parameters if _is_about(one.operations, operation))
        # Of those for one type the first counts.
        types: dict[str, TypeWords] = {}
        for words in self.types:
            if _is_about(words.operations, operation):
                types.setdefault(words.type, words)
        return Overrides(parameters, tuple(types.values()))

    def parameter(self, location: Location, name: str) -> Override | None:
        """The first one that is about a parameter; one that names the place wins over one that does not."""
        found = [
            one
            for one in self.parameters
            if one.location is not Location.BODY and one.names(location, name)
        ]
        scoped = [one for one in found if one.operations is not None] or found
        return next((one for one in scoped if one.location is not None), None) or next(
            iter(scoped), None
        )

    def body(self) -> Iterator[Override]:
        """Those that are about a body, each place once."""
        seen = set()
        for one in self.parameters:
            if one.location is Location.BODY and one.path not in seen:
                seen.add(one.path)
                yield one

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able form."""
        return {
            "parameters": [
                [
                    one.location and str(one.location),
                    list(one.path),
                    list(one.entries),
                    one.share,
                    one.operations and one.operations.to_list(),
                ]
                for one in self.parameters
            ],
            "types": [
                [
                    one.type,
                    list(one.entries),
                    one.share,
                    one.operations and one.operations.to_list(),
                ]
                for one in self.types
            ],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Overrides":
        """Back from `to_dict`."""
        return cls(
            tuple(_override(*parts) for parts in plain["parameters"]),
            tuple(
                TypeWords(kind, tuple(entries), share, _filters(specs))
                for kind, entries, share, specs in plain["types"]
            ),
        )


NO_OVERRIDES: Final = Overrides()


def _is_about(filters: OperationFilters | None, operation: Selectable) -> bool:
    return filters is None or filters.matches(operation)


def _override(
    location: str | None,
    path: Sequence[str],
    entries: Sequence[Any],
    share: float | None,
    specs: Sequence[Sequence[Any]] | None,
) -> Override:
    place = None if location is None else Location(location)
    return Override(place, tuple(path), tuple(entries), share, _filters(specs))


def _filters(specs: Sequence[Sequence[Any]] | None) -> OperationFilters | None:
    return None if specs is None else OperationFilters.from_list(specs)
