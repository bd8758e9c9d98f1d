"""Values that no server takes for a scalar that many servers have. What any of them might read as right is not among them."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from graphql import GraphQLScalarType, GraphQLSchema, is_specified_scalar_type

from checker.graphql.scalars import is_registered, known_name

Reader = Callable[[Any], bool]
"""Whether some server might take a value."""
_DIGIT: Final = re.compile(r"\d")
_UUID: Final = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
_AROUND_UUID: Final = re.compile(r"urn:uuid:|[{}-]", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"[\d:]")
_NUMBER: Final = re.compile(r"\s*[-+]?(\d|\.\d|0x)", re.IGNORECASE)


def is_malformed(kind: GraphQLScalarType, value: Any) -> bool:
    """Whether a value is none of a scalar, whoever serves it; never of one that a user describes."""
    name = known_name(kind)
    reader = _READERS.get(name) if name is not None else None
    return reader is not None and not is_registered(kind.name) and not reader(value)


def refuse_malformed(schema: GraphQLSchema) -> None:
    """Have graphql-core refuse such values: without that, it takes everything for a scalar that is not its own."""
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLScalarType) and not is_specified_scalar_type(kind):
            # graphql-core 3.2 calls `parse_value`; 3.3 calls `coerce_input_value`.
            for name in ("parse_value", "coerce_input_value"):
                setattr(kind, name, _parser(kind))


def _parser(kind: GraphQLScalarType) -> Callable[[Any], Any]:
    def parse(value: Any) -> Any:
        if is_malformed(kind, value):
            # No `GraphQLError`: validation adds to others which value of the query it is about.
            raise ValueError(f"{kind.name} cannot represent {value!r:.80}")
        return value

    return parse


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_blank(value: Any) -> bool:
    # Some read it as null.
    return isinstance(value, str) and not value.strip()


def _may_be_time(value: Any) -> bool:
    return _is_number(value) or _is_blank(value) or (_is_text(value) and bool(_DIGIT.search(value)))


def _may_be_uuid(value: Any) -> bool:
    if not _is_text(value):
        return False
    return _is_blank(value) or _UUID.fullmatch(_AROUND_UUID.sub("", value.strip())) is not None


def _may_be_address(value: Any) -> bool:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return is_whole or _is_blank(value) or (_is_text(value) and bool(_ADDRESS.search(value)))


def _may_be_number(value: Any) -> bool:
    # A boolean is one for some languages.
    return isinstance(value, int | float) or _is_blank(value) or _says_number(value)


def _says_number(value: Any) -> bool:
    return _is_text(value) and _NUMBER.match(value) is not None


def _may_be_whole(value: Any) -> bool:
    return _may_be_number(value) and not (isinstance(value, float) and not value.is_integer())


def _may_be_email(value: Any) -> bool:
    return _is_blank(value) or (_is_text(value) and "@" in value)


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list)


_READERS: Final[Mapping[str, Reader]] = {
    "Date": _may_be_time,
    "Time": _may_be_time,
    "DateTime": _may_be_time,
    "Timestamp": _may_be_time,
    "IP": _may_be_address,
    "IPv4": _may_be_address,
    "IPv6": _may_be_address,
    "BigInt": _may_be_whole,
    "Long": _may_be_whole,
    "Decimal": _may_be_number,
    "PositiveInt": lambda value: _may_be_whole(value) and not (_is_number(value) and value <= 0),
    "NonNegativeInt": lambda value: _may_be_whole(value) and not (_is_number(value) and value < 0),
    "UUID": _may_be_uuid,
    "URL": _is_text,
    "URI": _is_text,
    "EmailAddress": _may_be_email,
    "JSONObject": _is_container,
    "_Any": _is_container,
}
"""By the name of the scalar, one of `checker.graphql.scalars.CUSTOM`."""
