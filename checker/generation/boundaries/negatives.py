"""Invalid values at the edges of a schema: each breaks one keyword, in the smallest valid surroundings."""

from collections.abc import Callable, Iterator
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import Any, Final

from checker.generation.boundaries.values import Boundary, Scenario, distinct
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace
from checker.generation.negation.breaches import Breach, Broken, PathStep, breaches, invalid_for, tried_with
from checker.generation.negation.scalars import NEAR_MISSES
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Conjunction
from checker.generation.regex_writing import writer
from checker.generation.regexes import UnsupportedPattern
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import NO_VALUE, Rejected
from checker.generation.sources.replay import SimplestSource
from checker.schema.views import type_of
from checker.validation.formats import INTEGER_RANGES

WRONG_TYPES: Final[tuple[Any, ...]] = (
    {}, [None, None], "AAA", None, False, True, 0, 2, 0.5, -1, "", [], {"AAA": None},
)  # fmt: skip
"""Values of each type, the usual one first. Most are wrong as text as well: `2` is no boolean, `0.5` no integer."""

NOT_LISTED: Final[tuple[Any, ...]] = ("AAA", "", 0, False, None, 0.5, {}, [None, None])

_RANKS: Final = 6  # Attempts at a value that is proved wrong.
_MORE: Final = "<b>"  # Text of a second line, which few patterns accept.

_WORDS: Final = {
    "type": (Scenario.WRONG_TYPE, "Incorrect type"),
    "minimum": (Scenario.TOO_SMALL, "Value smaller than minimum"),
    "exclusiveMinimum": (Scenario.TOO_SMALL, "Value smaller than minimum"),
    "maximum": (Scenario.TOO_LARGE, "Value greater than maximum"),
    "exclusiveMaximum": (Scenario.TOO_LARGE, "Value greater than maximum"),
    "multipleOf": (Scenario.NO_MULTIPLE, "Non-multiple of {was}"),
    "minLength": (Scenario.TOO_SHORT, "String smaller than minLength"),
    "maxLength": (Scenario.TOO_LONG, "String larger than maxLength"),
    "pattern": (Scenario.WRONG_PATTERN, "Value not matching the '{was}' pattern"),
    "format": (Scenario.WRONG_FORMAT, "Value not matching the '{was}' format"),
    "enum": (Scenario.NOT_LISTED, "Invalid enum value"),
    "const": (Scenario.NOT_LISTED, "Invalid enum value"),
    "minItems": (Scenario.TOO_FEW_ITEMS, "Array with fewer items than allowed by minItems"),
    "maxItems": (Scenario.TOO_MANY_ITEMS, "Array with more items than allowed by maxItems"),
    "uniqueItems": (Scenario.REPEATED_ITEMS, "Non-unique items"),
    "contains": (Scenario.NOT_CONTAINED, "Array without an item that it has to contain"),
    "minContains": (Scenario.NOT_CONTAINED, "Array with fewer items than required by minContains"),
    "maxContains": (Scenario.NOT_CONTAINED, "Array with more items than allowed by maxContains"),
    "items": (Scenario.TOO_MANY_ITEMS, "Array with an item that is not declared"),
    "additionalItems": (Scenario.TOO_MANY_ITEMS, "Array with an item that is not declared"),
    "unevaluatedItems": (Scenario.TOO_MANY_ITEMS, "Array with an item that is not declared"),
    "required": (Scenario.MISSING_PROPERTY, "Missing required property: {was}"),
    "dependentRequired": (Scenario.MISSING_DEPENDENT, "Missing property that another property requires"),
    "dependencies": (Scenario.MISSING_DEPENDENT, "Missing property that another property requires"),
    "additionalProperties": (Scenario.UNEXPECTED_PROPERTIES, "Object with unexpected properties"),
    "unevaluatedProperties": (Scenario.UNEXPECTED_PROPERTIES, "Object with unexpected properties"),
    "minProperties": (
        Scenario.TOO_FEW_PROPERTIES, "Object with fewer properties than allowed by minProperties",
    ),
    "maxProperties": (
        Scenario.TOO_MANY_PROPERTIES, "Object with more properties than allowed by maxProperties",
    ),
    "not": (Scenario.FORBIDDEN, "Value that the schema forbids"),
    "false": (Scenario.FORBIDDEN, "Value where no value is allowed"),
    "anyOf": (Scenario.NO_ALTERNATIVE, "Value that no alternative admits"),
    "oneOf": (Scenario.NO_ALTERNATIVE, "Value that matches none, or more than one, of the alternatives"),
}  # fmt: skip
"""Keyword -> scenario and description."""


def negatives(
    compiler: Compiler,
    conjunction: Conjunction,
    place: TextPlace,
    is_broken: Callable[[Any], bool] | None = None,
    wanted: Callable[[Breach], bool] = lambda breach: True,
) -> Iterator[Boundary]:
    """Yield invalid values, each wrong for one reason, those near the root first.

    A value must pass `is_broken`, for example the proof that no server can read its text as a valid value; by default it
    must be invalid. Only `wanted` breaches are tried.
    """
    is_broken = is_broken or invalid_for(compiler, conjunction)
    shown: set[Any] = set()
    # All breaches of one part are handled together: if `type` is among them, probes of another type break two keywords.
    for _, of_part in groupby(breaches(compiler, conjunction, place), attrgetter("path")):
        together = list(of_part)
        is_typed = any(breach.keyword == "type" for breach in together)
        for breach in filter(wanted, together):
            with compiler.context.aside():
                found = list(_values(breach, compiler, is_broken, is_typed=is_typed))
                if place.is_body and breach.keyword == "pattern":
                    found += _probed(breach, compiler, _in_lines(breach), is_broken)
            for value, wrong in found:
                key = distinct(value)
                if key not in shown:
                    shown.add(key)
                    yield _boundary(breach, value, wrong)


def _values(
    breach: Breach, compiler: Compiler, is_broken: Callable[[Any], bool], *, is_typed: bool
) -> Iterator[tuple[Any, Any]]:
    """Yield whole values that contain a wrong part. `is_typed`: the schema of the part has a `type`."""
    probes = _probes(breach, is_typed=is_typed)
    if breach.steps and breach.steps[-1] is PathStep.NAME:
        # A property name is always text.
        if breach.keyword == "type":
            return
        probes = tuple(probe for probe in probes if isinstance(probe, str))
    if probes:
        found = list(_probed(breach, compiler, probes, is_broken))
        if found:
            yield from found
            return
    try:
        # A breach that needs more steps is mostly impossible, and every operation with the schema would pay for it.
        with tried_with(compiler.budget):
            draw = breach.compile()
    except NO_VALUE:
        return
    yield from islice(_simplest(draw, compiler, is_broken), 1)


def _probes(breach: Breach, *, is_typed: bool) -> tuple[Any, ...]:
    """Return fixed values that are likely to break a keyword."""
    was: Any = breach.was
    match breach.keyword:
        case "type":
            # Some servers read 0 as false in a query. None reads -0.0 as false.
            zero = (-0.0,) if was == forms.BOOLEAN else ()
            # `was` is False if several types exclude each other.
            types = {was} if isinstance(was, str | bool) else set(was)
            return tuple(probe for probe in (*WRONG_TYPES, *zero) if types.isdisjoint(type_of(probe)))
        case "enum" | "const":
            if not is_typed:
                return NOT_LISTED
            # Values of another type break `type` as well. Other values of the same type are drawn.
            return tuple(one for one in NOT_LISTED if isinstance(one, str) and _is_like_listed(breach, one))
        case "format" if was in INTEGER_RANGES:
            low, high = INTEGER_RANGES[str(was)]
            return low - 1, high + 1
        case "format":
            return NEAR_MISSES.get(str(was), ())
        case _:
            return ()


def _is_like_listed(breach: Breach, value: Any) -> bool:
    """Whether the `enum` has a value of the same type."""
    listed: Any = breach.was if breach.keyword == "enum" else (breach.was,)
    return any(not _kinds(one).isdisjoint(_kinds(value)) for one in listed)


def _kinds(value: Any) -> frozenset[str]:
    """Return the types of a value; every number counts as an integer and a number."""
    kinds = type_of(value)
    return kinds | {forms.INTEGER} if forms.NUMBER in kinds else kinds


def _in_lines(breach: Breach) -> tuple[str, ...]:
    """Return a text of two lines of which only the first matches the pattern: in some engines, `$` matches at line ends."""
    pattern = str(breach.was)
    is_name = PathStep.NAME in breach.steps[-1:]
    if is_name or not (pattern.startswith("^") and pattern.endswith("$")):
        return ()
    try:
        match = writer(pattern, alphabets.VISIBLE.intervals)
        line = match.write(SimplestSource(0), 0, match.low)
    except (UnsupportedPattern, Rejected):
        return ()
    return (f"{line}\n{_MORE}",)


def _probed(
    breach: Breach, compiler: Compiler, probes: tuple[Any, ...], is_broken: Callable[[Any], bool]
) -> Iterator[tuple[Any, Any]]:
    """Yield each probe at its place in a whole value, if the whole value is wrong."""
    shown: set[str] = set()
    # Deeper than the top properties, one probe for each type is enough.
    is_one_of_each = breach.keyword == "type" and len(breach.path) > 1
    put: Any = None
    try:
        # The value around the probes is compiled once.
        with tried_with(compiler.budget):
            draw = breach.around(lambda source: put)
    except NO_VALUE:
        return
    for probe in probes:
        kind = max(type_of(probe)) if is_one_of_each else repr(probe)
        if kind in shown:
            continue
        put = probe
        for found in islice(_simplest(draw, compiler, is_broken, ranks=1), 1):
            shown.add(kind)
            yield found


def _simplest(
    draw: Broken, compiler: Compiler, is_broken: Callable[[Any], bool], ranks: int = _RANKS
) -> Iterator[tuple[Any, Any]]:
    """Yield values that are proved wrong, the simplest first, then random ones with fixed seeds."""
    sources: Iterator[Source] = chain(map(SimplestSource, range(ranks)), map(RandomSource, range(ranks)))
    for source in sources:
        compiler.context.begin(None)
        try:
            value, wrong = draw(source)
        except NO_VALUE:
            continue
        if is_broken(value):
            yield value, wrong


def _boundary(breach: Breach, value: Any, wrong: Any) -> Boundary:
    scenario, words = _WORDS.get(breach.keyword, (Scenario.FORBIDDEN, f"Violates {breach.keyword}"))
    if breach.keyword == "format" and not isinstance(wrong, str):
        scenario = Scenario.TOO_LARGE if wrong > 0 else Scenario.TOO_SMALL
        words = "Value outside of the range of {was}"
    if breach.keyword in ("enum", "const") and not _is_like_listed(breach, wrong):
        scenario, words = _WORDS["type"]
    # How the wrong part is reached from the root: `properties`, `items` and so on.
    is_about_whole = breach.keyword == "required"
    parts: list[str] = []
    named = ""
    for step, token in zip(breach.steps, breach.path, strict=True):
        if step is PathStep.PROPERTY:
            named += f"{token} -> "
            continue
        parts.append(_closed(named))
        named = ""
        parts.append(_STEPS[step].replace("{token}", token))
    parts.append(named if is_about_whole else _closed(named))
    text = "".join(parts) + words.replace("{was}", str(breach.was))
    pointer, keyword = breach.pointer, breach.keyword
    return Boundary(value, text, scenario, pointer, keyword, False, breach.was, wrong)


def _closed(named: str) -> str:
    return f"{named.removesuffix(' -> ')}: " if named else ""


_STEPS: Final = {
    PathStep.PATTERN: "Object with invalid pattern key value: ",
    PathStep.ADDITIONAL: "Object with invalid additional property: ",
    PathStep.NAME: "Object with property name violating propertyNames: ",
    PathStep.INDEX: "Array with invalid item at index {token}: ",
    PathStep.ITEM: "Array with invalid items: ",
}
