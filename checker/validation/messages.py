"""Violations in one line each, values as JSON spells them."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

_WIDTH = 80


def message_of(keyword: str, expected: Any, value: Any, original: str) -> str:
    """Return the sentence for a violation; `original` is kept for keywords that have no words here."""
    write = _WORDS.get(keyword)
    if write is None:
        return _cut(" ".join(original.split()), 2 * _WIDTH)
    return write(shown(value), expected)


def nearest_branch(place: int, branches: Any, path: Iterable[str | int], reason: str) -> str:
    """Return the nearest of several alternatives, by number and name, and why a value does not fit it."""
    branch = branches[place] if isinstance(branches, list) and place < len(branches) else None
    reference = branch.get("$ref") if isinstance(branch, dict) else None
    name = f" ({reference.rpartition('/')[2]})" if isinstance(reference, str) else ""
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"nearest is #{place + 1}{name}: {f'{where}: ' if where else ''}{reason}"


def shown(value: Any) -> str:
    """A value as JSON, cut to 80 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = repr(value)
    return _cut(text, _WIDTH)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _types(value: str, expected: Any) -> str:
    names = expected if isinstance(expected, list) else [expected]
    return f"{value} is not of type {', '.join(json.dumps(name) for name in names)}"


_Words = Callable[[str, Any], str]
_WORDS: Final[Mapping[str, _Words]] = {
    "type": _types,
    "enum": lambda value, expected: f"{value} is not one of {shown(expected)}",
    "const": lambda value, expected: f"{value} is not {shown(expected)}",
    "format": lambda value, expected: f'{value} is not a "{expected}"',
    "pattern": lambda value, expected: f"{value} does not match {shown(expected)}",
    "minLength": lambda value, expected: f"{value} is shorter than {expected} characters",
    "maxLength": lambda value, expected: f"{value} is longer than {expected} characters",
    "minimum": lambda value, expected: f"{value} is less than the minimum of {expected}",
    "maximum": lambda value, expected: f"{value} is greater than the maximum of {expected}",
    "multipleOf": lambda value, expected: f"{value} is not a multiple of {expected}",
    "minItems": lambda value, expected: f"{value} has less than {expected} items",
    "maxItems": lambda value, expected: f"{value} has more than {expected} items",
    "uniqueItems": lambda value, expected: f"{value} has equal items",
    "minProperties": lambda value, expected: f"{value} has less than {expected} properties",
    "maxProperties": lambda value, expected: f"{value} has more than {expected} properties",
    "anyOf": lambda value, expected: f'{value} fits no schema of "anyOf"',
    "oneOf": lambda value, expected: f'{value} does not fit exactly one schema of "oneOf"',
    "not": lambda value, expected: f'{value} fits the schema of "not"',
    "false": lambda value, expected: f"{value} is not allowed here",
}
