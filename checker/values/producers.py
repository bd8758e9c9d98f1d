"""The contexts of values: the resources in the path of the request, and foreign keys beside the value."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from checker.core.case import Case
from checker.core.operation import Label
from checker.core.request import Location
from checker.core.resource_names import IDENTIFIERS, Resource, normalised, noun_of
from checker.core.resources import CREATING, ResourceModel, ResourceUse, named_values, sent_at
from checker.corpus.records import Above
from checker.values.harvest import DEEP, Places, ResponsePlace, field_of
from checker.values.history import LONGEST_TEXT, SCALARS

_REQUEST: Final = "request:"


@lru_cache(maxsize=4096)
def key_of(resource: Resource) -> str:
    """Return a collection as contexts spell it."""
    return "/".join(resource)


@lru_cache(maxsize=4096)
def noun_of_key(key: str) -> str:
    """Return the noun of a collection's members, from its spelling in contexts."""
    return noun_of(tuple(key.split("/")))


def request_pointer(part: str) -> str:
    """Return the origin of a value that comes from a request: a path variable, or a pointer into the body."""
    return _REQUEST + part


def is_of_request(pointer: str) -> bool:
    """Whether an origin is one of `request_pointer`."""
    return pointer.startswith(_REQUEST)


def body_pointer(pointer: str) -> str:
    """Return the pointer into the body that a `request_pointer` contains."""
    return pointer.removeprefix(_REQUEST)


def sent_value(case: Case, pointer: str) -> Any:
    """Return the value of a request at a `request_pointer`; None if there is none."""
    part = body_pointer(pointer)
    if part.startswith("/"):
        return sent_at(case, (Location.BODY, part))
    return named_values(case).get(part)


class Ancestry(Struct, frozen=True):
    """The names by which one operation refers to the contexts of its values."""

    variables: tuple[tuple[str, str], ...]
    """(variable of its path, collection), outermost first, without its own collection."""
    foreign: Mapping[str, str]
    """Normalised foreign key -> collection. The path of the operation does not name the collection, and another path does."""

    def above(self, case: Case) -> Above:
        """Return the context that the path of a request names, as text."""
        if not self.variables:
            return ()
        values = named_values(case)
        found = ((key, _name(values.get(variable))) for variable, key in self.variables)
        return tuple((key, name) for key, name in found if name)

    def sent(self, case: Case) -> Mapping[str, str]:
        """Return collection -> name for the foreign keys in the body of a request that creates a resource."""
        if not self.foreign or case.operation.resource_method not in CREATING:
            return {}
        return self.named(case.body.items()) if isinstance(case.body, dict) else {}

    def named(self, fields: Iterable[tuple[str, object]]) -> Mapping[str, str]:
        """Return the foreign keys among the fields of one resource: collection -> name."""
        found = ((self.foreign.get(normalised(field)), _name(value)) for field, value in fields)
        return {key: name for key, name in found if key is not None and name}


def ancestries(model: ResourceModel) -> Iterator[tuple[ResourceUse, Ancestry]]:
    """Yield the ancestries of all operations."""
    # Noun -> collections that paths name above it -> names of the fields that identify it.
    wanted: dict[str, dict[str, Sequence[str]]] = {}
    for use in model.uses.values():
        for place, (_, owner) in enumerate(use.owners):
            for variable, above in use.owners[:place]:
                fields = fields_naming(variable, noun_of(above))
                wanted.setdefault(noun_of(owner), {}).setdefault(key_of(above), fields)
    for use in model.uses.values():
        own = use.resource
        variables = tuple((name, key_of(at)) for name, at in use.owners if at != own)
        known = {noun_of_key(key) for _, key in variables}
        foreign = {
            field: key
            for key, fields in wanted.get(noun_of(own), {}).items()
            if noun_of_key(key) not in known
            for field in fields
        }
        yield use, Ancestry(variables, foreign)


def fields_naming(variable: str, noun: str) -> Sequence[str]:
    """Return the field names, in nested resources, that identify the resource of a path variable; normalised."""
    named = normalised(variable)
    own = () if named in IDENTIFIERS else (named,)
    return (*own, noun, *(noun + identifier for identifier in sorted(IDENTIFIERS)))


def _name(value: object) -> str:
    """Return a name as text; empty for other values."""
    if isinstance(value, bool) or not isinstance(value, SCALARS):
        return ""
    text = f"{value}"
    return text if len(text) <= LONGEST_TEXT else ""


NO_FORMATS: Final[Mapping[str, str]] = MappingProxyType({})
NEAR = 2  # Levels of a response in which a new resource states its own name.
_LONGEST_PAUSE = 63
_REFUSALS = 16


class Worth(IntEnum):
    """The likelihood that a parameter asks for the values at one place of a response."""

    NOTHING = 0
    VALUE = 1
    NAME = 2


class Producer(Struct):
    """One operation as a producer of values."""

    resource: Resource
    feeds: bool  # Whether some path parameter chooses from this collection. Then every scalar may identify a member.
    wanted: frozenset[str]  # Field names that some parameter takes from any resource.
    places: Places
    ancestry: Ancestry  # The names by which the operation refers to the contexts of its values.
    given: tuple[ResponsePlace, ...] = ()  # Places in its requests that name the new resource.
    linked: frozenset[str] = frozenset()
    """Pointers in its responses that other operations use, by transitions or by format."""
    naming: frozenset[str] = frozenset()  # The fields from which transitions take values of paths.
    names: frozenset[str] = IDENTIFIERS
    """Field names that identify resources, or that are also names of path variables."""
    reads_urls: bool = False  # Whether URLs in its responses may name resources of described paths.
    formats: Mapping[str, str] = NO_FORMATS
    """Pointer in its responses -> format that fields of other operations have, too."""
    _pause: int = 0  # Responses to skip after one without news. The number doubles each time.
    _left: int = 0
    _refusals: int = _REFUSALS  # Refusals that are still read for URLs, until one has a URL.

    @property
    def is_read(self) -> bool:
        """Whether its responses may have values that some parameter takes."""
        return bool(self.feeds or self.wanted or self.linked or self.reads_urls)

    def worth(self, place: ResponsePlace) -> Worth:
        """Return how likely some parameter asks for the values at a place.

        A place in another collection counts only if paths name members of that collection.
        """
        if not (self.feeds or place.resource != self.resource or self._names(place)):
            return Worth.NOTHING
        is_name = place.name in self.names or place.origin[1] in self.naming
        return Worth.NAME if is_name else Worth.VALUE

    def is_hidden(self, place: ResponsePlace, shown: AbstractSet[str]) -> bool:
        """Whether an outer field of the same name is in the same response.

        Earlier responses are not considered, because each worker has seen different ones.
        """
        return not shown.isdisjoint(place.hidden_by) and not self._names(place)

    def _names(self, place: ResponsePlace) -> bool:
        return place.name in self.wanted or place.origin[1] in self.linked

    def depth(self, method: str) -> int:
        """Return the depth to which the next response is read. Once an operation shows nothing new, most responses are not read."""
        if not self.is_read:
            return 0
        self._left -= 1
        if self._left < 0:
            return DEEP
        # The name of a new resource is needed at once, and is near the top of the response.
        return NEAR if method == "POST" and (self.feeds or self.naming) else 0

    def reads_refusal(self) -> bool:
        """Whether to look for URLs in the next response without success."""
        self._refusals -= 1
        return self.reads_urls and self._refusals >= 0

    def located(self) -> None:
        """Record that a refusal had a URL of the API."""
        self._refusals = _REFUSALS

    def learned(self, *, is_fresh: bool) -> None:
        """Record whether the last response had news."""
        if is_fresh:
            self._pause = self._left = 0
        elif self._left < 0:
            self._pause = self._left = min(2 * self._pause + 1, _LONGEST_PAUSE)


def names_given(model: ResourceModel) -> dict[Label, tuple[ResponsePlace, ...]]:
    """Return operation -> places in its requests that name the new resource."""
    pointers: dict[Label, dict[str, None]] = {}
    for one in model.transitions:
        for value in one.values if one.is_inferred else ():
            if value.sent_pointer is not None:
                pointers.setdefault(one.source, {})[value.sent_pointer] = None
    return {
        label: tuple(
            ResponsePlace(field_of(one), (label, request_pointer(one)), model.uses[label].resource) for one in each
        )
        for label, each in pointers.items()
    }


def pointers_taken(model: ResourceModel, *, by_paths: bool = False) -> dict[Label, frozenset[str]]:
    """Return operation -> pointers into its responses from which transitions take values; `by_paths`: values of paths alone."""
    found: dict[Label, set[str]] = {}
    for one in model.transitions:
        for value in one.values:
            is_asked = value.location is Location.PATH or not by_paths
            if is_asked and (pointer := value.shown_pointer) is not None:
                found.setdefault(one.source, set()).add(pointer)
    for label, formats in model.formatted.items() if not by_paths else ():
        found.setdefault(label, set()).update(formats)
    return {label: frozenset(pointers) for label, pointers in found.items()}
