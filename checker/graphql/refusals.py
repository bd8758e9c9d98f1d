"""Demands on arguments in the `errors` of a response. Refusals show the values of scalars that only the server knows."""

import json
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import orjson
from graphql import (
    FieldNode,
    GraphQLArgument,
    GraphQLError,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    ListValueNode,
    Node,
    ObjectValueNode,
    OperationDefinitionNode,
    is_leaf_type,
    parse,
)

from checker.core.case import NOT_SET
from checker.core.constraints import CLOSED, FORBIDDEN, ITEMS, REQUIRED, constraint, is_broken_by, values_at
from checker.core.operation import BodyDemand
from checker.core.request import Location
from checker.core.response import Response
from checker.graphql.scalars import is_unknown
from checker.graphql.writing import ARGUMENTS, SELECTION
from checker.refusals.sentences import demands_of, path_of

Arguments = Mapping[str, GraphQLArgument]
_Path = tuple[str, ...]
_MEMBER: Final = re.compile(r"\[\w+\]\.")
_EXCEEDED: Final = re.compile(r"\b(?:exceed\w*|too|limit\w*|max\w*|allowed)\b", re.IGNORECASE)
_DEPTH: Final = re.compile(r"\b(?:depth|deep\w*|nest\w*)\b", re.IGNORECASE)
_COST: Final = re.compile(
    r"\b(?:complex\w*|cost|tokens|(?<!input )fields(?!.{0,20}\b(?:input|argument|variable|body|object)s?\b))\b",
    re.IGNORECASE,
)
_POSITION: Final = re.compile(r"\b(?:line|col(?:umn)?)\W{0,3}\d+|\d+:\d+", re.IGNORECASE)
_MOST_ALLOWED: Final = re.compile(r"(?:\b(?:max\w*|limit\w*|allowed|than)\b|>)\D{0,40}\b(\d{1,4})\b", re.IGNORECASE)
_MOST_BYTES: Final = 64 << 10
_MOST_ERRORS: Final = 10
_LONGEST: Final = 1_000
_MOST_PLACES: Final = 200  # Types of arguments and fields that are searched.
_VARIABLE: Final = re.compile(r"[Vv]ariable [\"'`]?\$?(\w+)")
_AT: Final = re.compile(r"\bat [\"'`]([\w.\[\]]+)[\"'`]")
_BELOW: Final = re.compile(r"has invalid value at ((?:\.\w+|\[\d+\])+)")
"""A place within a variable in errors of graphql-core 3.3 and graphql-js 17: `.lines[0].size`."""
_ENCOUNTERED: Final = re.compile(r"but encountered error [\"'](.*)[\"']; found: ", re.DOTALL)
"""The scalar's own message in errors of graphql-core 3.3 and graphql-js 17."""
_ARGUMENT: Final = re.compile(r"[Aa]rgument [\"'`]([\w.\[\]]+)[\"'`]")
_LEAD: Final = re.compile(r"(?:[Vv]ariable |[Aa]rgument |Expected value of type|invalid value).*?(?:; | - |: |\(|\n)")
"""Matches the beginning of an error, which quotes the value, up to the scalar's own message."""
_TYPE_NAME: Final = re.compile(r"Expected type [\"'`][^\"'`]*[\"'`]!?\.?")
_OF_TEXTS: Final = frozenset(("format", "pattern", "minLength", "maxLength"))
_OF_NUMBERS: Final = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
_UNREAD: Final = frozenset((FORBIDDEN, CLOSED))  # Declared arguments and fields are never superfluous.


def demands_in_errors(args: Arguments, places: Collection[str], body: Any, response: Response) -> Iterator[BodyDemand]:
    """Yield the demands in a response's errors: on the arguments of its root field, and on the depth and size of its selection."""
    given = body.get(ARGUMENTS) if isinstance(body, dict) else None
    if not isinstance(given, dict) or b'"errors"' not in response.readable.content:
        return
    for error in _errors(response):
        yield from _limits(body.get(SELECTION), places, error["message"][:_LONGEST])
        for path, text in _complaints(args, error, response):
            yield from _demanded(args, path, text) if path else _guessed(args, body, text)


def _limits(selection: Any, places: Collection[str], text: str) -> Iterator[BodyDemand]:
    """Yield the demand that follows from a limit: only places within the permitted depth, or half as many places if the cost is limited."""
    if not isinstance(selection, list) or not selection or not _EXCEEDED.search(text):
        return
    if _DEPTH.search(text):
        plain = {place: _MEMBER.sub("", place) for place in places}
        holders = {one.rpartition(".")[0] for one in plain.values()}
        # A field with subfields is written with one of them, which is one level more.
        depth_of = {place: one.count(".") + 1 + (one in holders) for place, one in plain.items()}
        deepest = max(depth_of.get(str(place), 1) for place in selection)
        said = _POSITION.sub("", text)
        limits = _MOST_ALLOWED.findall(said) or re.findall(r"\b\d{1,4}\b", said)
        # The root field is one level.
        allowed = min([deepest, *map(int, limits)]) - 1
        flat = [place for place, depth in depth_of.items() if depth <= max(allowed, 1)]
        if deepest > 1 and flat:
            yield (SELECTION, ITEMS), "enum", flat
    elif len(selection) > 1 and _COST.search(text):
        yield (SELECTION,), "maxItems", len(selection) // 2


def _errors(response: Response) -> Iterator[Mapping[str, Any]]:
    content = response.readable.content
    try:
        value = orjson.loads(content) if len(content) <= _MOST_BYTES else None
    except orjson.JSONDecodeError:
        return
    errors = value.get("errors") if isinstance(value, dict) else None
    for error in errors[:_MOST_ERRORS] if isinstance(errors, list) else ():
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            yield error


def _complaints(args: Arguments, error: Mapping[str, Any], response: Response) -> Iterator[tuple[_Path, str]]:
    """Yield (argument and fields inside it, text) of one error. The path is empty if the error names no place."""
    text = error["message"][:_LONGEST]
    variable = _VARIABLE.search(text)
    name = variable[1] if variable is not None else ""
    if name and name not in args:
        # The error is about a selected field below.
        return
    problems = _member(error, "problems")
    if name and isinstance(problems, list):
        # Rails: `{"path": ["x"], "explanation": "..."}` for each place inside the variable.
        for one in problems:
            if isinstance(one, dict) and isinstance(one.get("path"), list):
                yield (name, *path_of(one["path"])), str(one.get("explanation"))[:_LONGEST]
        return
    encountered, lead = _ENCOUNTERED.search(text), _LEAD.search(text)
    own = text[lead.end() :] if lead is not None else text
    said = _TYPE_NAME.sub("", own if encountered is None else encountered[1])
    if name:
        below = _BELOW.search(text)
        at = _AT.search(text)
        place = name + below[1] if below is not None else at[1] if at is not None else name
        yield path_of(place), said
        return
    yield _declared_place(args, error, text) or _literal_place(error, response), said


def _member(error: Mapping[str, Any], name: str) -> Any:
    extensions = error.get("extensions")
    return extensions.get(name) if isinstance(extensions, dict) else None


def _declared_place(args: Arguments, error: Mapping[str, Any], text: str) -> _Path:
    """Return the place in an error; empty if it has none."""
    path = error.get("path")
    if isinstance(path, list) and len(path) > 1:
        # gqlgen: `["variable", "in", "x"]`, `["book", "in", "x"]`.
        found = path_of(path)[1:]
        if found and found[0] in args:
            return found
    inner = _member(error, "path")
    if isinstance(inner, str) and ".args." in inner:
        # Hasura: `$.selectionSet.book.args.in.x`.
        return path_of(inner.partition(".args.")[2])
    argument = _ARGUMENT.search(text)
    found = path_of(argument[1]) if argument is not None else ()
    return found if found and found[0] in args else ()


def _literal_place(error: Mapping[str, Any], response: Response) -> _Path:
    """Return the argument of the root field, with the path inside it, at an error's location in the sent query."""
    locations = error.get("locations")
    first = locations[0] if isinstance(locations, list) and locations else None
    request = response.request
    if not isinstance(first, dict) or request is None or request.body is None:
        return ()
    try:
        query = json.loads(request.body)["query"]
        document = parse(query)
        lines = query.split("\n")[: int(first["line"]) - 1]
        offset = sum(len(line) + 1 for line in lines) + int(first["column"]) - 1
    except (ValueError, KeyError, TypeError, GraphQLError):
        return ()
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode):
            for selected in definition.selection_set.selections:
                if isinstance(selected, FieldNode):
                    return _within(selected.arguments, offset)
    return ()


def _within(named: Any, offset: int) -> _Path:
    """Return the names of arguments and fields that lead to the value at an offset."""
    for one in named:
        if _stands_at(one, offset):
            return (one.name.value, *_within_value(one.value, offset))
    return ()


def _within_value(value: Node, offset: int) -> _Path:
    if isinstance(value, ObjectValueNode):
        return _within(value.fields, offset)
    if isinstance(value, ListValueNode):
        for item in value.values:
            if _stands_at(item, offset):
                return (ITEMS, *_within_value(item, offset))
    return ()


def _stands_at(node: Node, offset: int) -> bool:
    return node.loc is not None and node.loc.start <= offset < node.loc.end


def _guessed(args: Arguments, body: Any, text: str) -> Iterator[BodyDemand]:
    """Yield the demands of an error without a place, for every value that it may be about: an argument that it names, or unknown scalars."""
    named = [name for name in args if re.search(rf"\b{name}\b", text)]
    for path in [(named[0],)] if len(named) == 1 else _foreign_places(args):
        demands = list(_demanded(args, path, text))
        for place, keyword, value in demands:
            found = constraint(Location.BODY, place, keyword, value)
            is_there = next(values_at(body, place), NOT_SET) is not NOT_SET
            # Among several values of one scalar, the error is about those that break the demand.
            if found is not None and is_there and is_broken_by(found, body) is not False:
                yield from demands
                break


def _foreign_places(args: Arguments) -> Iterator[_Path]:
    """Yield the places of values of unknown scalars, nearest first."""
    todo: deque[tuple[_Path, Any]] = deque(((name,), one.type) for name, one in args.items())
    count = 0
    while todo and count < _MOST_PLACES:
        path, kind = todo.popleft()
        count += 1
        if isinstance(kind, GraphQLNonNull):
            todo.appendleft((path, kind.of_type))
        elif isinstance(kind, GraphQLList):
            todo.appendleft(((*path, ITEMS), kind.of_type))
        elif isinstance(kind, GraphQLInputObjectType):
            todo += [((*path, name), one.type) for name, one in kind.fields.items()]
        elif isinstance(kind, GraphQLScalarType) and is_unknown(kind):
            yield path


def _leaf_at(args: Arguments, path: _Path) -> tuple[_Path, Any] | None:
    """Return (the path with `*` for items of each list, the scalar or enum there); None if there is none."""
    declared: Mapping[str, GraphQLArgument | GraphQLInputField] = args
    found: list[str] = []
    kind: Any = None
    for name in path:
        if name == ITEMS:
            # Only the schema says where lists are.
            continue
        one = declared.get(name)
        if one is None:
            return None
        found.append(name)
        kind = one.type
        while isinstance(kind, GraphQLNonNull | GraphQLList):
            found += [ITEMS] * isinstance(kind, GraphQLList)
            kind = kind.of_type
        declared = kind.fields if isinstance(kind, GraphQLInputObjectType) else {}
    return (tuple(found), kind) if found and is_leaf_type(kind) else None


def _demanded(args: Arguments, said: _Path, text: str) -> Iterator[BodyDemand]:
    """Yield the demands of a text on the values at a path; none if the path leads to no value."""
    leaf = _leaf_at(args, said)
    if leaf is None:
        return
    path, kind = leaf
    is_foreign = isinstance(kind, GraphQLScalarType) and is_unknown(kind)
    found = {keyword: value for keyword, value in demands_of(text) if keyword not in _UNREAD}
    if not is_foreign:
        # The schema already states the type.
        found.pop("type", None)
    elif found.keys() & _OF_TEXTS:
        found["type"] = "string"
    elif found.keys() & _OF_NUMBERS:
        found.setdefault("type", "number")
    if ITEMS in path:
        found.pop(REQUIRED, None)
    for keyword, value in found.items():
        yield (ARGUMENTS, *path), keyword, value
