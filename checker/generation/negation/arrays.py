"""How the keywords of arrays are broken. What is wrong with single items is found at the items."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from checker.core.copies import copied
from checker.core.errors import Unsatisfiable
from checker.generation.negation.mutation_sites import Breaker, Mutation, MutationSite, mixed
from checker.generation.normalization.forms import inverse
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, retried

_ARRAY: Final = {"type": "array"}
_CONTAINS: Final = ("contains", "minContains", "maxContains")
_REPEATED_FROM = 16
"""From so many items on they are copies of each other, if they may be."""


def _too_few(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if value < 1:
        return
    few = int(value) - 1

    def sized(name: str, low: int) -> Callable[[], Draw]:
        sizes = {"minItems": low, "maxItems": few}
        return partial(spot.replaced, ("minItems",), f"minItems-{name}", _ARRAY | sizes)

    yield Mutation(
        spot.pointer("minItems"), "minItems", value, partial(mixed, sized("near", few), sized("far", 0))
    )  # fmt: skip


def _too_many(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    yield Mutation(spot.pointer("maxItems"), "maxItems", value, partial(_beyond, spot, int(value)))


def _beyond(spot: MutationSite, most: int) -> Draw:
    if most < _REPEATED_FROM or spot.form.unique:
        return spot.replaced(("maxItems",), "maxItems", _ARRAY | {"minItems": most + 1})
    if most > spot.compiler.max_text // 2:
        raise Unsatisfiable(spot.pointer("maxItems"), f"{most + 1} items are more than can be sent")
    few = len(spot.form.prefix) + 1
    draw = spot.replaced(
        ("maxItems",), "maxItems-few", _ARRAY | {"minItems": few, "maxItems": max(few, 3)}
    )

    def repeated(source: Source) -> list[Any]:
        items: list[Any] = draw(source)
        last = items[-1]
        items.extend(copied(last) for _ in range(most + 1 - len(items)))
        return items

    return repeated


def _same_twice(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if value is True:
        yield Mutation(
            spot.pointer("uniqueItems"), "uniqueItems", value, partial(_duplicated, spot)
        )


def _duplicated(spot: MutationSite) -> Draw:
    most = spot.form.item_count.high
    prefix = len(spot.form.prefix)
    if most is not None and most < 2:
        raise Unsatisfiable(spot.pointer("uniqueItems"), f"no two items among {most}")

    def grown() -> Draw:
        """One item more, the same as one that is there."""
        room = {} if most is None else {"maxItems": most - 1}
        draw = spot.draw(
            (*spot.rest(), spot.made("uniqueItems-few", _ARRAY | {"minItems": prefix + 1} | room))
        )

        def longer(source: Source) -> list[Any]:
            items: list[Any] = draw(source)
            last = len(items) - 1
            which = source.integer(prefix, last) if prefix < last else last
            items.append(copied(items[which]))
            return items

        return longer

    def overwritten() -> Draw:
        draw = spot.replaced(("uniqueItems",), "uniqueItems-two", _ARRAY | {"minItems": 2})

        def equal(source: Source) -> list[Any]:
            items: list[Any] = draw(source)
            items[-1] = copied(items[source.choice(len(items) - 1)])
            return items

        return equal

    return grown() if not (spot.form.no_items or most == prefix) else overwritten()


def _contains(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if spot.said.get("minContains", 1) >= 1:
        yield Mutation(spot.pointer("contains"), "contains", value, partial(_without, spot, value))


def _without(spot: MutationSite, inner: Any) -> Draw:
    """Arrays in which no item is as wanted."""
    none = _ARRAY | {"items": inverse(spot.below(inner, "contains"))}
    return spot.draw((*spot.rest(*_CONTAINS), spot.made("contains", none)))


def _contains_few(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if value > 1 and "contains" in spot.said:
        yield Mutation(
            spot.pointer("minContains"), "minContains", value, partial(_some, spot, int(value) - 1)
        )


def _some(spot: MutationSite, most: int) -> Draw:
    """Arrays in which some items are as wanted, but too few."""
    inner = spot.below(spot.said["contains"], "contains")
    is_wanted = spot.compiler.validator((inner,))
    some = {"contains": inner, "minContains": most, "maxContains": most, "minItems": most}
    draw = spot.draw((*spot.rest(*_CONTAINS), spot.made("minContains", _ARRAY | some)))
    return retried(
        draw,
        lambda items: 0 < sum(map(is_wanted, items)) <= most,
        spot.compiler.context,
        spot.pointer("minContains"),
    )


def _contains_many(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if "contains" in spot.said:
        many = int(value) + 1
        inner = spot.below(spot.said["contains"], "contains")
        made = spot.made(
            "maxContains", _ARRAY | {"contains": inner, "minContains": many, "minItems": many}
        )
        yield Mutation(
            spot.pointer("maxContains"),
            "maxContains",
            value,
            lambda: spot.draw((*spot.rest(*_CONTAINS), made)),
        )


def _nothing_more(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """`false` for what comes after the first items."""
    if value is False and (keyword != "items" or "prefixItems" in spot.said):
        yield Mutation(spot.pointer(keyword), keyword, value, partial(_one_more, spot, keyword))


def _one_more(spot: MutationSite, keyword: str) -> Draw:
    count = len(spot.form.prefix)

    def longer() -> Draw:
        """All that is declared, and one more."""
        sizes = {"minItems": count, "maxItems": count}
        draw = spot.draw((*spot.rest(), spot.made(f"{keyword}-all", _ARRAY | sizes)))
        mine = spot.pointer(keyword)
        others = tuple(facet for facet in spot.form.items if facet.pointer != mine)
        item = spot.compiler.compile(others, spot.place)

        def grown(source: Source) -> list[Any]:
            items: list[Any] = draw(source)
            items.append(item(source))
            return items

        return grown

    more = _ARRAY | {"minItems": _declared(spot) + 1}
    return mixed(longer, partial(spot.replaced, (keyword,), f"{keyword}-more", more), shares=(4, 1))


def _declared(spot: MutationSite) -> int:
    """Items that are declared one by one, be it in an alternative."""
    counts = [len(spot.form.prefix)]
    for branches in spot.form.branches:
        for alternative in branches.alternatives:
            counts.append(len(spot.compiler.canonical(alternative).prefix))
    return max(counts)


ARRAYS: Final[Mapping[str, Breaker]] = {
    "minItems": _too_few,
    "maxItems": _too_many,
    "uniqueItems": _same_twice,
    "contains": _contains,
    "minContains": _contains_few,
    "maxContains": _contains_many,
    "items": partial(_nothing_more, keyword="items"),
    "additionalItems": partial(_nothing_more, keyword="additionalItems"),
    "unevaluatedItems": partial(_nothing_more, keyword="unevaluatedItems"),
}
"""Keyword -> ways to break it."""
