"""The interface between the compiler and the draws of types: validators of conjunctions, and the variety of loosely constrained schemas."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, Protocol

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.schema import Schema, UnresolvableReference
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import ARRAY, OBJECT, Canonical, Conjunction, Facet, Reason, identity
from checker.generation.sources.basic import Strategy
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Budget, Draw, DrawContext, Rejected
from checker.validation.compiled import OversizedSchema, UnusableSchema, compile_schema

ENOUGH: Final = 10  # Distinct values among twenty.
_TRIED = 20
_DISCARDED = 120  # Attempts that all draws together may discard.
_FEW_PROPERTIES, _FEW_ITEMS = 3, 32
_CONTAINERS = frozenset({ARRAY, OBJECT})

IsValid = Callable[[Any], bool]


# Only the root gets more variety, and only if its values may repeat: trying every schema took a third of compilation,
# and nested objects got names that no server knows.
class Variety(Enum):
    """The freedom with which values are drawn."""

    USUAL = "declared properties, and few others"
    NAMES = "many undeclared properties"
    TYPES = "all types, although an untyped schema constrains only some"
    MOST = "nearly always with undeclared properties, and with more items"


def may_be_poor(form: Canonical) -> bool:
    """Whether values may repeat. A few draws then decide about more variety."""
    # `{}` and `{"type": "object"}` are the schemas of many APIs, and sending `{}` a hundred times tests nothing.
    is_short = form.arrays.count.low <= _FEW_ITEMS
    return bool(form.types & _CONTAINERS) and len(form.objects.properties) <= _FEW_PROPERTIES and is_short


def different(draw: Draw, context: DrawContext, enough: int = ENOUGH) -> int:
    """Return the number of distinct values among a few draws; counting stops at `enough`."""
    source = RandomSource()
    seen: set[bytes] = set()
    # Schemas are compiled on demand, so another draw may be running.
    with context.aside(_DISCARDED):
        for seed in range(_TRIED):
            source.reset(seed)
            context.begin(None, context.work if seed else 0)
            try:
                seen.add(identity(draw(source)))
            except Rejected:
                continue
            except BudgetSpent:
                if context.work <= context.allowance:
                    raise
                # Nested alternatives each try their own draws, so the total cost of all tries is limited.
                break
            if len(seen) >= enough:
                break
    return len(seen)


def refuse(*reasons: Reason | None) -> None:
    """Raise `Unsatisfiable` for the first reason that is not None."""
    for reason in reasons:
        if reason is not None:
            raise Unsatisfiable(reason.pointer, reason.text)


class Nodes(Protocol):
    """The part of the compiler that the draws of types use."""

    canon: Canon
    context: DrawContext
    budget: Budget
    formats: Mapping[str, Strategy]
    max_text: int
    reuses: bool
    is_minimal: bool
    allows_extra: bool

    def compile(self, conjunction: Conjunction, place: TextPlace) -> Draw: ...
    def variety_of(self, form: Canonical) -> Variety: ...
    def canonical(self, conjunction: Conjunction) -> Canonical: ...
    def validator(self, conjunction: Conjunction) -> IsValid: ...


def validator_of(canon: Canon, conjunction: Conjunction, *, is_strict: bool) -> IsValid:
    """Return a predicate that is true for values that all facets admit; with `is_strict`, formats must pass both validators.

    The predicate is compiled at the first call, which raises `Unsatisfiable` if a facet cannot be compiled, and
    `BudgetSpent` if the facet is too large.
    """
    if not conjunction:
        return _admits_all
    checks: list[IsValid] = []

    def is_valid(value: Any) -> bool:
        if not checks:
            asked = [_of_facet(canon, facet, is_strict=is_strict) for facet in conjunction]
            checks.extend([check for check in asked if check is not _admits_all] or [_admits_all])
        for check in checks:  # noqa: SIM110 - half the price of `all`
            if not check(value):
                return False
        return True

    return is_valid


def _of_facet(canon: Canon, facet: Facet, *, is_strict: bool) -> IsValid:
    raw = facet.raw
    if raw is True:
        return _admits_all
    if facet.is_made and isinstance(raw, dict):
        inner = raw.get("not")
        if isinstance(inner, Facet):
            admits = _of_facet(canon, inner, is_strict=False)
            return lambda value: not admits(value)
        if not is_json(raw):
            # Internal keywords, such as `other-text`, are enforced where values are drawn.
            return _admits_all
    # Validators are kept: nested alternatives judge the values of the levels above again and again.
    key = facet.pointer, facet.without, facet.tag, facet.scope
    compiled = canon.validators.get(key)
    if compiled is None:
        kept = raw
        if facet.without and isinstance(raw, dict):
            kept = {name: value for name, value in raw.items() if name not in facet.without}
        schema = Schema(kept, facet.pointer, canon.dialect, canon.document)
        try:
            compiled = canon.validators[key] = compile_schema(schema, canon.direction, scope=facet.scope)
        except OversizedSchema as error:
            raise BudgetSpent(facet.pointer) from error
        except (UnusableSchema, UnresolvableReference) as error:
            raise Unsatisfiable(facet.pointer, str(error)) from error
    return compiled.is_strictly_valid if is_strict else compiled.is_valid


def _admits_all(value: Any) -> bool:
    return True


def is_json(value: Any) -> bool:
    """Whether a value is JSON. YAML also reads plain text as dates and other objects."""
    if isinstance(value, list):
        return all(map(is_json, value))
    if isinstance(value, dict):
        return all(isinstance(name, str) and is_json(item) for name, item in value.items())
    return value is None or isinstance(value, str | int | float)
