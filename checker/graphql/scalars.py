"""Values of scalars: those of GraphQL, those that many servers have, and those that users describe; and values that none takes."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from graphql import GraphQLScalarType, GraphQLSchema, is_specified_scalar_type

from checker.core.errors import IncorrectUsage
from checker.core.registry import WORD, NameRule, Registry, register_format
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Rejected
from checker.generation.sources.hypothesis import draw_strategy
from checker.graphql.nodes import plain

Raw = dict[str, Any]
_SAMPLES: Final = 64
"""Values of a scalar that is no text: a schema lists them."""
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


_ANYTHING: Final = {"type": ["string", "number", "boolean", "object", "array"]}
_TIME: Final = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"}
CUSTOM: Final[Mapping[str, Raw]] = {
    "Date": _text("date"),
    "Time": _TIME,
    "DateTime": _text("date-time"),
    "Timestamp": _text("date-time"),
    "IP": {"anyOf": [_text("ipv4"), _text("ipv6")]},
    "IPv4": _text("ipv4"),
    "IPv6": _text("ipv6"),
    "BigInt": _LONG,
    "Long": _LONG,
    "UUID": _text("uuid"),
    "URL": _text("uri"),
    "URI": _text("uri"),
    "EmailAddress": _text("email"),
    "JSON": _ANYTHING,
    "JSONObject": {"type": "object"},
    "Any": _ANYTHING,
    "_Any": {"type": "object"},
    "PositiveInt": {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
    "NonNegativeInt": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
    "Decimal": {"type": "string", "pattern": "^-?[0-9]{1,9}(\\.[0-9]{1,4})?$"},
}
"""Scalars that many servers have, by name: what their values usually are."""
_SPECIFIED: Final[Mapping[str, str]] = {
    "rfc4122": "UUID",
    "rfc9562": "UUID",
    "rfc3339": "DateTime",
    "iso-8601": "DateTime",
    "rfc3986": "URI",
    "rfc5322": "EmailAddress",
    "rfc8259": "JSON",
    "rfc7159": "JSON",
    "date-time": "DateTime",
    "local-date": "Date",
    "uuid": "UUID",
}
"""Last words of `@specifiedBy` URLs (`https://scalars.graphql.org/andimarek/date-time.html`): the known scalar that they specify."""
_UNKNOWN: Final = {"type": ["string", "integer", "boolean", "object"]}
"""The schema of a scalar that only its server knows."""

_STRATEGIES: Final[Registry[Any]] = Registry("scalar", names=NameRule(WORD.pattern, "a name of GraphQL"), replaces=True)
"""Name of a scalar -> strategy of nodes or of plain values, as users gave it."""


def scalar(name: object, strategy: Any) -> None:
    """Values of a scalar are drawn from `strategy`: of nodes (`checker.graphql.nodes`), or of plain values.

    A later strategy replaces an earlier one. Raises `IncorrectUsage`.
    """
    if not hasattr(strategy, "example") or not hasattr(strategy, "map"):
        raise IncorrectUsage(
            f"scalar {name!r} must be a Hypothesis strategy of `checker.graphql.nodes`, got {strategy!r}"
        )
    registered = _STRATEGIES.add(name, strategy.map(plain))
    register_format(_format_of(str(name)), registered)


def is_registered(name: str) -> bool:
    """Whether a user says what the values of a scalar are."""
    return name in _STRATEGIES


def is_unknown(kind: GraphQLScalarType) -> bool:
    """Whether the values of a scalar are unknown."""
    known = is_registered(kind.name) or is_specified_scalar_type(kind)
    return not known and known_name(kind) is None


def known_name(kind: GraphQLScalarType) -> str | None:
    """The scalar of `CUSTOM` that one is, by its name or by the URL of its specification."""
    return kind.name if kind.name in CUSTOM else _specified(kind)


def schema_of(kind: GraphQLScalarType) -> Raw:
    """JSON Schema of the values of a scalar. Raises `IncorrectUsage` for a strategy that gives none."""
    if is_registered(kind.name):
        return _registered(kind.name)
    found = BUILT_IN.get(kind.name) or CUSTOM.get(known_name(kind) or "")
    return dict(found or _UNKNOWN)


def _format_of(scalar: str) -> str:
    return f"graphql:{scalar}"


def _registered(name: str) -> Raw:
    samples: list[Any] = []
    try:
        for seed in range(_SAMPLES):
            samples.append(draw_strategy(_STRATEGIES[name], RandomSource(seed)))
    except Rejected:
        if not samples:
            raise IncorrectUsage(f"the strategy of scalar {name!r} gives no values; make it less strict") from None
    if all(isinstance(one, str) for one in samples):
        return _text(_format_of(name))
    # By the keywords of JSON Schema only texts can be drawn from a strategy and recorded.
    return {"enum": [one for place, one in enumerate(samples) if one not in samples[:place]]}


def _specified(kind: GraphQLScalarType) -> str | None:
    """Return the scalar that the last word of its specification's URL means."""
    url = kind.specified_by_url
    if not isinstance(url, str):
        return None
    last = url.partition("#")[0].rstrip("/").rpartition("/")[2].lower().partition(".")[0]
    return _SPECIFIED.get(last)


Reader = Callable[[Any], bool]
"""Whether some server might take a value."""
_DIGIT: Final = re.compile(r"\d")
_UUID: Final = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
_AROUND_UUID: Final = re.compile(r"urn:uuid:|[{}-]", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"[\d:]")
_NUMBER: Final = re.compile(r"\s*[-+]?(\d|\.\d|0x)", re.IGNORECASE)


def is_malformed(kind: GraphQLScalarType, value: Any) -> bool:
    """Whether no server takes a value for a scalar; False for a scalar that a user describes."""
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
    is_number = isinstance(value, int | float) or _is_blank(value)
    return is_number or (_is_text(value) and _NUMBER.match(value) is not None)


def _may_be_whole(value: Any) -> bool:
    return _may_be_number(value) and not (isinstance(value, float) and not value.is_integer())


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
    "EmailAddress": lambda value: _is_blank(value) or (_is_text(value) and "@" in value),
    "JSONObject": _is_container,
    "_Any": _is_container,
}
"""By the name of the scalar, one of `checker.graphql.scalars.CUSTOM`."""
