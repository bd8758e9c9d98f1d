"""Listed values: those that the rest of a schema admits, and that travel in a place."""

from collections.abc import Iterator
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.core.schema import UnresolvableReference
from checker.generation.drawing.distinct import identity
from checker.generation.drawing.judging import IsValid, validator_of
from checker.generation.drawing.places import TextPlace
from checker.generation.drawing.scalars import compile_listed
from checker.generation.normalization import forms
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Branches, Canonical, Conjunction, same
from checker.generation.sources.context import Draw
from checker.validation.formats import is_of_format

_LISTING: Final = frozenset({"type", "format", "enum", "const", "allOf", "anyOf", "oneOf"})
"""What lists, only holds what lists, or is judged by all alike."""


def compile_enum(canon: Canon, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Draw:
    """Draws members of an `enum`, or the `const`. Raises `Unsatisfiable` when none can be."""
    is_valid = _judge(canon, form, conjunction)
    possible = [value for value in form.enum or () if value is not None or forms.NULL in form.types]
    forbidden = frozenset(map(identity, form.excluded.values))
    values = [v for v in possible if is_valid(v) and identity(v) not in forbidden]
    sendable = [value for value in values if place.carries_listed(value)]
    if not sendable and place.is_body:
        # JSON can say what is not drawn otherwise.
        sendable = values
    if not sendable:
        what = "travels in this place" if values else "satisfies the rest of the schema"
        raise Unsatisfiable(form.enum_pointer, f"none of the listed values {what}")
    return compile_listed(sendable)


def _judge(canon: Canon, form: Canonical, conjunction: Conjunction) -> IsValid:
    """Most lists stand beside a type, or other lists, and nothing else: no validator is needed for that."""
    try:
        choices = [list(_lists(canon, branches)) for branches in form.branches]
    except UnresolvableReference:
        return validator_of(canon, conjunction, is_strict=False)
    if not _only_lists(canon, form) or not all(map(all, choices)):
        return validator_of(canon, conjunction, is_strict=False)

    def is_valid(value: Any) -> bool:
        if not _admits(form, value):
            return False
        for branches, lists in zip(form.branches, choices, strict=True):
            count = sum(_lists_it(one, value) for one in lists if one is not None)
            if count == 0 or (count > 1 and branches.keyword == "oneOf"):
                return False
        return True

    return is_valid


def _lists(canon: Canon, branches: Branches) -> Iterator[Canonical | None]:
    """Forms of alternatives; None for those that say more than which values there are."""
    for alternative in branches.alternatives:
        form = canon.canonical(alternative)
        yield None if form.branches or not _only_lists(canon, form) else form


def _only_lists(canon: Canon, form: Canonical) -> bool:
    return all(canon.said(facet).keys() <= _LISTING for facet in form.facets)


def _lists_it(form: Canonical, value: Any) -> bool:
    if form.impossible is not None or not _admits(form, value):
        return False
    return form.enum is None or any(same(value, other) for other in form.enum)


def _admits(form: Canonical, value: Any) -> bool:
    """Whether types and formats admit a value."""
    return not forms.kinds_of(value).isdisjoint(form.types) and all(
        is_of_format(name, value) for name in form.formats
    )
