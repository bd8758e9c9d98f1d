"""Bodies of cases as requests: a query with variables, or with literal values.

The body of a case describes the request and is no query text: `{"arguments": {"id": "1"}, "selection": ["name",
"friends.name"]}`. An invalid part is written in a way that a server notices. A finished query, as text or under
`query`, is sent unchanged.
"""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    is_required_argument,
)
from msgspec import Struct, field

from checker.core.case import NOT_SET
from checker.core.operation import BodyForm
from checker.core.scenarios import Scenario
from checker.graphql.inputs import is_list
from checker.graphql.referee import QueryReferee
from checker.graphql.scalars import count_in_arguments, simplest
from checker.graphql.selections import (
    EVERYTHING,
    MOST_MEMBERS,
    FieldPlace,
    Step,
    is_error,
    is_free,
    usual_fields,
    values_of,
)
from checker.transport.wire.bodies import json_bytes

_NAME: Final = re.compile(r"[_A-Za-z][_0-9A-Za-z]*")
_KEYWORDS: Final = frozenset({"true", "false", "null"})
_CONTROLS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def literal(value: Any, kind: Any = None) -> str:
    """Return a value as a literal of its type (may be None): enum members have no quotes. A value of a wrong type stays recognisable."""
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
            is_enum = isinstance(kind, GraphQLEnumType) and value not in _KEYWORDS
            return value if is_enum and _NAME.fullmatch(value) else quoted(value)
        case list():
            inner = kind.of_type if isinstance(kind, GraphQLList) else kind
            return "[" + ", ".join(literal(one, inner) for one in value) + "]"
        case Mapping():
            named = get_named_type(kind) if kind is not None else None
            fields = named.fields if isinstance(named, GraphQLInputObjectType) else {}
            # An object for a scalar may have any members, such as `__typename` of a representation.
            is_free = isinstance(named, GraphQLScalarType)
            members = [
                f"{name if name in fields or (is_free and _NAME.fullmatch(name)) else stranger(name, fields)}: "
                + literal(one, fields[name].type if name in fields else None)
                for name, one in value.items()
            ]
            return "{" + ", ".join(members) + "}"
        case _:
            return quoted(str(value))


def quoted(text: str) -> str:
    """Return a GraphQL string. The escapes of GraphQL include those of JSON."""
    # Some servers count more line separators than GraphQL, and crash when they report the line of an error.
    return _CONTROLS.sub(lambda one: f"\\u{ord(one[0]):04X}", json.dumps(text, ensure_ascii=False))


def is_writable(value: Any) -> bool:
    """Whether a query can express every text in a value. Lone surrogates cannot be written."""
    if isinstance(value, str):
        return _SURROGATE.search(value) is None
    if isinstance(value, dict):
        return all(map(is_writable, value)) and all(map(is_writable, value.values()))
    return not isinstance(value, list) or all(map(is_writable, value))


def stranger(name: object, known: Any) -> str:
    """Return a valid GraphQL name that is not among the known ones."""
    text = name if isinstance(name, str) else json.dumps(name, default=str)
    found = text if _NAME.fullmatch(text) and not text.startswith("__") else ""
    if not found or len(found) > 64:
        found = "unknown_" + text[:24].encode("utf-8", "surrogatepass").hex()
    while found in known:
        found += "_"
    return found


ARGUMENTS: Final = "arguments"  # Arguments of the root field, by name.
SELECTION: Final = "selection"  # Names of the selected places.
NESTED: Final = "nested"
"""Arguments of fields below the root field, by the name of their place. These fields are selected as well."""
LITERALS: Final = "literals"  # Whether values are written as literals. Otherwise they are variables.
KNOWN: Final = frozenset((ARGUMENTS, SELECTION, NESTED, LITERALS))
_OF_REQUESTS: Final = frozenset(("query", "variables", "operationName", "extensions"))
"""Members of a request (GraphQL over HTTP, 5.3)."""

_QUERY: Final = re.compile(r"\s*(?:[{#]|(?:query|mutation|fragment)\b)")
"""Matches the beginning of a query."""


def written_request(value: Any) -> dict[str, Any] | list[Any] | None:
    """Return the request in a body that contains a query as text, alone or under `query`; the list for a list of such requests.

    None for a body that describes the request.
    """
    if isinstance(value, list) and value:
        return value if all(isinstance(written_request(one), dict) for one in value) else None
    if isinstance(value, str):
        return {"query": value} if _QUERY.match(value) else None
    if isinstance(value, dict) and isinstance(value.get("query"), str):
        return value if value.keys() <= _OF_REQUESTS else None
    return None


class _SelectionSet(Struct):
    kind: Any
    children: "dict[Step, tuple[str, _SelectionSet | None]]" = field(default_factory=dict)
    """Selected field -> its alias, name and arguments, and the selection inside it."""
    keys: dict[str, str] = field(default_factory=dict)
    """Name in the response -> its meaning, so that fields of the same name get different names."""


class QueryWriter:
    """Writes the requests of one root field."""

    def __init__(
        self,
        schema: GraphQLSchema,
        operation: str,
        name: str,
        field: GraphQLField,
        *,
        places: Mapping[str, FieldPlace],
        always: tuple[tuple[Step, ...], ...],
        referee: QueryReferee,
    ) -> None:
        """`operation` is `query` or `mutation`."""
        self.schema = schema
        self.operation = operation
        self._name, self.field = name, field
        self.kind: Any = get_named_type(field.type)
        """The return type of the root field."""
        self.places = places
        """Places that may be selected."""
        self._referee = referee
        self.always = always
        """Paths from the root field to fields that every query selects."""
        self._args: Mapping[str, GraphQLArgument] = field.args
        self._is_leaf = is_leaf_type(self.kind)
        self.usual_fields = cache(usual_fields)
        self.values_of = cache(values_of)

    def __call__(self, value: Any) -> bytes:
        """Return the request as JSON; bytes are returned unchanged. Raises `ValueError` for values that JSON cannot express."""
        if isinstance(value, bytes):
            return value
        written = written_request(value)
        if written is None:
            query, variables = self.query(value)
            written = {"query": query, "variables": variables}
        return json_bytes(written)

    def query(self, value: Any) -> tuple[str, dict[str, Any]]:
        """Return the text of a query, and its variables."""
        wants_literals = isinstance(value, dict) and value.get(LITERALS) is True
        literals = wants_literals and is_writable([value.get(ARGUMENTS), value.get(NESTED)])
        draft = _QueryDraft(self, literals=literals)
        strangers: dict[str, Any] = {}
        if not isinstance(value, dict):
            strangers[stranger(value, self._args)] = 0
            value = {}
        for name in value.keys() - KNOWN:
            strangers[stranger(name, self._args)] = value[name]
        arguments = value.get(ARGUMENTS, {})
        if not isinstance(arguments, dict):
            strangers[stranger(arguments, self._args)] = arguments
            arguments = {}
        given = {**arguments, **strangers}
        text = self._root_text(draft, value, given)
        declared = ", ".join(f"${name}: {kind}" for name, kind in draft.declared.items())
        head = self.operation + (f" ({declared})" if declared else "")
        return f"{head} {{ {text} }}", draft.variables

    def _root_text(self, draft: "_QueryDraft", value: Any, given: Mapping[str, Any]) -> str:
        text = self._name + draft.arguments("", self._args, given, literals=draft.literals)
        chosen, nested = value.get(SELECTION, []), value.get(NESTED, {})
        if not isinstance(chosen, list):
            chosen = [chosen]
        if not isinstance(nested, dict):
            nested = {str(nested): {}}
        if chosen or not self._is_leaf:
            text += " " + draft.selection(chosen, nested)
        return text

    def root_text(self, value: Mapping[str, Any], selection: str = "") -> str:
        """Return the root field of a usual body with literal values: `book(id: "0") { id }`. `selection` replaces its selection."""
        draft, given = _QueryDraft(self, literals=True), value.get(ARGUMENTS, {})
        if not selection:
            return self._root_text(draft, value, given)
        return f"{self._name}{draft.arguments('', self._args, given, literals=True)} {{ {selection} }}"

    def is_wrong(self, value: Any) -> bool:
        """Whether a server must refuse the request of a body, because it breaks exactly one rule of the schema in every reading.

        A refusal of a request that breaks several rules is ambiguous. Only the queries of users may break several.
        """
        if written_request(value) is not None:
            return self._referee.refuses(self(value))
        if isinstance(value, bytes) or not isinstance(value, dict):
            return True
        selection, nested = value.get(SELECTION, []), value.get(NESTED, {})
        if not isinstance(selection, list) or not isinstance(nested, dict):
            return True
        if self._is_leaf and (selection or nested):
            return True
        unknown = sum(not isinstance(one, str) or one not in self.places for one in selection)
        below = sum(
            count_in_arguments(self.places[name].arguments, args) if name in self.places else 1
            for name, args in nested.items()
        )
        own = count_in_arguments(self._args, value.get(ARGUMENTS, {}))
        return len(value.keys() - KNOWN) + unknown + below + own == 1


class _QueryDraft(Struct):
    _writer: QueryWriter
    literals: bool
    declared: dict[str, str] = field(default_factory=dict)  # Variable -> its type.
    variables: dict[str, Any] = field(default_factory=dict)

    def arguments(
        self, prefix: str, args: Mapping[str, GraphQLArgument], given: Mapping[str, Any], *, literals: bool
    ) -> str:
        """Return `(id: $id)`; empty without arguments. Undeclared arguments are literals."""
        found = []
        for name, value in given.items():
            if name not in args:
                plain = value if is_writable(value) else str(value).encode("ascii", "replace").decode()
                found.append(f"{stranger(name, args)}: {literal(plain)}")
            elif literals:
                found.append(f"{name}: {literal(value, args[name].type)}")
            else:
                variable = prefix + name
                while variable in self.declared:
                    variable += "_"
                self.declared[variable] = str(args[name].type)
                self.variables[variable] = value
                found.append(f"{name}: ${variable}")
        return f"({', '.join(found)})" if found else ""

    def selection(self, chosen: list[Any], nested: dict[str, Any]) -> str:
        """Return the selection `{ id name }` of places, including unknown ones."""
        root, places = _SelectionSet(self._writer.kind), self._writer.places
        lost: list[str] = []
        for way in self._writer.always:
            self._select(root, FieldPlace(way), nested)
        for name in [*nested, *chosen]:
            place = places.get(name) if isinstance(name, str) else None
            if place is None:
                known = getattr(root.kind, "fields", {})
                lost.append(stranger(name, known))
            else:
                self._select(root, place, nested)
        return self._text(root, lost)

    def _select(self, node: _SelectionSet, place: FieldPlace, nested: dict[str, Any]) -> None:
        path: list[Step] = []
        for step in place.steps:
            path.append(step)
            if step[1] == EVERYTHING:
                for name in self._writer.values_of(node.kind):
                    self._child(node, ("", name), [*path[:-1], ("", name)], nested)
                return
            inner = self._child(node, step, path, nested)
            if inner is None:
                return
            node = inner

    def _child(self, node: _SelectionSet, step: Step, path: list[Step], nested: dict[str, Any]) -> _SelectionSet | None:
        """Return the selection inside a field, which is selected if necessary; None for a leaf."""
        if step in node.children:
            return node.children[step][1]
        condition, name = step
        parent: Any = self._writer.schema.type_map[condition] if condition else node.kind
        one: GraphQLField = parent.fields[name]
        args: dict[str, Any] = {key: simplest(arg.type) for key, arg in one.args.items() if is_required_argument(arg)}
        place, is_made_up = FieldPlace(tuple(path)).name, True
        if place in nested:
            is_made_up = False
            given = nested[place]
            args = given if isinstance(given, dict) else {stranger(given, one.args): 0}
        # Arguments that the case does not set are literals, so that the query does not depend on values of variables.
        text = self.arguments(f"{name}_", one.args, args, literals=is_made_up or self.literals)
        inner = get_named_type(one.type)
        means = f"{one.type}{text}" if is_leaf_type(inner) else step
        key, number = name, 1
        meaning = str(means)
        while node.keys.setdefault(key, meaning) != meaning:
            key = f"{condition or name}_{name}" + ("" if number == 1 else str(number))
            number += 1
        alias = "" if key == name else f"{key}: "
        below = None if is_leaf_type(inner) else _SelectionSet(inner)
        node.children[step] = f"{alias}{name}{text}", below
        return below

    def _text(self, node: _SelectionSet, lost: list[str]) -> str:
        by_condition: dict[str, list[str]] = {"": list(lost)}
        members = node.kind.types[:MOST_MEMBERS] if isinstance(node.kind, GraphQLUnionType) else ()
        for member in filter(is_error, members):
            # The message and the code of an error distinguish causes.
            for name in self._writer.usual_fields(member):
                if name != "__typename":
                    self._child(node, (member.name, name), [(member.name, name)], {})
        plain = {name for condition, name in node.children if not condition}
        for name in self._writer.usual_fields(node.kind):
            is_needed = name != "__typename" or not plain or is_abstract_type(node.kind)
            if name not in plain and is_needed:
                # The identifier is first, and no other field may get its name.
                key = name
                while key in node.keys:
                    key = f"{key}_"
                by_condition[""].append(name if key == name else f"{key}: {name}")
        for (condition, _), (text, inner) in node.children.items():
            below = "" if inner is None else " " + self._text(inner, [])
            by_condition.setdefault(condition, []).append(text + below)
        groups = [*by_condition.pop("")]
        groups += [f"... on {name} {{ {' '.join(some)} }}" for name, some in by_condition.items()]
        return "{ " + " ".join(groups) + " }"


_ALIASES: Final = 500
_DEPTH: Final = 100  # Levels of nested selections.
_MOST_BYTES: Final = 64_000
_LONGEST_URL: Final = 4_000
_MOST_TYPES: Final = 200  # Types that are searched for a way back to the same type.
_OF_TYPES: Final = "query {{ __schema {{ types {{ {inner} }} }} }}"
_MOST_WAYS: Final = 8


def forms_of(writer: QueryWriter, value: Any, *, costly: bool) -> Iterator[BodyForm]:
    """Yield other forms of the request of a usual body; with `costly` also requests that ask for much."""
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
        # Only identifiers are selected, so responses are small.
        field = writer.root_text({ARGUMENTS: value.get(ARGUMENTS, {})})
        count = min(_ALIASES, _MOST_BYTES // (len(field) + 8))
        if count > 1:
            many = " ".join(f"a{number}: {field}" for number in range(count))
            text = f"{count} fields under names of their own"
            yield BodyForm(Scenario.MANY_ALIASES, text, {"query": f"query {{ {many} }}"})
        text = f"{_DEPTH} selections in one another"
        yield BodyForm(Scenario.DEEP_NESTING, text, {"query": _deep(writer, value)})


def _deep(writer: QueryWriter, value: Any) -> str:
    """Return a query of depth `_DEPTH` with a small response. It follows single objects that lead back to their type, or introspected types."""
    way = None if is_list(writer.field.type) else _way_back(writer.kind)
    if way is None:
        # `ofType` of a type is one type or null, and every server with introspection has it.
        return _OF_TYPES.format(inner="ofType { " * _DEPTH + "name" + " }" * _DEPTH)
    text = "__typename"
    for _ in range(_DEPTH // len(way)):
        for name in reversed(way):
            text = f"{name} {{ {text} }}"
    return f"query {{ {writer.root_text(value, selection=text)} }}"


def _way_back(kind: Any) -> tuple[str, ...] | None:
    """Return the shortest path of fields from an object to another object of its type; None if every path contains a list."""
    queue: deque[tuple[Any, tuple[str, ...]]] = deque([(kind, ())])
    seen: set[str] = set()
    while queue and len(seen) < _MOST_TYPES:
        here, way = queue.popleft()
        if not isinstance(here, GraphQLObjectType) or len(way) >= _MOST_WAYS:
            continue
        for name, one in here.fields.items():
            inner = get_named_type(one.type)
            if is_leaf_type(inner) or not is_free(one) or is_list(one.type):
                continue
            if inner is kind:
                return (*way, name)
            if inner.name not in seen:
                seen.add(inner.name)
                queue.append((inner, (*way, name)))
    return None
