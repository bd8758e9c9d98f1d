"""Bodies with what users want in some places of them: forced, or from a dictionary."""

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from checker.config.overrides import EACH, Override
from checker.core.errors import Unsatisfiable
from checker.core.meta import Origin, body_path
from checker.core.operation import Location
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.drawing.words import fitting
from checker.generation.normalization.forms import Canonical, Conjunction
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext, GivenValue

Path = tuple[str, ...]


def path_of(override: Override) -> str:
    """What an override of a body replaces, as provenance says it."""
    return body_path(takewhile(lambda name: name != EACH, override.path))


def mismatch(override: Override, entries: Sequence[Any]) -> str:
    """That most entries of a dictionary are none of those that a schema admits, as a sentence; empty if they are not."""
    given = len(override.entries)
    unfit = given - len(entries)
    return (
        f"its schema forbids {unfit} of {given} entries of the dictionary"
        if 2 * unfit > given
        else ""
    )


def forced_into(body: Any, overrides: Iterable[Override]) -> Any:
    """A body with all that is forced, valid or not. The body itself remains as it is."""
    for override in overrides:
        if override.is_forced:
            body = _replaced(body, override.path, partial(_copied, override.entries[0]))
    return body


def _copied(value: Any, old: Any) -> Any:
    return copy.deepcopy(value)


def overridden(
    draw: Draw,
    overrides: Sequence[Override],
    part: tuple[Compiler, Conjunction, TextPlace],
    context: DrawContext,
    mismatched: dict[str, str],
) -> Draw:
    """Draws bodies with what users want in some places of them.

    A value of a dictionary is taken when the body remains valid. What is forced comes last: nothing is put over it.
    `mismatched` is told of dictionaries that the schema forbids most entries of, by place.
    """
    compiler, conjunction, place = part
    is_valid = compiler.validator(conjunction)
    drawn_from = []
    for one in overrides:
        if one.is_forced:
            continue
        entries = _eligible(compiler, conjunction, place, one)
        if text := mismatch(one, entries):
            mismatched[f"body {path_of(one)}"] = text
        if entries:
            given = GivenValue(Location.BODY, Origin.DICTIONARY, path_of(one))
            drawn_from.append((one.path, entries, one.share or 1.0, given))

    def drawn(source: Source) -> Any:
        body = draw(source)
        for path, entries, share, given in drawn_from:
            taken: list[Any] = []
            changed = _replaced(body, path, partial(_picked, source, entries, share, taken))
            if taken and is_valid(changed):
                body = changed
                context.bindings.append(given)
        return forced_into(body, overrides)

    return drawn


def _picked(
    source: Source, entries: tuple[Any, ...], share: float, taken: list[Any], old: Any
) -> Any:
    """One of the entries, which is noted, or what was there."""
    if share < 1 and not source.boolean(share):
        return old
    value = entries[source.choice(len(entries)) if len(entries) > 1 else 0]
    taken.append(value)
    return copy.deepcopy(value)


def _replaced(value: Any, path: Path, pick: Callable[[Any], Any]) -> Any:
    """A value with something else at a path. Objects get what they do not have; arrays stay as long as they are."""
    if not path:
        return pick(value)
    name, rest = path[0], path[1:]
    if name == EACH:
        return [_replaced(item, rest, pick) for item in value] if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    if name not in value and EACH in rest:
        return value
    return {**value, name: _replaced(value.get(name, {} if rest else None), rest, pick)}


def _eligible(
    compiler: Compiler, conjunction: Conjunction, place: TextPlace, override: Override
) -> tuple[Any, ...]:
    """Entries that the schema at the path admits; all of them where there is no schema."""
    inner = place
    for name in override.path:
        inner = item_of(inner)
        try:
            conjunction = _below(compiler.canonical(conjunction), name)
        except Unsatisfiable:
            return override.entries
    try:
        types = compiler.canonical(conjunction).types
        is_valid = compiler.validator(conjunction)
        return fitting(override.entries, types, lambda v: inner.carries(v) and is_valid(v))
    except Unsatisfiable:
        return override.entries


def _below(form: Canonical, name: str) -> Conjunction:
    return form.items if name == EACH else form.of_name(name)
