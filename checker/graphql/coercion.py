"""Whether values are what a type takes, read as generously as GraphQL and its servers do."""

from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    is_required_argument,
    is_required_input_field,
)

_INT: Final = 2**31


def takes(kind: Any, value: Any) -> bool:
    """Whether a type takes a value, as a variable and as a literal, in some reading; scalars of servers take everything."""
    match kind:
        case GraphQLNonNull():
            return value is not None and takes(kind.of_type, value)
        case _ if value is None:
            return True
        case GraphQLList():
            # A single value stands for a list of one (GraphQL, 3.11).
            items = value if isinstance(value, list) else [value]
            return all(takes(kind.of_type, item) for item in items)
        case GraphQLEnumType():
            return isinstance(value, str) and value in kind.values
        case GraphQLInputObjectType():
            return isinstance(value, dict) and takes_fields(kind, value)
        case _:
            return takes_scalar(kind.name, value)


def takes_fields(kind: GraphQLInputObjectType, value: Mapping[str, Any]) -> bool:
    """Whether an input object may have these fields."""
    fields: Mapping[str, GraphQLInputField] = kind.fields
    if kind.is_one_of and (len(value) != 1 or None in value.values()):
        return False
    if any(is_required_input_field(one) and name not in value for name, one in fields.items()):
        return False
    return all(name in fields and takes(fields[name].type, one) for name, one in value.items())


def takes_arguments(args: Mapping[str, GraphQLArgument], value: Any) -> bool:
    """Whether a field may be given these arguments."""
    if not isinstance(value, dict):
        return False
    if any(is_required_argument(one) and name not in value for name, one in args.items()):
        return False
    return all(name in args and takes(args[name].type, one) for name, one in value.items())


def takes_scalar(name: str, value: Any) -> bool:
    """Whether a value of JSON can be given for a scalar; true of custom ones, which say nothing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match name:
        case "Int":
            return is_number and value == int(value) and -_INT <= value < _INT
        case "Float":
            return is_number
        case "String":
            return isinstance(value, str)
        case "Boolean":
            return isinstance(value, bool)
        case "ID":
            return isinstance(value, str) or (is_number and value == int(value))
        case _:
            return True


def simplest(kind: Any, depth: int = 8) -> Any:
    """Some value that a type takes; None where there is none."""
    match kind:
        case GraphQLNonNull():
            return simplest(kind.of_type, depth)
        case GraphQLList():
            return []
        case GraphQLEnumType():
            return next(iter(kind.values))
        case GraphQLInputObjectType():
            return _simplest_object(kind, depth)
        case _:
            return _SIMPLEST.get(kind.name, "0")


_SIMPLEST: Final[Mapping[str, Any]] = {
    "Int": 1,
    "Float": 1,
    "Boolean": False,
    "ID": "0",
    "String": "0",
    "Date": "2000-01-01",
    "DateTime": "2000-01-01T00:00:00Z",
    "Time": "00:00:00Z",
    "UUID": "00000000-0000-4000-8000-000000000000",
    "Long": 1,
    "BigInt": 1,
    "JSON": {},
    "JSONObject": {},
}


def _simplest_object(kind: GraphQLInputObjectType, depth: int) -> Any:
    fields: Mapping[str, GraphQLInputField] = kind.fields
    if not depth:
        return {}
    if kind.is_one_of:
        return {name: simplest(one.type, depth - 1) for name, one in list(fields.items())[:1]}
    return {
        name: simplest(one.type, depth - 1)
        for name, one in fields.items()
        if is_required_input_field(one)
    }
