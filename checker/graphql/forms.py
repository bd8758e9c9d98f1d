"""Other forms of a usual request: in a list, by GET; and requests that cost more than usual, though never without a bound."""

import json
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from graphql import (
    GraphQLField,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
)

from checker.core.case import NOT_SET
from checker.core.operation import BodyForm
from checker.core.scenarios import Scenario
from checker.graphql.selections import is_free
from checker.graphql.writing import ARGUMENTS, QueryWriter

_ALIASES: Final = 500
_DEPTH: Final = 100
"""Selections in one another."""
_MOST_BYTES: Final = 64_000
_LONGEST_URL: Final = 4_000
_MOST_TYPES: Final = 200
"""That are looked at for a way back."""
_OF_TYPES: Final = "query {{ __schema {{ types {{ {inner} }} }} }}"
_MOST_WAYS: Final = 8


def forms_of(writer: QueryWriter, value: Any, *, costly: bool) -> Iterator[BodyForm]:
    """Of the usual body of a root field: how others ask for the same, and with `costly` what asks for much at once."""
    try:
        query, variables = writer.query(value)
    except (ValueError, RecursionError):
        return
    request = {"query": query, "variables": variables}
    yield BodyForm(Scenario.BATCH, "Two requests in one list", [request, request])
    in_url = {"query": query, "variables": json.dumps(variables)}
    if writer.operation == "query" and sum(map(len, in_url.values())) <= _LONGEST_URL:
        text = "The query in the URL of a GET request"
        yield BodyForm(Scenario.QUERY_BY_GET, text, NOT_SET, "GET", in_url)
    if costly and writer.operation == "query":
        yield from _costly(writer, value)


def _costly(writer: QueryWriter, value: Any) -> Iterator[BodyForm]:
    # What each is known by, and nothing more: the answers are small.
    field = writer.root_text({ARGUMENTS: value.get(ARGUMENTS, {})})
    count = min(_ALIASES, _MOST_BYTES // (len(field) + 8))
    if count > 1:
        many = " ".join(f"a{number}: {field}" for number in range(count))
        text = f"{count} fields under names of their own"
        yield BodyForm(Scenario.MANY_ALIASES, text, {"query": f"query {{ {many} }}"})
    text = f"{_DEPTH} selections in one another"
    yield BodyForm(Scenario.DEEP_NESTING, text, {"query": _deep(writer, value)})


def _deep(writer: QueryWriter, value: Any) -> str:
    """A query of that depth whose answer stays small: along single objects that lead back to their type, or along types."""
    way = _way_back(writer.kind) if _is_single(writer.field.type) else None
    if way is None:
        # What a type is of is one type, or none: each server that describes itself has that.
        return _OF_TYPES.format(inner=_nested("ofType", _DEPTH, "name"))
    text = "__typename"
    for _ in range(_DEPTH // len(way)):
        for name in reversed(way):
            text = f"{name} {{ {text} }}"
    return f"query {{ {writer.root_text(value, selection=text)} }}"


def _nested(name: str, depth: int, innermost: str) -> str:
    return f"{name} {{ " * depth + innermost + " }" * depth


def _way_back(kind: Any) -> tuple[str, ...] | None:
    """The shortest way of fields from an object to another one of its type; None where there is none without a list."""
    queue: deque[tuple[Any, tuple[str, ...]]] = deque([(kind, ())])
    seen: set[str] = set()
    while queue and len(seen) < _MOST_TYPES:
        here, way = queue.popleft()
        if not isinstance(here, GraphQLObjectType) or len(way) >= _MOST_WAYS:
            continue
        for name, field in here.fields.items():
            inner = get_named_type(field.type)
            if is_leaf_type(inner) or not _is_open(field):
                continue
            if inner is kind:
                return (*way, name)
            if inner.name not in seen:
                seen.add(inner.name)
                queue.append((inner, (*way, name)))
    return None


def _is_open(field: GraphQLField) -> bool:
    return is_free(field) and _is_single(field.type)


def _is_single(kind: Any) -> bool:
    inner = kind.of_type if isinstance(kind, GraphQLNonNull) else kind
    return not isinstance(inner, GraphQLList)
