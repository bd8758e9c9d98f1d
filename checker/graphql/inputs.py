"""Types of arguments as JSON Schemas: what draws, breaks and lists values of requests then does so for GraphQL, too."""

from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    is_required_argument,
    is_required_input_field,
)

from checker.core.registry import FORMATS

Raw = dict[str, Any]
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
CUSTOM: Final[Mapping[str, Raw]] = {
    "Date": _text("date"),
    "Time": {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"},
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
_UNKNOWN: Final = {"type": ["string", "integer", "boolean", "object"]}
"""Of a scalar that only its server knows."""
_DEEPEST: Final = 3
"""Input objects in one another that have all of their fields: there are schemas in which each has fields of all others."""
_WITHOUT_NUL: Final = {"type": "string", "pattern": "^[^\\u0000]*$"}


def format_of(scalar: str) -> str:
    """The name under which a strategy for a scalar is registered."""
    return f"graphql:{scalar}"


class InputSchemas:
    """JSON Schemas of all input types of a schema; objects stand in `definitions` and refer to each other."""

    def __init__(self, schema: GraphQLSchema, *, allows_null: bool) -> None:
        """Without `allows_null`, neither null nor a NUL byte is valid where it can be left out."""
        self._allows_null = allows_null
        self.definitions: Raw = {}
        """By name and how deep they stand; the deepest ones have required fields alone."""
        kinds = [one for one in schema.type_map.values() if isinstance(one, GraphQLInputObjectType)]
        for depth in range(_DEEPEST + 1):
            for kind in kinds:
                self.definitions[f"{kind.name}.{depth}"] = self._object(kind, depth)

    def arguments(self, args: Mapping[str, GraphQLArgument]) -> Raw:
        """Of an object of arguments."""
        found: Raw = {
            "type": "object",
            "properties": {name: self._of(arg.type, 0) for name, arg in args.items()},
            "additionalProperties": False,
        }
        required = [name for name, arg in args.items() if is_required_argument(arg)]
        return found | ({"required": required} if required else {})

    def _of(self, kind: GraphQLInputType, depth: int) -> Raw:
        """Of the values of a type."""
        if isinstance(kind, GraphQLNonNull):
            return self._present(kind.of_type, depth)
        found = self._present(kind, depth)
        return _nullable(found) if self._allows_null else found

    def _present(self, kind: Any, depth: int) -> Raw:
        match kind:
            case GraphQLList():
                return {"type": "array", "items": self._of(kind.of_type, depth)}
            case GraphQLEnumType():
                return {"enum": list(kind.values)}
            case GraphQLScalarType():
                return self._scalar(kind.name)
            case _:
                return {"$ref": f"#/$defs/{kind.name}.{depth}"}

    def _scalar(self, name: str) -> Raw:
        if name == "String" and not self._allows_null:
            return dict(_WITHOUT_NUL)
        if format_of(name) in FORMATS:
            return _text(format_of(name))
        return dict(BUILT_IN.get(name) or CUSTOM.get(name, _UNKNOWN))

    def _object(self, kind: GraphQLInputObjectType, depth: int) -> Raw:
        fields: Mapping[str, GraphQLInputField] = kind.fields
        below = min(depth + 1, _DEEPEST)
        found: Raw = {"type": "object", "additionalProperties": False}
        if kind.is_one_of:
            properties = {name: self._one(field, below) for name, field in fields.items()}
            return found | {"properties": properties, "minProperties": 1, "maxProperties": 1}
        required = [name for name, field in fields.items() if is_required_input_field(field)]
        found["properties"] = {
            name: self._of(field.type, below)
            for name, field in fields.items()
            if depth < _DEEPEST or name in required
        }
        return found | ({"required": required} if required else {})

    def _one(self, field: GraphQLInputField, depth: int) -> Raw:
        """Of the one field that a `@oneOf` object has: never null."""
        kind = field.type
        return self._present(kind.of_type if isinstance(kind, GraphQLNonNull) else kind, depth)


def _nullable(raw: Raw) -> Raw:
    if "enum" in raw:
        return {"enum": [*raw["enum"], None]}
    kind = raw.get("type")
    if not raw or kind == "null":
        return raw
    if isinstance(kind, str):
        return {**raw, "type": [kind, "null"]}
    if isinstance(kind, list):
        return {**raw, "type": [*kind, "null"]}
    return {"anyOf": [raw, {"type": "null"}]}
