"""The contexts of values: the resources named in the path of the request that showed them, and foreign keys beside them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from checker.core.case import Case
from checker.core.request import Location
from checker.core.resource_names import IDENTIFIERS, Resource, normalised, noun_of
from checker.core.resources import CREATING, ResourceModel, ResourceUse, named_values, sent_at
from checker.corpus.value_history import LONGEST_TEXT, SCALARS, Above

_REQUEST: Final = "request:"


@lru_cache(maxsize=4096)
def key_of(resource: Resource) -> str:
    """A collection as contexts name it."""
    return "/".join(resource)


@lru_cache(maxsize=4096)
def noun_of_key(key: str) -> str:
    """Return the noun of the members of a collection, from a key of a context."""
    return noun_of(tuple(key.split("/")))


def request_pointer(part: str) -> str:
    """Return the origin of a value that no response shows: a variable of the path of the request, or a pointer into the body."""
    return _REQUEST + part


def is_of_request(pointer: str) -> bool:
    """Whether `request_pointer` gave it."""
    return pointer.startswith(_REQUEST)


def said_at(case: Case, pointer: str) -> Any:
    """Return the value of a request at a `request_pointer`; None if there is none."""
    part = pointer.removeprefix(_REQUEST)
    if part.startswith("/"):
        return sent_at(case, (Location.BODY, part))
    return named_values(case).get(part)


class Ancestry(Struct, frozen=True):
    """The way in which one operation names the contexts of its values."""

    variables: tuple[tuple[str, str], ...]
    """(variable of its path, collection), outermost first, without the one that it works on."""
    foreign: Mapping[str, str]
    """Normalised field -> the collection that it names a member of, where the path names none and somebody asks for it."""

    def above(self, case: Case) -> Above:
        """Return the resources that a request names above its own, as text."""
        if not self.variables:
            return ()
        values = named_values(case)
        found = ((key, _name(values.get(variable))) for variable, key in self.variables)
        return tuple((key, name) for key, name in found if name)

    def sent(self, case: Case) -> Mapping[str, str]:
        """Foreign keys of what a request creates: collection -> name."""
        if not self.foreign or case.operation.resource_method not in CREATING:
            return {}
        return self.named(case.body.items()) if isinstance(case.body, dict) else {}

    def named(self, fields: Iterable[tuple[str, object]]) -> Mapping[str, str]:
        """Foreign keys among the fields of one thing: collection -> name."""
        found = ((self.foreign.get(normalised(field)), _name(value)) for field, value in fields)
        return {key: name for key, name in found if key is not None and name}


def ancestries(model: ResourceModel) -> Iterator[tuple[ResourceUse, Ancestry]]:
    """Yield the ancestries of all operations."""
    wanted = _wanted(model)
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


def _wanted(model: ResourceModel) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return noun -> collections that paths name above it -> names of the fields that identify it."""
    found: dict[str, dict[str, Sequence[str]]] = {}
    for use in model.uses.values():
        for place, (_, owner) in enumerate(use.owners):
            for variable, above in use.owners[:place]:
                fields = fields_naming(variable, noun_of(above))
                found.setdefault(noun_of(owner), {}).setdefault(key_of(above), fields)
    return found


def fields_naming(variable: str, noun: str) -> Sequence[str]:
    """Return the field names, in nested resources, that identify the resource of a path variable; normalised."""
    named = normalised(variable)
    own = () if named in IDENTIFIERS else (named,)
    return (*own, noun, *(noun + identifier for identifier in sorted(IDENTIFIERS)))


def _name(value: object) -> str:
    """A name as text; empty for what is none."""
    if isinstance(value, bool) or not isinstance(value, SCALARS):
        return ""
    text = f"{value}"
    return text if len(text) <= LONGEST_TEXT else ""
