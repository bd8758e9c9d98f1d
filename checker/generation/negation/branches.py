"""Mutations that break `anyOf`, `oneOf` and `not`. Mutations of one alternative are found at the alternative."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import combinations, islice
from typing import Any, Final

from msgspec.structs import replace

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.schema import UnresolvableReference
from checker.generation.negation.mutation_sites import Breaker, Mutation, MutationSite, first_of, mixed, one_of
from checker.generation.normalization import forms
from checker.generation.normalization.complements import broken_at
from checker.generation.normalization.discrimination import discriminated
from checker.generation.normalization.forms import Conjunction, Facet, inverse, made
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, retried

_UNKNOWN: Final = "unknown"
_PAIRS = 12
_BROKEN_TOGETHER = 8
"""Alternatives that are all broken at once."""
_STEPS = 500
"""Work that finding out how may take: the ways to break each are combined."""
_ONE_BY_ONE = 8
"""Ways to break what a condition asks for that are tried each for itself."""
_KINDS: Final = (
    forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.STRING, forms.ARRAY, forms.OBJECT,
)  # fmt: skip


def _none_of(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """A type that no alternative speaks of, or what is wrong for each of them."""
    make = partial(first_of, partial(_other_type, spot, keyword), partial(_no_one, spot, keyword))
    yield Mutation(spot.pointer(keyword), keyword, value, make)
    if keyword == "oneOf" and len(value) > 1:
        yield Mutation(spot.pointer(keyword), keyword, value, partial(_two_of, spot))
    told = spot.facet.raw.get("discriminator") if isinstance(spot.facet.raw, dict) else None
    if isinstance(told, dict):
        make = partial(_unknown_name, spot, keyword)
        yield Mutation(spot.pointer("discriminator"), "discriminator", told, make)


def _unknown_name(spot: MutationSite, keyword: str) -> Draw:
    """A value of an alternative that names none of them."""
    mine = [one for one in spot.form.branches if one.owner is spot.facet and one.keyword == keyword]
    pinned = [pins for branches in mine for pins in discriminated(spot.compiler.canon, branches)]
    at = spot.pointer("discriminator")
    if not pinned or not all(pinned):
        raise Unsatisfiable(at, "some alternative takes any name")
    (branches,), raw = mine, spot.facet.raw
    assert isinstance(raw, dict)
    rest, draws = spot.rest(keyword), []
    for alternative, pins in list(zip(branches.alternatives, pinned, strict=True))[:_PAIRS]:
        with suppress(Unsatisfiable):
            draws.append(spot.draw((*rest, *alternative, *pins)))
    if not draws:
        raise Unsatisfiable(at, "no alternative can be chosen")
    name = raw["discriminator"]["propertyName"]
    valid = one_of(draws)

    def misnamed(source: Source) -> Any:
        value = valid(source)
        tag = value[name]
        value[name] = (tag + "_", tag.swapcase(), tag[:-1], _UNKNOWN)[source.choice(4)]
        return value

    return misnamed


def _alternatives(spot: MutationSite, keyword: str) -> list[Facet]:
    parts = enumerate(spot.said[keyword])
    return [spot.below(part, keyword, str(index)) for index, part in parts]


def _other_type(spot: MutationSite, keyword: str) -> Draw:
    taken: set[str] = set()
    for part in _alternatives(spot, keyword):
        form = spot.compiler.canonical((part,))
        if form.impossible is None:
            taken |= form.types
    kinds = [kind for kind in _KINDS if kind not in taken]
    if not kinds:
        raise Unsatisfiable(spot.pointer(keyword), "its alternatives have every type")
    return spot.replaced((keyword,), f"{keyword}-types", {"type": kinds})


def _no_one(spot: MutationSite, keyword: str) -> Draw:
    """Each alternative broken, in the ways that are known, or by chance."""
    rest, parts = spot.rest(keyword), _alternatives(spot, keyword)
    if len(parts) <= _BROKEN_TOGETHER:
        with suppress(Unsatisfiable, BudgetSpent), spot.compiler.budget.lent(_STEPS):
            return spot.draw((*rest, *map(inverse, parts)))
    checks = [spot.compiler.validator((part,)) for part in parts]

    def is_no_one(value: Any) -> bool:
        return not any(is_valid(value) for is_valid in checks)

    return retried(spot.draw(rest), is_no_one, spot.compiler.context, spot.pointer(keyword))


def _two_of(spot: MutationSite) -> Draw:
    rest, parts = spot.rest("oneOf"), _alternatives(spot, "oneOf")
    draws: list[Draw] = []
    for one, other in list(combinations(parts, 2))[:_PAIRS]:
        try:
            draws.append(spot.draw((*rest, one, other)))
        except Unsatisfiable:
            continue
    if not draws:
        raise Unsatisfiable(spot.pointer("oneOf"), "its alternatives exclude each other")
    return one_of(draws)


def _not(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    inner = spot.below(value, "not")
    yield Mutation(inner.pointer, "not", value, lambda: spot.draw((*spot.rest("not"), inner)))


def _condition(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    """Yield mutations that break the schemas under a condition."""
    condition = spot.below(value, "if")
    for keyword, when in (("then", condition), ("else", inverse(condition))):
        if keyword in spot.said:
            what = spot.below(spot.said[keyword], keyword)
            make = partial(_under, spot, ("if", "then", "else"), when, what)
            yield Mutation(what.pointer, keyword, spot.said[keyword], make)


def dependent_schemas(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """Yield mutations that break the schemas which the presence of a property demands."""
    for name, asked in value.items():
        if isinstance(asked, list):
            continue
        there = spot.made(f"{keyword}-{name}-there", {"type": "object", "required": [name]})
        what = spot.below(asked, keyword, name)
        make = partial(_under, spot, (keyword,), there, what)
        yield Mutation(what.pointer, keyword, asked, make)


def _under(spot: MutationSite, keywords: tuple[str, ...], when: Facet, what: Facet) -> Draw:
    """Return a draw that breaks the schema under a condition: in one way if possible, or in any."""
    rest = (*spot.rest(*keywords), when)
    makes = [partial(spot.draw, (*rest, *wrong)) for wrong in islice(_one_fault(spot, what), _ONE_BY_ONE)]
    anyhow = partial(spot.draw, (*rest, inverse(what)))
    return first_of(partial(mixed, *makes), anyhow) if makes else anyhow()


def _one_fault(spot: MutationSite, what: Facet) -> Iterator[Conjunction]:
    """One keyword of a schema broken, or one of its properties, and all the rest kept."""
    canon = spot.compiler.canon
    try:
        what = canon.target(what)
    except UnresolvableReference:
        return
    if not isinstance(what.raw, dict):
        return
    said = canon.said(what)
    for keyword, value in said.items():
        rest = replace(what, without=what.without | {keyword})
        if keyword != "properties":
            yield from ((rest, *wrong) for wrong in broken_at(what, said, keyword))
            continue
        for name in value:
            others = {one: what.below(value[one], keyword, one) for one in value if one != name}
            kept = made(what, f"{what.tag}~but {name}", {keyword: others})
            only = said | {keyword: {name: value[name]}}
            yield from ((rest, kept, *wrong) for wrong in broken_at(what, only, keyword))


BRANCHES: Final[Mapping[str, Breaker]] = {
    "anyOf": partial(_none_of, keyword="anyOf"),
    "oneOf": partial(_none_of, keyword="oneOf"),
    "not": _not,
    "if": _condition,
    "dependentSchemas": partial(dependent_schemas, keyword="dependentSchemas"),
}
"""Keyword -> ways to break it."""
