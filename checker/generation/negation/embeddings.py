"""Values around a broken one: what is above it is valid and has it at its place."""

from collections.abc import Callable
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.places import item_of
from checker.generation.negation.mutation_sites import MutationSite
from checker.generation.negation.objects import unknown_name, with_room
from checker.generation.normalization.forms import Canonical, Facet
from checker.generation.patterns.matching import matcher
from checker.generation.patterns.regexes import UnsupportedPattern
from checker.generation.patterns.searching import writer
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw, retried

Broken = Callable[[Source], tuple[Any, Any]]
"""Draws a whole value and the part of it that is wrong."""
Host = Callable[[Broken], Broken]
"""Puts a broken value into a larger one. Raises `Unsatisfiable`."""

_ARRAY: Final = {"type": "array"}
_OBJECT: Final = {"type": "object"}
_NAME: Final = 24
"""Characters of a name, unless its pattern asks for more."""
_SAMPLES: Final = 6


def bare(draw: Draw) -> Broken:
    """The broken value is the whole."""

    def broken(source: Source) -> tuple[Any, Any]:
        value = draw(source)
        return value, value

    return broken


def in_property(spot: MutationSite, name: str) -> Host:
    """As a declared property."""

    def host(broken: Broken) -> Broken:
        made = spot.made(f"with-{name}", _OBJECT | {"required": [name]})
        try:
            around = spot.draw((*spot.rest(), made))
        except Unsatisfiable:
            # There is no valid value for it.
            return _with_name(spot, lambda source: name, broken)

        def whole(source: Source) -> tuple[Any, Any]:
            value = around(source)
            value[name], wrong = broken(source)
            return value, wrong

        return whole

    return host


def in_additional(spot: MutationSite) -> Host:
    """As a property that is not declared."""
    return lambda broken: _with_name(spot, unknown_name(spot), broken)


def companions(form: Canonical, pattern: str) -> frozenset[str]:
    """Patterns that a name has to match to match this one: itself, and others that cannot be avoided."""
    alone = frozenset({pattern})
    others = {one: matcher(one) for one, _ in form.pattern_properties if one != pattern}
    if not others:
        return alone
    try:
        written = writer(pattern, alphabets.VISIBLE.intervals)
    except UnsupportedPattern:
        return alone
    most = max(written.low, _NAME)
    names = (written.write(RandomSource(seed), 0, most) for seed in range(_SAMPLES))
    matched = (frozenset(one for one, matches in others.items() if matches(name)) for name in names)
    return alone | min(matched, key=len)


def in_named(spot: MutationSite, pattern: str, also: frozenset[str]) -> Host:
    """As a property whose name matches these patterns, and no other one."""

    def host(broken: Broken) -> Broken:
        form = spot.form
        try:
            written = writer(pattern, alphabets.VISIBLE.intervals)
        except UnsupportedPattern as error:
            raise Unsatisfiable(spot.pointer("patternProperties"), str(error)) from error
        most = max(written.low, _NAME)
        wanted = [(matcher(one), one in also) for one in dict(form.pattern_properties)]
        is_valid = spot.compiler.validator(form.names)
        taken = form.properties.keys() | form.hidden

        def is_name(name: str) -> bool:
            return (
                name not in taken
                and all(matches(name) is is_meant for matches, is_meant in wanted)
                and is_valid(name)
            )

        at = spot.pointer("patternProperties")
        name = retried(
            lambda source: written.write(source, 0, most), is_name, spot.compiler.context, at
        )
        return _with_name(spot, name, broken)

    return host


def _with_name(spot: MutationSite, name: Draw, broken: Broken) -> Broken:
    around = spot.draw((*spot.rest(), with_room(spot, "room")))

    def whole(source: Source) -> tuple[Any, Any]:
        value = around(source)
        key = name(source)
        value[key], wrong = broken(source)
        return value, wrong

    return whole


def as_name(spot: MutationSite) -> Host:
    """As the name of a property."""

    def host(broken: Broken) -> Broken:
        around = spot.draw((*spot.rest(), with_room(spot, "room")))
        item = spot.compiler.compile(spot.form.additional, item_of(spot.place))

        def whole(source: Source) -> tuple[Any, Any]:
            value = around(source)
            name, wrong = broken(source)
            value[name] = item(source)
            return value, wrong

        return whole

    return host


def at_index(spot: MutationSite, index: int) -> Host:
    """As an item of those that are declared one by one."""

    def host(broken: Broken) -> Broken:
        made = spot.made(f"with-{index}", _ARRAY | {"minItems": index + 1})
        try:
            around = spot.draw((*spot.rest(), made))
        except Unsatisfiable:
            return _appended(spot, index, broken)

        def whole(source: Source) -> tuple[Any, Any]:
            value = around(source)
            value[index], wrong = broken(source)
            return value, wrong

        return whole

    return host


def among_items(spot: MutationSite) -> Host:
    """As one of the other items; not one of those that the array has to contain."""
    first = max(len(spot.form.prefix), len(spot.form.contained))

    def host(broken: Broken) -> Broken:
        made: Facet = spot.made("with-item", _ARRAY | {"minItems": first + 1})
        try:
            around = spot.draw((*spot.rest(), made))
        except Unsatisfiable:
            return _appended(spot, first, broken)

        def whole(source: Source) -> tuple[Any, Any]:
            value = around(source)
            last = len(value) - 1
            where = source.integer(first, last) if first < last else last
            value[where], wrong = broken(source)
            return value, wrong

        return whole

    return host


def _appended(spot: MutationSite, count: int, broken: Broken) -> Broken:
    """After all the items that there can be."""
    made = spot.made(f"with {count} at most", _ARRAY | {"minItems": count, "maxItems": count})
    around = spot.draw((*spot.rest(), made))

    def whole(source: Source) -> tuple[Any, Any]:
        value = around(source)
        item, wrong = broken(source)
        value.append(item)
        return value, wrong

    return whole
