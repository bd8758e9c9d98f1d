"""Faults of values by their type, read as generously as GraphQL and its servers do."""

from collections.abc import Iterator, Mapping
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

from checker.graphql.scalars import BUILT_IN, is_malformed

_INT: Final = 2**31


def count_faults(kind: Any, value: Any) -> int:
    """Return the number of rules that a value of a type breaks, as a variable and as a literal, in the reading that breaks fewest.

    Unknown scalars take everything, and known ones every value that some server might read.
    """
    match kind:
        case GraphQLNonNull():
            return 1 if value is None else count_faults(kind.of_type, value)
        case _ if value is None:
            return 0
        case GraphQLList():
            # A single value stands for a list of one (GraphQL, 3.11).
            items = value if isinstance(value, list) else [value]
            found = sum(count_faults(kind.of_type, item) for item in items)
            # A wrong object that is alone may be no list, or a wrong item: two faults.
            return found + 1 if found and isinstance(value, dict) else found
        case GraphQLEnumType():
            return not (isinstance(value, str) and value in kind.values)
        case GraphQLInputObjectType():
            return _count_in_object(kind, value) if isinstance(value, dict) else 1
        case _ if kind.name in BUILT_IN:
            return not takes_scalar(kind.name, value)
        case _:
            return is_malformed(kind, value)


def _count_in_object(kind: GraphQLInputObjectType, value: Mapping[str, Any]) -> int:
    fields: Mapping[str, GraphQLInputField] = kind.fields
    if kind.is_one_of and (len(value) != 1 or None in value.values()):
        return 1
    missing = sum(is_required_input_field(one) and key not in value for key, one in fields.items())
    return missing + sum(count_faults(fields[key].type, one) if key in fields else 1 for key, one in value.items())


def count_in_arguments(args: Mapping[str, GraphQLArgument], value: Any) -> int:
    """Return the number of rules that the arguments of a field break."""
    if not isinstance(value, dict):
        return 1
    missing = sum(is_required_argument(one) and name not in value for name, one in args.items())
    return missing + sum(count_faults(args[name].type, one) if name in args else 1 for name, one in value.items())


def innermost_fault(kind: Any, value: Any) -> tuple[tuple[str | int, ...], Any, Any]:
    """(where, its type, what stands there) of the innermost value that makes a wrong one wrong; the first of several.

    What misses members, or has others, is itself the innermost one.
    """
    path: list[str | int] = []
    while value is not None:
        plain = kind.of_type if isinstance(kind, GraphQLNonNull) else kind
        if isinstance(plain, GraphQLList) and not isinstance(value, list):
            kind = plain.of_type
            continue
        wrong = next((part for part in _parts(plain, value) if count_faults(*part[1:])), None)
        if wrong is None:
            break
        place, kind, value = wrong
        path.append(place)
    return tuple(path), kind, value


def _parts(kind: Any, value: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """(name or index, its type, what stands there) of what a list or an object holds."""
    if isinstance(kind, GraphQLList):
        yield from ((place, kind.of_type, one) for place, one in enumerate(value))
    elif not isinstance(kind, GraphQLInputObjectType) or not isinstance(value, dict):
        return
    elif not kind.is_one_of or len(value) == 1:
        # Of those that are too many, none is wrong by itself.
        fields = kind.fields
        yield from ((key, fields[key].type, one) for key, one in value.items() if key in fields)


def takes_scalar(name: str, value: Any) -> bool:
    """Whether a value of JSON can be given for a scalar; true of custom ones, which say nothing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match name:
        case "Int":
            return is_number and value % 1 == 0 and -_INT <= value < _INT
        case "Float":
            return is_number
        case "String":
            return isinstance(value, str)
        case "Boolean":
            return isinstance(value, bool)
        case "ID":
            return isinstance(value, str) or (is_number and value % 1 == 0)
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
    return {name: simplest(one.type, depth - 1) for name, one in fields.items() if is_required_input_field(one)}
