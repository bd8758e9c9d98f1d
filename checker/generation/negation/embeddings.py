"""Values around a broken one: what is above it is valid and has it at its place."""

from collections.abc import Callable
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.places import item_of
from checker.generation.negation.containers import unknown_name, with_room
from checker.generation.negation.mutation_sites import MutationSite
from checker.generation.normalization.forms import Canonical
from checker.generation.patterns.regexes import UnsupportedPattern, matcher
from checker.generation.patterns.writing import writer
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw, retried

Broken = Callable[[Source], tuple[Any, Any]]
"""Draws a whole value and the part of it that is wrong."""
Host = Callable[[Broken], Broken]
"""Puts a broken value into a larger one. Raises `Unsatisfiable`."""

_ARRAY: Final[dict[str, Any]] = {"type": "array"}
_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_NAME: Final = 24
"""Characters of a name, unless its pattern asks for more."""
_SAMPLES: Final = 6


class _Once:
    """Compiles what stands around a broken value when it is first asked for: all ways to break it stand in the same."""

    __slots__ = ("_draw", "_make", "_reason")

    def __init__(self, make: Callable[[], Draw]) -> None:
        self._make = make
        self._draw: Draw | None = None
        self._reason: Unsatisfiable | None = None

    def __call__(self) -> Draw:
        """The draws; raises `Unsatisfiable` again, and `BudgetSpent` as long as there is none."""
        if self._reason is not None:
            raise self._reason.again()
        if self._draw is None:
            try:
                self._draw = self._make()
            except Unsatisfiable as error:
                self._reason = error.again()
                raise
        return self._draw


def bare(draw: Draw) -> Broken:
    """The broken value is the whole."""

    def broken(source: Source) -> tuple[Any, Any]:
        value = draw(source)
        return value, value

    return broken


def _put(around: _Once, where: Callable[[Source, Any], Any], otherwise: Callable[[Broken], Broken]) -> Host:
    """Return the host that replaces a part of a valid value; `otherwise` where no valid value has that part."""

    def host(broken: Broken) -> Broken:
        try:
            draw = around()
        except Unsatisfiable:
            return otherwise(broken)

        def whole(source: Source) -> tuple[Any, Any]:
            value = draw(source)
            at = where(source, value)
            value[at], wrong = broken(source)
            return value, wrong

        return whole

    return host


def in_property(spot: MutationSite, name: str) -> Host:
    """Return the host of a declared property."""
    with_it = _Once(lambda: spot.draw((*spot.rest(), spot.made(f"with-{name}", _OBJECT | {"required": [name]}))))
    room = _with_room(spot)
    return _put(with_it, lambda source, value: name, lambda broken: _with_name(room(), lambda source: name, broken))


def in_additional(spot: MutationSite) -> Host:
    """Return the host of an undeclared property."""
    around, name = _with_room(spot), _Once(lambda: unknown_name(spot))
    return lambda broken: _with_name(around(), name(), broken)


def companions(form: Canonical, pattern: str) -> frozenset[str]:
    """Patterns that a name has to match to match this one: itself, and others that cannot be avoided."""
    alone = frozenset({pattern})
    others = {one: matcher(one) for one, _ in form.objects.pattern_properties if one != pattern}
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
    """Return the host of a property whose name matches these patterns, and no other one."""

    def named() -> Draw:
        form = spot.form
        try:
            written = writer(pattern, alphabets.VISIBLE.intervals)
        except UnsupportedPattern as error:
            raise Unsatisfiable(spot.pointer("patternProperties"), str(error)) from error
        most = max(written.low, _NAME)
        wanted = [(matcher(one), one in also) for one in dict(form.objects.pattern_properties)]
        is_valid = spot.compiler.validator(form.objects.names)
        taken = form.objects.properties.keys() | form.objects.hidden

        def is_name(name: str) -> bool:
            return (
                name not in taken and all(matches(name) is is_meant for matches, is_meant in wanted) and is_valid(name)
            )

        at = spot.pointer("patternProperties")
        return retried(lambda source: written.write(source, 0, most), is_name, spot.compiler.context, at)

    name, around = _Once(named), _with_room(spot)
    return lambda broken: _with_name(around(), name(), broken)


def _with_room(spot: MutationSite) -> _Once:
    """Objects that may have one property more."""
    return _Once(lambda: spot.draw((*spot.rest(), with_room(spot, "room"))))


def _with_name(around: Draw, name: Draw, broken: Broken) -> Broken:
    def whole(source: Source) -> tuple[Any, Any]:
        value = around(source)
        key = name(source)
        value[key], wrong = broken(source)
        return value, wrong

    return whole


def as_name(spot: MutationSite) -> Host:
    """Return the host of the name of a property."""
    objects = _with_room(spot)
    items = _Once(lambda: spot.compiler.compile(spot.form.objects.additional, item_of(spot.place)))

    def host(broken: Broken) -> Broken:
        around, item = objects(), items()

        def whole(source: Source) -> tuple[Any, Any]:
            value = around(source)
            name, wrong = broken(source)
            value[name] = item(source)
            return value, wrong

        return whole

    return host


def at_index(spot: MutationSite, index: int) -> Host:
    """Return the host of an item that is declared by its index."""
    as_many = _as_many(spot, index)
    return _put(
        _with_items(spot, f"with-{index}", index + 1),
        lambda source, value: index,
        lambda broken: _appended(as_many(), broken),
    )


def among_items(spot: MutationSite) -> Host:
    """Return the host of one of the other items: not one that the array has to contain."""
    first = max(len(spot.form.arrays.prefix), len(spot.form.arrays.contained))
    as_many = _as_many(spot, first)

    def where(source: Source, value: list[Any]) -> int:
        last = len(value) - 1
        return source.integer(first, last) if first < last else last

    with_it = _with_items(spot, "with-item", first + 1)
    return _put(with_it, where, lambda broken: _appended(as_many(), broken))


def _with_items(spot: MutationSite, tag: str, least: int) -> _Once:
    """Arrays with so many items at least."""
    return _Once(lambda: spot.draw((*spot.rest(), spot.made(tag, _ARRAY | {"minItems": least}))))


def _as_many(spot: MutationSite, count: int) -> _Once:
    """Arrays with exactly so many items."""
    said = _ARRAY | {"minItems": count, "maxItems": count}
    return _Once(lambda: spot.draw((*spot.rest(), spot.made(f"with {count} at most", said))))


def _appended(around: Draw, broken: Broken) -> Broken:
    """After all the items that there can be."""

    def whole(source: Source) -> tuple[Any, Any]:
        value = around(source)
        item, wrong = broken(source)
        value.append(item)
        return value, wrong

    return whole
