"""What stands in the fields of OpenAPI objects, as their authors mean it."""

from collections.abc import Mapping
from typing import Any, Final

_WORDS: Final = {
    "true": True,
    "yes": True,
    "on": True,
    "false": False,
    "no": False,
    "off": False,
}
"""How YAML 1.1 spells booleans, and JSON that was written by hand: to YAML 1.2 most of them are text."""


def flag(raw: Mapping[str, Any], name: str) -> bool | None:
    """Value of a boolean field; None where it is missing or nobody knows what it means."""
    value = raw.get(name)
    if isinstance(value, bool):
        return value
    return _WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def kind_of(value: object) -> str:
    """What was found, for people: `a list`."""
    if value is None:
        return "nothing"
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean"}
    return names.get(type(value), "a number")
