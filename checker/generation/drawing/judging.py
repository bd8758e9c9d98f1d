"""Validators of conjunctions: what the facets that a value is drawn for say of it, asked when it is there."""

from collections.abc import Callable
from typing import Any

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.schema import Schema, UnresolvableReference
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Conjunction, Facet
from checker.validation.compiled import Compiled, OversizedSchema, UnusableSchema, compile_schema

IsValid = Callable[[Any], bool]


def validator_of(canon: Canon, conjunction: Conjunction, *, is_strict: bool) -> IsValid:
    """True for values that all facets admit, strict ones for every reader of formats. Compiled when first asked.

    The first question raises `Unsatisfiable` when a facet cannot be compiled, `BudgetSpent` when it is too large for it.
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
            # What it is made from is checked by those who hold it.
            return _admits_all
    # Alternatives inside alternatives are asked of what stands above them, again and again.
    key = facet.pointer, facet.without, facet.tag, facet.scope
    compiled = canon.validators.get(key)
    if compiled is None:
        compiled = canon.validators[key] = _compiled(canon, facet)
    return compiled.is_strictly_valid if is_strict else compiled.is_valid


def _compiled(canon: Canon, facet: Facet) -> Compiled:
    raw = facet.raw
    if facet.without and isinstance(raw, dict):
        raw = {name: value for name, value in raw.items() if name not in facet.without}
    schema = Schema(raw, facet.pointer, canon.dialect, canon.document)
    try:
        return compile_schema(schema, canon.direction, scope=facet.scope)
    except OversizedSchema as error:
        raise BudgetSpent(facet.pointer) from error
    except (UnusableSchema, UnresolvableReference) as error:
        raise Unsatisfiable(facet.pointer, str(error)) from error


def _admits_all(value: Any) -> bool:
    return True


def is_json(value: Any) -> bool:
    """False for dates and other things that YAML makes of plain text."""
    if isinstance(value, list):
        return all(map(is_json, value))
    if isinstance(value, dict):
        return all(isinstance(name, str) and is_json(item) for name, item in value.items())
    return value is None or isinstance(value, str | int | float)
