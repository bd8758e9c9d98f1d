"""Values of scalars, and faults of values by their type.

Scalars are those of GraphQL, common custom ones, and those that users register. A value is only a fault if GraphQL and all
common servers reject it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from graphql import (
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    is_required_argument,
    is_required_input_field,
    is_specified_scalar_type,
)
from msgspec import Struct

from checker.core.errors import IncorrectUsage
from checker.core.registry import FORMATS, WORD, register_format
from checker.core.scalars import is_number
from checker.generation.sources.basic import draw_strategy
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Rejected
from checker.graphql.nodes import plain

Raw = dict[str, Any]
_SAMPLES: Final = 64  # Sampled values of a strategy that draws other values than text. The schema lists the values.
_INT: Final = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
_LONG: Final = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}
BUILT_IN: Final[Mapping[str, Raw]] = {
    "Int": _INT,
    "Float": {"type": "number"},
    "String": {"type": "string"},
    "Boolean": {"type": "boolean"},
    "ID": {"type": "string"},
}


def _text(format: str) -> Raw:
    return {"type": "string", "format": format}


Reader = Callable[[Any], bool]  # Whether some server might accept a value.
_DIGIT: Final = re.compile(r"\d")
_UUID: Final = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
_AROUND_UUID: Final = re.compile(r"urn:uuid:|[{}-]", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"[\d:]")
_NUMBER: Final = re.compile(r"\s*[-+]?(\d|\.\d|0x)", re.IGNORECASE)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_blank(value: Any) -> bool:
    # Some servers read blank text as null.
    return isinstance(value, str) and not value.strip()


def _may_be_time(value: Any) -> bool:
    return is_number(value) or _is_blank(value) or (_is_text(value) and bool(_DIGIT.search(value)))


def _may_be_address(value: Any) -> bool:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return is_whole or _is_blank(value) or (_is_text(value) and bool(_ADDRESS.search(value)))


def _may_be_number(value: Any) -> bool:
    # Some languages treat booleans as numbers.
    is_number = isinstance(value, int | float) or _is_blank(value)
    return is_number or (_is_text(value) and _NUMBER.match(value) is not None)


def _may_be_whole(value: Any) -> bool:
    return _may_be_number(value) and not (isinstance(value, float) and not value.is_integer())


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list)


def _is_anything(value: Any) -> bool:
    return True


class CommonScalar(Struct, frozen=True):
    """A custom scalar that many schemas have."""

    schema: Raw  # Schema of its usual values.
    may_be: Reader  # Whether some server might accept a value.
    simplest: Any = "0"


_ANYTHING: Final = {"type": ["string", "number", "boolean", "object", "array"]}
_TIME: Final = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"}
_DECIMAL: Final = {"type": "string", "pattern": "^-?[0-9]{1,9}(\\.[0-9]{1,4})?$"}
_IP: Final = {"anyOf": [_text("ipv4"), _text("ipv6")]}
CUSTOM: Final[Mapping[str, CommonScalar]] = {
    "Date": CommonScalar(_text("date"), _may_be_time, "2000-01-01"),
    "Time": CommonScalar(_TIME, _may_be_time, "00:00:00Z"),
    "DateTime": CommonScalar(_text("date-time"), _may_be_time, "2000-01-01T00:00:00Z"),
    "Timestamp": CommonScalar(_text("date-time"), _may_be_time),
    "IP": CommonScalar(_IP, _may_be_address),
    "IPv4": CommonScalar(_text("ipv4"), _may_be_address),
    "IPv6": CommonScalar(_text("ipv6"), _may_be_address),
    "BigInt": CommonScalar(_LONG, _may_be_whole, 1),
    "Long": CommonScalar(_LONG, _may_be_whole, 1),
    "UUID": CommonScalar(
        _text("uuid"),
        lambda value: (
            _is_text(value) and (_is_blank(value) or _UUID.fullmatch(_AROUND_UUID.sub("", value.strip())) is not None)
        ),
        "00000000-0000-4000-8000-000000000000",
    ),
    "URL": CommonScalar(_text("uri"), _is_text),
    "URI": CommonScalar(_text("uri"), _is_text),
    "EmailAddress": CommonScalar(_text("email"), lambda value: _is_blank(value) or (_is_text(value) and "@" in value)),
    "JSON": CommonScalar(_ANYTHING, _is_anything, {}),
    "JSONObject": CommonScalar({"type": "object"}, _is_container, {}),
    "Any": CommonScalar(_ANYTHING, _is_anything),
    "_Any": CommonScalar({"type": "object"}, _is_container),
    "PositiveInt": CommonScalar(
        _INT | {"minimum": 1}, lambda value: _may_be_whole(value) and not (is_number(value) and value <= 0)
    ),
    "NonNegativeInt": CommonScalar(
        _INT | {"minimum": 0}, lambda value: _may_be_whole(value) and not (is_number(value) and value < 0)
    ),
    "Decimal": CommonScalar(_DECIMAL, _may_be_number),
}
"""Name -> common custom scalar."""
_SPECIFIED: Final[Mapping[str, str]] = {
    "rfc4122": "UUID", "rfc9562": "UUID", "rfc3339": "DateTime", "iso-8601": "DateTime", "rfc3986": "URI",
    "rfc5322": "EmailAddress", "rfc8259": "JSON", "rfc7159": "JSON", "date-time": "DateTime", "local-date": "Date",
    "uuid": "UUID",
}  # fmt: skip
"""Last words of `@specifiedBy` URLs (`https://scalars.graphql.org/andimarek/date-time.html`) -> common scalar."""
_UNKNOWN: Final = {"type": ["string", "integer", "boolean", "object"]}
"""The schema for a scalar that only its server knows."""


def scalar(name: object, strategy: Any) -> None:
    """Draw the values of a scalar from `strategy`: a strategy of nodes (`checker.graphql.nodes`), or of plain values.

    A later strategy replaces an earlier one. Raises `IncorrectUsage`.
    """
    if not hasattr(strategy, "example") or not hasattr(strategy, "map"):
        raise IncorrectUsage(
            f"scalar {name!r} must be a Hypothesis strategy of `checker.graphql.nodes`, got {strategy!r}"
        )
    if not isinstance(name, str) or not re.fullmatch(WORD.pattern, name):
        raise IncorrectUsage(f"the name of a scalar must be a name of GraphQL, got {name!r}")
    register_format(_format_of(name), strategy.map(plain))


def is_registered(name: str) -> bool:
    """Whether a user has described the values of a scalar."""
    return _format_of(name) in FORMATS


def is_unknown(kind: GraphQLScalarType) -> bool:
    """Whether the values of a scalar are unknown."""
    known = is_registered(kind.name) or is_specified_scalar_type(kind)
    return not known and known_name(kind) is None


def known_name(kind: GraphQLScalarType) -> str | None:
    """Return the common scalar that a scalar stands for, by its name or by the URL of its specification."""
    if kind.name in CUSTOM:
        return kind.name
    url = kind.specified_by_url
    if not isinstance(url, str):
        return None
    last = url.partition("#")[0].rstrip("/").rpartition("/")[2].lower().partition(".")[0]
    return _SPECIFIED.get(last)


def schema_of(kind: GraphQLScalarType) -> Raw:
    """Return the JSON Schema of a scalar's values. Raises `IncorrectUsage` for a strategy without values."""
    if is_registered(kind.name):
        samples: list[Any] = []
        try:
            for seed in range(_SAMPLES):
                samples.append(draw_strategy(FORMATS[_format_of(kind.name)], RandomSource(seed)))
        except Rejected:
            if not samples:
                raise IncorrectUsage(
                    f"the strategy of scalar {kind.name!r} gives no values; make it less strict"
                ) from None
        if all(isinstance(one, str) for one in samples):
            return _text(_format_of(kind.name))
        # JSON Schema keywords can only draw and record texts of a strategy, so other values are listed.
        return {"enum": [one for place, one in enumerate(samples) if one not in samples[:place]]}
    name = known_name(kind)
    return dict(BUILT_IN.get(kind.name) or (_UNKNOWN if name is None else CUSTOM[name].schema))


def _format_of(scalar: str) -> str:
    return f"graphql:{scalar}"


def is_malformed(kind: GraphQLScalarType, value: Any) -> bool:
    """Whether no server accepts a value of a scalar. False for scalars that users register."""
    name = known_name(kind)
    return name is not None and not is_registered(kind.name) and not CUSTOM[name].may_be(value)


def refuse_malformed(schema: GraphQLSchema) -> None:
    """Make graphql-core reject malformed values of custom scalars. By default it accepts everything."""
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLScalarType) and not is_specified_scalar_type(kind):
            # graphql-core 3.2 calls `parse_value`; 3.3 calls `coerce_input_value`.
            for name in ("parse_value", "coerce_input_value"):
                setattr(kind, name, _parser(kind))


def _parser(kind: GraphQLScalarType) -> Callable[[Any], Any]:
    def parse(value: Any) -> Any:
        if is_malformed(kind, value):
            # With a `GraphQLError`, validation would not add the position in the query.
            raise ValueError(f"{kind.name} cannot represent {value!r:.80}")
        return value

    return parse


_INT_BOUND: Final = 2**31


def count_faults(kind: Any, value: Any) -> int:
    """Return the number of rules that a value breaks, in the most favourable reading as a variable or as a literal.

    Unknown scalars accept everything, known ones every value that some server might accept.
    """
    match kind:
        case GraphQLNonNull():
            return 1 if value is None else count_faults(kind.of_type, value)
        case _ if value is None:
            return 0
        case GraphQLList():
            # A single value stands for a list with one item (GraphQL, 3.11).
            items = value if isinstance(value, list) else [value]
            found = sum(count_faults(kind.of_type, item) for item in items)
            # A single wrong object may be a missing list or a wrong item, so it counts as two faults.
            return found + 1 if found and isinstance(value, dict) else found
        case GraphQLEnumType():
            return not (isinstance(value, str) and value in kind.values)
        case GraphQLInputObjectType():
            is_single = isinstance(value, dict) and len(value) == 1 and None not in value.values()
            return 1 if kind.is_one_of and not is_single else count_in_arguments(kind.fields, value)
        case _ if kind.name in BUILT_IN:
            return not takes_scalar(kind.name, value)
        case _:
            return is_malformed(kind, value)


def count_in_arguments(args: Mapping[str, Any], value: Any) -> int:
    """Return the number of rules that the arguments of a field, or the fields of an input object, break."""
    if not isinstance(value, dict):
        return 1
    missing = sum(is_required_argument(one) and name not in value for name, one in args.items())
    return missing + sum(count_faults(args[name].type, one) if name in args else 1 for name, one in value.items())


def takes_scalar(name: str, value: Any) -> bool:
    """Whether a JSON value can be sent for a scalar. True for custom scalars."""
    match name:
        case "Int":
            return is_number(value) and value % 1 == 0 and -_INT_BOUND <= value < _INT_BOUND
        case "Float":
            return is_number(value)
        case "String":
            return isinstance(value, str)
        case "Boolean":
            return isinstance(value, bool)
        case "ID":
            return isinstance(value, str) or (is_number(value) and value % 1 == 0)
        case _:
            return True


def simplest(kind: Any, depth: int = 8) -> Any:
    """Return a simple value of a type; None if there is none."""
    match kind:
        case GraphQLNonNull():
            return simplest(kind.of_type, depth)
        case GraphQLList():
            return []
        case GraphQLEnumType():
            return next(iter(kind.values))
        case GraphQLInputObjectType():
            fields: Mapping[str, GraphQLInputField] = kind.fields
            if not depth:
                return {}
            if kind.is_one_of:
                return {name: simplest(one.type, depth - 1) for name, one in list(fields.items())[:1]}
            return {name: simplest(one.type, depth - 1) for name, one in fields.items() if is_required_input_field(one)}
        case _:
            built_in = {"Int": 1, "Float": 1, "Boolean": False}
            return CUSTOM[kind.name].simplest if kind.name in CUSTOM else built_in.get(kind.name, "0")
