"""Which values of a discriminator name which alternative (OpenAPI 3.1, 4.8.25).

Names of an alternative are its keys in the mapping, the last part of its reference, the name of its file, and what it
lists for the property itself. An alternative that is written out has none: it takes whatever fits it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

KEYWORDS: Final = ("oneOf", "anyOf")

Names = frozenset[str] | None
"""Of one alternative; None when any name will do."""
Lookup = Callable[[str, Any], tuple[Any, Any] | None]
"""What a reference that stands somewhere leads to, and where that stands; None when it leads nowhere."""


@dataclass(frozen=True, slots=True)
class Discriminator:
    """What a property says of the alternatives beside it."""

    property_name: str
    keyword: str
    names: tuple[Names, ...]
    """Of each alternative."""

    def tag_of(self, value: Any) -> str | None:
        """The name that a value gives; None when it gives no text."""
        tag = value.get(self.property_name) if isinstance(value, dict) else None
        return tag if isinstance(tag, str) else None


def discriminator_of(raw: dict[str, Any], where: Any, lookup: Lookup) -> Discriminator | None:
    """How a schema tells its alternatives apart; None when it does not, or none of them has a name."""
    told = raw.get("discriminator")
    name = told.get("propertyName") if isinstance(told, dict) else None
    keyword = next((one for one in KEYWORDS if isinstance(raw.get(one), list)), None)
    if not isinstance(told, dict) or not isinstance(name, str) or keyword is None:
        return None
    names = _Names(name, lookup).of_all(raw[keyword], _mapping_of(told), where)
    default = told.get("defaultMapping")
    if isinstance(default, str):
        # OpenAPI 3.2, 4.25: what names no alternative is held to this one, which may be none of them.
        falls_to = [_is_named(default, one, where, lookup) for one in raw[keyword]]
        names = [None if is_it else own for is_it, own in zip(falls_to, names, strict=True)]
        if not any(falls_to):
            return None
    if all(one is None for one in names):
        return None
    return Discriminator(name, keyword, tuple(names))


def _mapping_of(told: dict[str, Any]) -> dict[str, str]:
    mapping = told.get("mapping")
    return {
        key: target
        for key, target in (mapping.items() if isinstance(mapping, dict) else ())
        if isinstance(key, str) and isinstance(target, str)
    }


@dataclass(slots=True)
class _Names:
    property_name: str
    lookup: Lookup
    seen: set[int] = field(default_factory=set)
    """Identities of the schemas on the way: some contain themselves."""

    def of_all(self, branches: list[Any], mapping: dict[str, str], where: Any) -> list[Names]:
        targets = {key: self.lookup(target, where) for key, target in mapping.items()}
        references = [
            one["$ref"] if isinstance(one, dict) and isinstance(one.get("$ref"), str) else None
            for one in branches
        ]
        found: list[set[str] | None] = []
        claimed: set[str] = set()
        for reference in references:
            if reference is None:
                found.append(None)
                continue
            target = self.lookup(reference, where)
            mapped = {
                key
                for key, text in mapping.items()
                if text in (reference, _last(reference)) or _is_same(targets[key], target)
            }
            claimed |= mapped
            own = None if target is None else self._own(*target)
            found.append(None if own is None else mapped | own | _implied(reference))
        # A name whose schema is not among the alternatives chooses none of them.
        free = mapping.keys() - claimed
        return [None if names is None else frozenset(names | free) for names in found]

    def _own(self, raw: Any, where: Any) -> set[str] | None:
        """Names that an alternative lists; None when heirs of it may have others."""
        if not isinstance(raw, dict):
            return None
        nested = discriminator_keyword(raw, self.property_name)
        if nested == "":
            return None
        return set(self._listed(raw, where))

    def _listed(self, raw: Any, where: Any) -> Iterator[str]:
        if not isinstance(raw, dict) or id(raw) in self.seen:
            return
        self.seen.add(id(raw))
        yield from self._inside(raw, where)
        self.seen.discard(id(raw))

    def _inside(self, raw: dict[str, Any], where: Any) -> Iterator[str]:
        properties = raw.get("properties")
        tag = properties.get(self.property_name) if isinstance(properties, dict) else None
        yield from self._texts(tag, where)
        parts = raw.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            yield from self._listed(part, where)
        if discriminator_keyword(raw, self.property_name):
            below = _Names(self.property_name, self.lookup, self.seen)
            for keyword in KEYWORDS:
                branches = raw.get(keyword)
                if isinstance(branches, list):
                    mapping = _mapping_of(raw["discriminator"])
                    yield from mapping
                    for names in below.of_all(branches, mapping, where):
                        yield from names or ()
        yield from self._followed(raw, where, self._listed)

    def _texts(self, raw: Any, where: Any) -> Iterator[str]:
        if not isinstance(raw, dict) or id(raw) in self.seen:
            return
        self.seen.add(id(raw))
        listed = raw.get("enum")
        for value in [*(listed if isinstance(listed, list) else ()), raw.get("const")]:
            if isinstance(value, str):
                yield value
        yield from self._followed(raw, where, self._texts)
        self.seen.discard(id(raw))

    def _followed(
        self, raw: dict[str, Any], where: Any, read: Callable[[Any, Any], Iterator[str]]
    ) -> Iterator[str]:
        reference = raw.get("$ref")
        target = self.lookup(reference, where) if isinstance(reference, str) else None
        if target is not None:
            yield from read(*target)


def discriminator_keyword(raw: dict[str, Any], property_name: str) -> str | None:
    """The keyword whose alternatives a property tells apart; empty when the schemas that extend this one are meant."""
    told = raw.get("discriminator")
    if not isinstance(told, dict) or told.get("propertyName") != property_name:
        return None
    return next((one for one in KEYWORDS if isinstance(raw.get(one), list)), "")


def _is_named(name: str, branch: Any, where: Any, lookup: Lookup) -> bool:
    reference = branch.get("$ref") if isinstance(branch, dict) else None
    return isinstance(reference, str) and (
        name in (reference, _last(reference))
        or _is_same(lookup(name, where), lookup(reference, where))
    )


def _is_same(left: tuple[Any, Any] | None, right: tuple[Any, Any] | None) -> bool:
    return left is not None and right is not None and left[0] is right[0]


def _last(reference: str) -> str:
    return reference.rpartition("/")[2]


def _implied(reference: str) -> set[str]:
    """Names that a reference gives without a mapping: `Dog` for `#/components/schemas/Dog` and for `pets/Dog.yaml`."""
    last = _last(reference)
    return {last, last.partition(".")[0]} if "#" not in reference else {last}
