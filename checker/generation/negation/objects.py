"""How the keywords of objects are broken. What is wrong with single properties is found at the properties."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.places import item_of
from checker.generation.negation.branches import dependent_schemas
from checker.generation.negation.mutation_sites import (
    Breaker,
    Mutation,
    MutationSite,
    first_of,
    mixed,
)
from checker.generation.normalization import forms
from checker.generation.patterns.matching import matcher
from checker.generation.sources import alphabets
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, retried

UNKNOWN: Final = "x-unknown-property"
_OBJECT: Final = {"type": "object"}
_DEPENDENT: Final = ("dependentRequired", "dependencies")
_MOST = 300
"""Properties beyond a maximum that are drawn."""


def _required(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    """One way for each name."""
    for index, name in enumerate(value):
        if name in spot.form.required and name not in value[:index]:
            make = partial(_dropped, spot, name)
            yield Mutation(spot.pointer("required"), "required", name, make)


def _dropped(spot: MutationSite, name: str) -> Draw:
    absent = {"properties": {name: False}, "type": "object"}
    others = [other for other in spot.said["required"] if other != name]
    try:
        return spot.replaced(("required",), f"required-{name}", absent | {"required": others})
    except Unsatisfiable:
        others = [other for other in spot.form.required if other != name]
        made = spot.made(f"required-{name}-of-all", absent | {"required": others})
        return spot.draw((*spot.rest_of_all("required"), made))


def _too_few(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if value < 1:
        return
    few = int(value) - 1

    def sized(name: str, low: int) -> Callable[[], Draw]:
        sizes = {"minProperties": low, "maxProperties": few}
        return partial(spot.replaced, ("minProperties",), f"minProperties-{name}", _OBJECT | sizes)

    yield Mutation(
        spot.pointer("minProperties"), "minProperties", value, partial(mixed, sized("near", few), sized("far", 0))
    )  # fmt: skip


def _too_many(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    yield Mutation(
        spot.pointer("maxProperties"), "maxProperties", value, partial(_beyond, spot, int(value))
    )


def _beyond(spot: MutationSite, most: int) -> Draw:
    if most > _MOST:
        raise Unsatisfiable(spot.pointer("maxProperties"), f"{most + 1} properties are too many")
    return spot.replaced(("maxProperties",), "maxProperties", _OBJECT | {"minProperties": most + 1})


def _forbidden(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """`false` for properties that are not declared."""
    if value is False:
        yield Mutation(spot.pointer(keyword), keyword, value, partial(_one_more, spot, keyword))


def _one_more(spot: MutationSite, keyword: str) -> Draw:
    def larger() -> Draw:
        """A valid object, and one more property."""
        draw = spot.draw((*spot.rest(), with_room(spot, f"{keyword}-room")))
        name = unknown_name(spot)
        mine = spot.pointer(keyword)
        others = tuple(facet for facet in spot.form.additional if facet.pointer != mine)
        item = spot.compiler.compile(others, item_of(spot.place))

        def grown(source: Source) -> dict[str, Any]:
            found: dict[str, Any] = draw(source)
            found[name(source)] = item(source)
            return found

        return grown

    more = _OBJECT | {"minProperties": 1}
    anyhow = partial(spot.replaced, (keyword,), f"{keyword}-more", more)
    if keyword == "additionalProperties":
        # What asks for a property may be what forbids it.
        return first_of(larger, anyhow)
    # What is evaluated elsewhere is known to the validator alone: any object may do.
    return mixed(larger, anyhow, shares=(4, 1))


def with_room(spot: MutationSite, name: str) -> forms.Facet:
    """Objects that may have one property more."""
    most = spot.form.property_count.high
    if most == 0:
        raise Unsatisfiable(spot.pointer("maxProperties"), "there is no room for a property")
    return spot.made(name, _OBJECT | ({} if most is None else {"maxProperties": most - 1}))


def unknown_name(spot: MutationSite) -> Draw:
    """Draws names that are neither declared nor matched by a pattern. Raises `Unsatisfiable`."""
    form = spot.form
    declared = list(form.properties)
    taken = form.properties.keys() | form.hidden
    patterns = [matcher(pattern) for pattern, _ in form.pattern_properties]
    is_valid = spot.compiler.validator(form.names)

    def make(source: Source) -> str:
        which = source.choice(3)
        if which == 0:
            return UNKNOWN
        if which == 1 and declared:
            name = declared[source.choice(len(declared)) if len(declared) > 1 else 0]
            return (name.swapcase(), name + "_", name + "s", "_" + name)[source.choice(4)]
        return source.string(alphabets.NAME, 1, 24)

    def is_unknown(name: str) -> bool:
        return (
            name not in taken and not any(matches(name) for matches in patterns) and is_valid(name)
        )

    return retried(make, is_unknown, spot.compiler.context, spot.pointer())


def _dependents(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """One way for each name that another one asks for."""
    for name, what in value.items():
        for other in what if isinstance(what, list) else ():
            if other != name:
                make = partial(_alone, spot, keyword, name, other)
                yield Mutation(spot.pointer(keyword, name), keyword, other, make)
    if keyword == "dependencies":
        yield from dependent_schemas(spot, value, keyword=keyword)


def _alone(spot: MutationSite, keyword: str, name: str, other: str) -> Draw:
    """The property is there and what it asks for is not."""
    table = dict(spot.said[keyword])
    names = [one for one in table.pop(name) if one != other]
    made = {
        "type": "object",
        "required": [name, *names],
        "properties": {other: False},
        **({keyword: _kept(spot, keyword, table)} if table else {}),
    }
    return spot.replaced((keyword,), f"{keyword}-{name}-{other}", made)


def _kept(spot: MutationSite, keyword: str, table: dict[str, Any]) -> dict[str, Any]:
    return {
        name: what if isinstance(what, list) else spot.below(what, keyword, name)
        for name, what in table.items()
    }


OBJECTS: Final[Mapping[str, Breaker]] = {
    "required": _required,
    "minProperties": _too_few,
    "maxProperties": _too_many,
    "additionalProperties": partial(_forbidden, keyword="additionalProperties"),
    "unevaluatedProperties": partial(_forbidden, keyword="unevaluatedProperties"),
    **{name: partial(_dependents, keyword=name) for name in _DEPENDENT},
}
"""Keyword -> ways to break it."""
