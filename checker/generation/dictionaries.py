"""User overrides and demands of the target: values that are forced or taken from dictionaries, and narrower schemas."""

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from checker.config.overrides import EACH, Override
from checker.core.constraints import FORBIDDEN, MOSTLY, REQUIRED, SELDOM, USUAL, Constraint, as_schema
from checker.core.errors import Unsatisfiable
from checker.core.meta import Origin, body_path
from checker.core.operation import Location, Parameter
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.drawing.words import fitting
from checker.generation.normalization.forms import Conjunction, Facet
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext, GivenValue
from checker.schema.views import Outline

Path = tuple[str, ...]


def path_of(override: Override) -> str:
    """Return the path in a body that an override replaces, spelled as in provenance."""
    return body_path(takewhile(lambda name: name != EACH, override.path))


def mismatch(override: Override, entries: Sequence[Any]) -> str:
    """Return a sentence for the user if the schema forbids most entries of a dictionary; empty if it admits at least half of them."""
    given = len(override.entries)
    unfit = given - len(entries)
    return f"its schema forbids {unfit} of {given} entries of the dictionary" if 2 * unfit > given else ""


def forced_into(body: Any, overrides: Iterable[Override]) -> Any:
    """Return a copy of a body with all forced values, valid or not."""
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
    """Draws bodies with the user's overrides.

    A dictionary value is taken if the body stays valid. Forced values come last, so nothing replaces them. `mismatched`
    receives, by place, a sentence for each dictionary most of whose entries the schema forbids.
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


def _picked(source: Source, entries: tuple[Any, ...], share: float, taken: list[Any], old: Any) -> Any:
    """Return one of the entries, which is appended to `taken`, or the old value."""
    if share < 1 and not source.boolean(share):
        return old
    value = entries[source.choice(len(entries)) if len(entries) > 1 else 0]
    taken.append(value)
    return copy.deepcopy(value)


def _replaced(value: Any, path: Path, pick: Callable[[Any], Any]) -> Any:
    """Return a copy of a value with the value at a path replaced. Missing members of objects are added; arrays keep their length."""
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


def _eligible(compiler: Compiler, conjunction: Conjunction, place: TextPlace, override: Override) -> tuple[Any, ...]:
    """Return the entries that the schema at the path admits; all entries if there is no schema."""
    inner = place
    for name in override.path:
        inner = item_of(inner)
        try:
            form = compiler.canonical(conjunction)
            conjunction = form.arrays.items if name == EACH else form.objects.of_name(name)
        except Unsatisfiable:
            return override.entries
    try:
        types = compiler.canonical(conjunction).types
        is_valid = compiler.validator(conjunction)
        return fitting(override.entries, types, lambda v: inner.carries(v) and is_valid(v))
    except Unsatisfiable:
        return override.entries


class SchemaPart(NamedTuple):
    """The schema of one part of a request: the arguments of `compile`."""

    compiler: Compiler
    conjunction: Conjunction
    place: TextPlace


class Narrowing(Struct, frozen=True):
    """Learned demands of the target, as further schemas for valid values. Negative data ignores them."""

    constraints: tuple[Constraint, ...]

    def says(self, keyword: str, location: Location, name: str = "") -> bool:
        """Whether there is a demand with this keyword on a parameter, or on the whole body."""
        place = location, (name,) if name else ()
        return any(one.keyword == keyword and (one.location, one.path) == place for one in self.constraints)

    def is_about(self, parameter: Parameter) -> bool:
        """Whether there is any demand on a parameter."""
        return any((one.location, one.path[:1]) == (parameter.location, (parameter.name,)) for one in self.constraints)

    @property
    def of_usual_bodies(self) -> "Narrowing | None":
        """Return the demands on a body, extended: parts that the target mostly refused are left out, and parts that it mostly accepted are present.

        Return None if there are no such parts.
        """
        as_demand = {SELDOM: FORBIDDEN, MOSTLY: REQUIRED}
        further = [
            replace(one, keyword=as_demand[one.keyword])
            for one in self.constraints
            if one.keyword in as_demand and one.location == Location.BODY
        ]
        return Narrowing((*self.constraints, *further)) if further else None

    @property
    def with_usual_values(self) -> "Narrowing":
        """The demands, extended: each part with known accepted values takes one of them."""
        usual = {(one.location, one.path): one for one in self.constraints if one.keyword == USUAL}
        demands = (replace(one, keyword="enum", value=f"[{one.value}]") for one in usual.values())
        return Narrowing((*self.constraints, *demands)) if usual else self

    def narrowed(
        self, part: SchemaPart, location: Location, name: str = "", outline: Outline | None = None
    ) -> SchemaPart:
        """Return a part whose values respect the demands on it: a parameter by its name, or the body."""
        mine = [
            Constraint(one.location, one.path[1:] if name else one.path, one.keyword, one.value)
            for one in self.constraints
            if one.location == location and (not name or one.path[:1] == (name,))
            if one.keyword not in (SELDOM, MOSTLY, USUAL)
        ]
        if not mine:
            return part
        # Demands become facets, so that the same compiler draws values that respect both schema and demands.
        declared = () if outline is None else tuple(sorted(outline.names))
        pointer = part.conjunction[0].pointer
        facets = [
            Facet(raw, f"{pointer}/learned/{number}", is_made=True)
            for number, raw in enumerate(as_schema(mine, declared))
            if raw
        ]
        return part._replace(conjunction=(*part.conjunction, *facets))
