"""Values that a user wants in place of generated ones: forced, or from a dictionary with some probability."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from checker.config.filters import OperationFilters, Selectable
from checker.core.json_pointers import tokens_of
from checker.core.locations import Location

EACH: Final = "[*]"
"""Stands in a body path for every element of an array."""


class Override(Struct, frozen=True):
    """A user's values for one place of a request: a parameter, or a path into a body."""

    location: Location | None
    """Location of the parameter; None: any location that has a parameter of this name."""
    path: tuple[str, ...]
    """Name of a parameter, or property names and `EACH` from the root of a body."""
    entries: tuple[Any, ...]
    """Values to choose from; a single one when it is forced."""
    share: float | None = None
    """Probability that one of them replaces the generated value; None: the value is forced, valid or not."""
    operations: OperationFilters | None = None
    """Operations that it applies to; None: all of them."""

    @property
    def is_forced(self) -> bool:
        """True when the value is sent in every request."""
        return self.share is None

    def names(self, location: Location, name: str) -> bool:
        """True when it applies to this parameter. Header names are compared without case."""
        if self.location is not location and self.location is not None:
            return False
        if location is Location.HEADER:
            return self.path[0].lower() == name.lower()
        return self.path == (name,)


class TypeWords(Struct, frozen=True):
    """A user's values for all generated values of one type, wherever they stand."""

    type: str
    """`string`, `integer` or `number`."""
    entries: tuple[Any, ...]
    share: float
    operations: OperationFilters | None = None
    """Operations that it applies to; None: all of them."""


class Overrides(Struct, frozen=True):
    """All overrides of a run, those that win first."""

    parameters: tuple[Override, ...] = ()
    types: tuple[TypeWords, ...] = ()

    def of(self, operation: Selectable) -> "Overrides":
        """The overrides that apply to one operation."""
        parameters = tuple(one for one in self.parameters if _is_about(one.operations, operation))
        # Of those for one type the first counts.
        types: dict[str, TypeWords] = {}
        for words in self.types:
            if _is_about(words.operations, operation):
                types.setdefault(words.type, words)
        return Overrides(parameters, tuple(types.values()))

    def parameter(self, location: Location, name: str) -> Override | None:
        """The override of a parameter; one that names the location wins over one that does not. None if there is none."""
        found = [
            one
            for one in self.parameters
            if one.location is not Location.BODY and one.names(location, name)
        ]
        scoped = [one for one in found if one.operations is not None] or found
        return next((one for one in scoped if one.location is not None), None) or next(
            iter(scoped), None
        )

    def is_forced(self, location: Location, name: str) -> bool:
        """Whether a value stands for a parameter, or for a place of a body (a JSON pointer), whatever else might."""
        if location is not Location.BODY:
            override = self.parameter(location, name)
            return override is not None and override.is_forced
        tokens = tokens_of(name)
        forced = (one.path for one in self.body() if one.is_forced)
        return any(tokens[: len(path)] == path or path[: len(tokens)] == tokens for path in forced)

    def body(self) -> Iterator[Override]:
        """The overrides that apply to a body, one for each path."""
        seen = set()
        for one in self.parameters:
            if one.location is Location.BODY and one.path not in seen:
                seen.add(one.path)
                yield one

    def to_dict(self) -> dict[str, Any]:
        """The overrides as lists and dicts that JSON can hold."""
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
        """The overrides that `to_dict` was made of."""
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
