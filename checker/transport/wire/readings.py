"""Readings of a text: the values that servers may read from it, including doubtful ones.

A text has no type, so the types that its schema admits decide. Numbers, booleans and null are expected in JSON's spelling.
Other spellings, which some frameworks accept, are doubtful readings.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import Any, NoReturn

from msgspec import Struct

from checker.core.scalars import BOOLEAN_WORDS
from checker.schema.views import Outline
from checker.transport.wire import ambiguity


class Repeated(Struct, frozen=True):
    """The texts of all pairs with one name: a list, or a single value if there is one pair and the schema allows no list."""

    texts: tuple[str, ...]


Tree = str | Repeated | Sequence["Tree"] | Mapping[str, "Tree"]
"""A value to the extent that its style determines it: a text, or a list or object of texts."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DIGITS = 4000  # Digits of the longest integer that is read: Python refuses more than 4,300 digits.
_COMBINATIONS = 64  # Combinations of the readings of all parts that are tried.


class Reading(Struct, frozen=True):
    """One value that a text can stand for."""

    value: Any
    doubt: str = ""
    """The reason why a server may read the text differently; empty if every server reads this value, provided that the schema allows it."""


def readings(tree: Tree, outline: Outline) -> list[Reading]:
    """Return the values that a tree of texts may stand for by its schema, most likely first. Never empty."""
    if isinstance(tree, str):
        return of_text(tree, outline.types)
    if isinstance(tree, Repeated):
        texts = tree.texts
        as_list = arrays([readings(text, outline.item(index)) for index, text in enumerate(texts)])
        if len(texts) > 1:
            return as_list
        if "array" not in outline.types:
            return of_text(texts[0], outline.types)
        if not outline.types - {"array", "null"}:
            nested = [one for one in of_text(texts[0], outline.types) if isinstance(one.value, list)]
            return as_list + nested
        return as_list + of_text(texts[0], outline.types)
    if isinstance(tree, Mapping):
        return objects({name: readings(text, outline.property(name)) for name, text in tree.items()})
    return arrays([readings(item, outline.item(index)) for index, item in enumerate(tree)])


def objects(properties: Mapping[str, list[Reading]]) -> list[Reading]:
    """Return the readings of an object, combined from the readings of its properties."""
    return [
        Reading(dict(zip(properties, values, strict=True)), doubt)
        for values, doubt in _combined(list(properties.values()))
    ]


def arrays(items: list[list[Reading]]) -> list[Reading]:
    """Return the readings of an array, combined from the readings of its items."""
    return [Reading(list(values), doubt) for values, doubt in _combined(items)]


def doubted(found: list[Reading], doubt: str) -> list[Reading]:
    """Return the readings with a doubt. A doubt that means that further readings may exist has precedence."""
    if not doubt:
        return found
    unknown = ambiguity.UNKNOWN
    return [Reading(one.value, one.doubt if one.doubt in unknown else doubt) for one in found]


def _combined(parts: list[list[Reading]]) -> list[tuple[tuple[Any, ...], str]]:
    count = math.prod(map(len, parts))
    if count <= _COMBINATIONS:
        chosen = product(*parts)
        return [(_values(one), _doubt(one)) for one in chosen]
    # A server reads all parts in the same way, so all first readings, or all last readings, are the likeliest combinations.
    uniform = [tuple(part[0] for part in parts), tuple(part[-1] for part in parts)]
    more = list(islice(product(*parts), _COMBINATIONS - 2))
    return [
        *((_values(one), _doubt(one)) for one in (*uniform, *more[:-1])),
        # The doubt of this reading stands for all readings that were omitted.
        (_values(more[-1]), ambiguity.MANY),
    ]


def _values(chosen: tuple[Reading, ...]) -> tuple[Any, ...]:
    return tuple(reading.value for reading in chosen)


def _doubt(chosen: tuple[Reading, ...]) -> str:
    doubts = [reading.doubt for reading in chosen if reading.doubt]
    # The doubt that further readings may exist is the strongest: no verdict rests on such a value.
    doubts.sort(key=lambda doubt: doubt not in ambiguity.UNKNOWN)
    return "".join(doubts[:1])


def of_text(text: str, types: frozenset[str]) -> list[Reading]:
    """Return the values that one text may stand for, if these types are allowed."""
    found: list[Reading] = []
    if types & {"integer", "number"}:
        found += _numbers(text, allows_fractions="number" in types)
    if "boolean" in types:
        value = BOOLEAN_WORDS.get(text.lower())
        found += [] if value is None else [Reading(value, "" if text in ("true", "false") else ambiguity.LOOSE)]
    if types & {"array", "object"} and text.startswith(("[", "{")):
        # The style has no form for JSON inside a text, so this reading is doubtful.
        with suppress(ValueError):
            inside = exact_json(text)
            if ("array" if isinstance(inside, list) else "object") in types:
                found.append(Reading(inside, ambiguity.NESTED))
    if "null" in types and text in ("null", ""):
        found.append(Reading(None, ambiguity.NULL))
    if "string" in types:
        found.append(Reading(text))
    elif all(reading.doubt for reading in found):
        # No type fits, so the value is text, which the schema rejects.
        found.append(Reading(text, ambiguity.UNFIT if found else ""))
    return found


def _numbers(text: str, *, allows_fractions: bool) -> list[Reading]:
    if len(text) > _DIGITS:
        return []
    if _INTEGER.fullmatch(text):
        return [Reading(int(text))]
    if _NUMBER.fullmatch(text):
        value = float(text)
        if not math.isfinite(value):
            return [Reading(value, ambiguity.LARGE)]
        return [Reading(value, "" if allows_fractions else ambiguity.FRACTION)]
    try:
        loose = float(text)
    except ValueError:
        return []
    if not math.isfinite(loose):
        return []
    value = int(loose) if loose.is_integer() else loose
    return [Reading(value, ambiguity.LOOSE)]


def exact_json(text: str) -> Any:
    """Return the exact value of a JSON text. Raises `ValueError`, also for NaN, infinity and extreme nesting."""
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


class NoConstant(ValueError):
    """`NaN` or an infinity, which Python reads as JSON."""


def refuse_constant(constant: str) -> NoReturn:
    """Raise `NoConstant`."""
    raise NoConstant(f"{constant} is not JSON")
