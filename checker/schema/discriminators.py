"""The values of a discriminator and the alternatives that they select (OpenAPI 3.1, 4.8.25).

An alternative is named by its keys in the mapping, the last part of its reference, the name of its file, and the values that
it lists for the property itself; the listed values win where they differ. Inline alternatives have no name, nor have
alternatives whose property admits none of these. Alternatives without a name accept any value that fits their schema.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.schema import Document, pointer_child, walked

KEYWORDS: Final = ("oneOf", "anyOf")

Names = frozenset[str] | None  # Names of one alternative; None if any name selects it.
Listed = set[str] | None  # Texts that a schema lists; None if it lists none.
Lookup = Callable[[str, Any], tuple[Any, Any] | None]
"""Returns the target of a reference and the place of the target; None for a reference that leads nowhere."""


class DiscriminatorBranch(Struct, frozen=True):
    """The names of one alternative."""

    names: Names  # Values that select it.
    told: tuple[str, ...]
    """Values that a client sends for this alternative; empty if none is possible or needed."""


class Discriminator(Struct, frozen=True):
    """The property that distinguishes alternatives, and its alternatives."""

    property_name: str
    keyword: str
    alternatives: tuple[DiscriminatorBranch, ...]

    @property
    def names(self) -> tuple[Names, ...]:
        return tuple(one.names for one in self.alternatives)

    def tag_of(self, value: Any) -> str | None:
        """Return the name in a value; None if it has no text there."""
        tag = value.get(self.property_name) if isinstance(value, dict) else None
        return tag if isinstance(tag, str) else None


def discriminator_of(raw: dict[str, Any], where: Any, lookup: Lookup) -> Discriminator | None:
    """Return the discriminator of a schema; None if it has none or if no alternative has a name."""
    told = raw.get("discriminator")
    name = told.get("propertyName") if isinstance(told, dict) else None
    keyword = next((one for one in KEYWORDS if isinstance(raw.get(one), list)), None)
    if not isinstance(told, dict) or not isinstance(name, str) or keyword is None:
        return None
    reader = _Names(name, lookup)
    found = reader.of_all(raw[keyword], _mapping_of(told), where)
    beside = reader.listed({one: raw[one] for one in raw.keys() - {keyword}}, where)
    if beside is not None:
        found = [_held_to(beside, one) for one in found]
    default = told.get("defaultMapping")
    if isinstance(default, str):
        # OpenAPI 3.2, 4.25: a value that names no alternative must fit this one, which may be none of the alternatives.
        falls_to = [_is_named(default, one, where, lookup) for one in raw[keyword]]
        found = [
            DiscriminatorBranch(None, own.told) if is_it else own for is_it, own in zip(falls_to, found, strict=True)
        ]
        if not any(falls_to):
            return None
    if all(one.names is None for one in found):
        return None
    return Discriminator(name, keyword, tuple(found))


def told_by(raw: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the property that distinguishes alternatives and its mapping; empty if the schema has no discriminator."""
    told = raw.get("discriminator")
    if isinstance(told, str):
        # Swagger 2.0, "Schema Object".
        return told, {}
    name = told.get("propertyName") if isinstance(told, dict) else None
    return (name, _mapping_of(told)) if isinstance(name, str) else ("", {})


def _mapping_of(told: Any) -> dict[str, str]:
    mapping = told.get("mapping")
    return {
        key: target
        for key, target in (mapping.items() if isinstance(mapping, dict) else ())
        if isinstance(key, str) and isinstance(target, str)
    }


_ANY: Final = DiscriminatorBranch(None, ())


def _held_to(listed: set[str], one: DiscriminatorBranch) -> DiscriminatorBranch:
    """Return an alternative restricted to the values that the surrounding schema lists."""
    told = [name for name in one.told if name in listed]
    if one.names is None:
        return DiscriminatorBranch(None, tuple(told))
    # Listed values of the surrounding schema win over names: no valid value has a name that the surrounding schema forbids.
    found = told or sorted(one.names & listed)
    return DiscriminatorBranch(one.names, tuple(found)) if found else _ANY


class _Names(Struct):
    property_name: str
    lookup: Lookup
    seen: set[int] = field(default_factory=set)  # Identities of the schemas on the way: some contain themselves.

    def of_all(self, branches: list[Any], mapping: dict[str, str], where: Any) -> list[DiscriminatorBranch]:
        targets = {key: self.lookup(target, where) for key, target in mapping.items()}
        found: list[DiscriminatorBranch] = []
        claimed: set[str] = set()
        for branch in branches:
            reference = branch.get("$ref") if isinstance(branch, dict) else None
            target = self.lookup(reference, where) if isinstance(reference, str) else None
            if not isinstance(reference, str) or target is None:
                found.append(_ANY)
                continue
            mapped = [
                key
                for key, text in mapping.items()
                if text in (reference, _last(reference)) or _is_same(targets[key], target)
            ]
            claimed.update(mapped)
            found.append(self.alternative(reference, mapped, target))
        # A mapping name for another schema singles out no alternative, so that every alternative accepts it.
        free = mapping.keys() - claimed
        return [one if one.names is None else replace(one, names=one.names | free) for one in found]

    def alternative(self, reference: str, mapped: list[str], target: tuple[Any, Any]) -> DiscriminatorBranch:
        """Return the names of the schema behind a reference, with its keys in the mapping."""
        raw, where = target
        own, implied = self.listed(raw, where), _implied(reference)
        given = mapped or implied[:1]
        if own is not None:
            told = [name for name in given if name in own] or sorted(own)
            names = frozenset((*own, *mapped, *implied))
        else:
            told = [name for name in given if self._admits(raw, where, name)]
            names = frozenset((*mapped, *implied))
        is_base = isinstance(raw, dict) and discriminator_keyword(raw, self.property_name) == ""
        # A base schema is selected by any name, because schemas that extend it may have other names.
        return DiscriminatorBranch(None if is_base or not told else names, tuple(told))

    def listed(self, raw: Any, where: Any) -> Listed:
        """Return the texts that a schema lists for the property; None if it lists none."""
        if not isinstance(raw, dict) or id(raw) in self.seen:
            return None
        self.seen.add(id(raw))
        try:
            return _all_of(self._inside(raw, where))
        finally:
            self.seen.discard(id(raw))

    def _inside(self, raw: dict[str, Any], where: Any) -> Iterator[Listed]:
        properties = raw.get("properties")
        if isinstance(properties, dict):
            yield self._texts(properties.get(self.property_name), where)
        yield from (self.listed(*part) for part in _parts(raw, where, self.lookup))
        told = discriminator_keyword(raw, self.property_name)
        for keyword in KEYWORDS:
            branches = raw.get(keyword)
            if isinstance(branches, list):
                if told:
                    mapping = _mapping_of(raw["discriminator"])
                    # The nested discriminator has a mapping of its own, but the schemas on the way are the same.
                    below = _Names(self.property_name, self.lookup, self.seen)
                    yield _any_of(
                        None if one.names is None else {*one.names, *mapping}
                        for one in below.of_all(branches, mapping, where)
                    )
                else:
                    yield _any_of(self.listed(branch, where) for branch in branches)

    def _texts(self, raw: Any, where: Any) -> Listed:
        """Return the texts that the schema of the property lists."""
        if not isinstance(raw, dict) or id(raw) in self.seen:
            return None
        self.seen.add(id(raw))
        listed = raw.get("enum", [raw["const"]] if "const" in raw else None)
        own = {one for one in listed if isinstance(one, str)} if isinstance(listed, list) else None
        branches = [
            _any_of(self._texts(branch, where) for branch in raw[keyword])
            for keyword in KEYWORDS
            if isinstance(raw.get(keyword), list)
        ]
        found = _all_of((own, *branches, *(self._texts(*part) for part in _parts(raw, where, self.lookup))))
        self.seen.discard(id(raw))
        return found

    def _admits(self, raw: Any, where: Any, name: str) -> bool:
        """Whether an alternative that lists no names admits a name: by its type, its closed properties, and the type and pattern of the property."""
        for part, at in _facets(raw, where, self.lookup):
            properties = part.get("properties")
            tag = properties.get(self.property_name) if isinstance(properties, dict) else None
            is_closed = part.get("additionalProperties") is False and "patternProperties" not in part
            if not _has_type(part, "object") or (is_closed and tag is None):
                return False
            for said, _ in _facets(tag, at, self.lookup):
                if not (_has_type(said, "string") and _is_matched(said.get("pattern"), name)):
                    return False
        return True


class Heir(Struct, frozen=True):
    """A named schema that extends a base schema by `allOf`."""

    raw: dict[str, Any]
    where: Any
    names: tuple[str, ...]  # Values of the discriminator that select it; empty if any value does.


class Family(Struct, frozen=True):
    """The schemas that extend a base schema, which has a discriminator and no alternatives."""

    property_name: str
    heirs: tuple[Heir, ...]
    own_names: tuple[str, ...]
    """Values that select the base itself: the mapping or the schema of the property lists them."""


def family_of(raw: dict[str, Any], where: Any, root: Any, lookup: Lookup) -> Family | None:
    """Return the heirs of a base schema, from its mapping and the named schemas of a document; None if it has no heirs."""
    name, mapping = told_by(raw)
    if not name or not raw.keys().isdisjoint(KEYWORDS):
        return None
    # A mapping without a slash names a component beside the base (OpenAPI 3.0, "Discriminator Object").
    home = f"{str(where).rpartition('/')[0]}/"
    targets = [(key, lookup(text if "/" in text else home + text, where)) for key, text in mapping.items()]
    found = [target for _, target in targets if target is not None]
    found += [(one, at) for at, one in _named_schemas(root) if isinstance(one.get("allOf"), list)]
    reader = _Names(name, lookup)
    heirs: dict[str, Heir] = {}
    for one, at in found:
        if one is raw or at in heirs or not isinstance(one, dict) or not inherits(one, at, raw, lookup):
            continue
        mapped = [key for key, target in targets if _is_same(target, (one, at))]
        said = one.get("x-ms-discriminator-value")
        mapped += [said] if isinstance(said, str) and not mapped else []
        heirs[at] = Heir(one, at, reader.alternative(at, mapped, (one, at)).told)
    listed = reader.listed(raw, where) or set()
    own = [key for key, target in targets if _is_same(target, (raw, where))]
    own = own or [one for one in _implied(where)[:1] if one in listed]
    return Family(name, tuple(heirs.values()), tuple(own)) if heirs else None


def has_bases(document: Document) -> bool:
    """Whether a component of a description has a discriminator and no alternatives."""
    found: bool | None = document.facts.get(has_bases)
    if found is None:
        named = (one for _, one in _named_schemas(document.root))
        found = any("discriminator" in one and one.keys().isdisjoint(KEYWORDS) for one in named)
        document.facts[has_bases] = found
    return found


_HOMES: Final = ("#/components/schemas", "#/definitions")


def _named_schemas(root: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and schema of each component of a description."""
    for home in _HOMES:
        _, owner = walked(root, home[1:])
        for name, schema in owner.items() if isinstance(owner, dict) else ():
            if isinstance(schema, dict):
                yield pointer_child(home, str(name)), schema


def is_heir(raw: Any, where: Any, lookup: Lookup) -> bool:
    """Whether a schema is a component that extends one with a discriminator."""
    is_named = str(where).rpartition("/")[0] in _HOMES
    return is_named and any(part is not raw and "discriminator" in part for part, _ in _facets(raw, where, lookup))


def inherits(raw: Any, where: Any, base: Any, lookup: Lookup) -> bool:
    """Whether a schema is another one, refers to it or contains it in `allOf`."""
    return any(part is base for part, _ in _facets(raw, where, lookup))


def _facets(raw: Any, where: Any, lookup: Lookup) -> list[tuple[dict[str, Any], Any]]:
    """Return all schemas that apply to the same value: a schema, the parts of its `allOf`, and targets of references."""
    found: dict[int, tuple[dict[str, Any], Any]] = {}
    todo = [(raw, where)]
    while todo:
        raw, where = todo.pop()
        if not isinstance(raw, dict) or id(raw) in found:
            continue
        found[id(raw)] = (raw, where)
        todo += _parts(raw, where, lookup)
    return list(found.values())


def _parts(raw: dict[str, Any], where: Any, lookup: Lookup) -> Iterator[tuple[Any, Any]]:
    """Yield the schemas that apply to the same value: the parts of `allOf`, and the target of `$ref`."""
    parts = raw.get("allOf")
    yield from ((part, where) for part in (parts if isinstance(parts, list) else ()))
    reference = raw.get("$ref")
    target = lookup(reference, where) if isinstance(reference, str) else None
    if target is not None:
        yield target


def _all_of(lists: Iterable[Listed]) -> Listed:
    """Return the values that are listed if all of these schemas apply."""
    said = [one for one in lists if one is not None]
    return set.intersection(*said) if said else None


def _any_of(lists: Iterable[Listed]) -> Listed:
    """Return the values that are listed if one of these schemas applies; None if one of them lists nothing."""
    found: set[str] = set()
    for one in lists:
        if one is None:
            return None
        found |= one
    return found


def _has_type(raw: dict[str, Any], name: str) -> bool:
    said = raw.get("type", name)
    return name in said if isinstance(said, list) else said == name


def _is_matched(pattern: Any, text: str) -> bool:
    """Whether a value matches a pattern; patterns that Python reads differently match everything."""
    try:
        return not isinstance(pattern, str) or re.search(pattern, text) is not None
    except (re.error, RecursionError, OverflowError):
        return True


def discriminator_keyword(raw: dict[str, Any], property_name: str) -> str | None:
    """Return the keyword whose alternatives a property distinguishes; empty if it distinguishes schemas that extend this one."""
    told = raw.get("discriminator")
    if not isinstance(told, dict) or told.get("propertyName") != property_name:
        return None
    return next((one for one in KEYWORDS if isinstance(raw.get(one), list)), "")


def _is_named(name: str, branch: Any, where: Any, lookup: Lookup) -> bool:
    reference = branch.get("$ref") if isinstance(branch, dict) else None
    return isinstance(reference, str) and (
        name in (reference, _last(reference)) or _is_same(lookup(name, where), lookup(reference, where))
    )


def _is_same(left: tuple[Any, Any] | None, right: tuple[Any, Any] | None) -> bool:
    return left is not None and right is not None and left[0] is right[0]


def _last(reference: str) -> str:
    return reference.rpartition("/")[2]


def _implied(reference: str) -> tuple[str, ...]:
    """Return the names that a reference implies if there is no mapping: `Dog` for `#/components/schemas/Dog` and for `pets/Dog.yaml`."""
    last = _last(reference)
    return (last, last.partition(".")[0]) if "#" not in reference else (last,)
