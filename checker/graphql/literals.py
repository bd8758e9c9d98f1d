"""Values as GraphQL writes them in a query, right or wrong."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    get_named_type,
)

_NAME: Final = re.compile(r"[_A-Za-z][_0-9A-Za-z]*")
_KEYWORDS: Final = frozenset({"true", "false", "null"})
_CONTROLS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def literal(value: Any, kind: Any = None) -> str:
    """A value of a type, or of none: names of enums stand without quotes. What is no value of the type stays recognisably so."""
    while isinstance(kind, GraphQLNonNull):
        kind = kind.of_type
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return str(int(value)) if value.is_integer() else repr(value)
        case str():
            is_name = isinstance(kind, GraphQLEnumType) and _is_enum_name(value)
            return value if is_name else quoted(value)
        case list():
            inner = kind.of_type if isinstance(kind, GraphQLList) else kind
            return "[" + ", ".join(literal(one, inner) for one in value) + "]"
        case Mapping():
            return _object(value, kind)
        case _:
            return quoted(str(value))


def _object(value: Mapping[str, Any], kind: Any) -> str:
    named = get_named_type(kind) if kind is not None else None
    fields = named.fields if isinstance(named, GraphQLInputObjectType) else {}
    # An object of a scalar has members of any name, `__typename` of a representation among them.
    is_free = isinstance(named, GraphQLScalarType)
    members = [
        f"{name if name in fields or (is_free and _NAME.fullmatch(name)) else stranger(name, fields)}: "
        + literal(one, fields[name].type if name in fields else None)
        for name, one in value.items()
    ]
    return "{" + ", ".join(members) + "}"


def quoted(text: str) -> str:
    """A string of GraphQL: JSON's escapes are a part of its own."""
    # Some servers count lines by more than GraphQL does, and fall over when they say where an error is.
    return _CONTROLS.sub(lambda one: f"\\u{ord(one[0]):04X}", json.dumps(text, ensure_ascii=False))


def is_writable(value: Any) -> bool:
    """Whether a query can hold every text in a value: it knows no lone surrogates."""
    if isinstance(value, str):
        return _SURROGATE.search(value) is None
    if isinstance(value, dict):
        return all(map(is_writable, value)) and all(map(is_writable, value.values()))
    return not isinstance(value, list) or all(map(is_writable, value))


def stranger(name: object, known: Any) -> str:
    """A name that is none of the known ones, and one that GraphQL can write."""
    text = name if isinstance(name, str) else json.dumps(name, default=str)
    found = text if _NAME.fullmatch(text) and not text.startswith("__") else ""
    if not found or len(found) > 64:
        found = "unknown_" + text[:24].encode("utf-8", "surrogatepass").hex()
    while found in known:
        found += "_"
    return found


def _is_enum_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text not in _KEYWORDS
