"""The shape of the data that a query selects, as checks made of its types."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    is_abstract_type,
    parse,
)
from msgspec import Struct, field

from checker.graphql.coercion import takes_scalar

_KEPT: Final = 1024
_MOST_ITEMS: Final = 1000
"""Items of a list that are looked at."""
_ARGUMENTS: Final = re.compile(r'\((?:[^()"]|"(?:\\.|[^"\\])*+")*+\)')
"""Arguments of a field, or definitions of variables: parentheses stand in one another in strings alone."""
_TYPENAME: Final = GraphQLNonNull(GraphQLString)
Path = tuple[str | int, ...]


class DataFault(Struct, frozen=True):
    """One thing that is not as promised."""

    rule: tuple[str, ...]
    """The promise and its kind: the same for every response that breaks it."""
    path: Path
    message: str
    promised: str
    """The type."""
    value: Any


class Shape(Struct, frozen=True):
    """The promise of one selected field, or of all data: a type, and the fields that are selected of it."""

    kind: Any
    """Its type in the schema."""
    place: str
    """`Author.born`, the field of the schema; `data` for the whole."""
    fields: Mapping[str, "Shape"] = {}
    """Selected fields by their names in the response."""
    only: frozenset[str] | None = None
    """Types of objects that have the field; None for all."""
    possible: frozenset[str] | None = None
    """Types that an object may be of; None where there is one."""

    def check(self, data: Any, wrong: list[DataFault]) -> None:
        """Add the faults of the data of a response, of which this is the whole shape."""
        self._check_object(self.kind, data, (), wrong)

    def field_at(self, names: Iterable[str]) -> str:
        """Return the field of the schema at a path of the data, `Author.born`; empty where none was selected."""
        shape: Shape | None = self
        for name in names:
            shape = None if shape is None else shape.fields.get(name)
        return "" if shape is None or shape is self else shape.place

    def _check(self, kind: Any, value: Any, path: Path, wrong: list[DataFault]) -> None:
        if isinstance(kind, GraphQLNonNull):
            if value is None:
                says = f"null, and its type is `{kind}`"
                wrong.append(DataFault((self.place, "non-null"), path, says, str(kind), None))
                return
            kind = kind.of_type
        if value is None:
            return
        if isinstance(kind, GraphQLList):
            if not isinstance(value, list):
                says = f"no list, and its type is `{kind}`"
                wrong.append(DataFault((self.place, "list"), path, says, str(kind), value))
                return
            for number, one in enumerate(value[:_MOST_ITEMS]):
                self._check(kind.of_type, one, (*path, number), wrong)
        elif isinstance(kind, GraphQLEnumType):
            if not isinstance(value, str) or value not in kind.values:
                says = f"{value!r:.80} is no member of the enum `{kind.name}`"
                wrong.append(DataFault((self.place, "enum"), path, says, kind.name, value))
        elif isinstance(kind, GraphQLScalarType):
            # What an ID accepts may be a number; what it is written as never is (GraphQL, 3.5.5).
            is_id = kind.name == "ID"
            if not (isinstance(value, str) if is_id else takes_scalar(kind.name, value)):
                says = f"{value!r:.80} is no `{kind.name}`"
                wrong.append(DataFault((self.place, "scalar"), path, says, kind.name, value))
        else:
            self._check_object(kind, value, path, wrong)

    def _check_object(self, kind: Any, value: Any, path: Path, wrong: list[DataFault]) -> None:
        if not isinstance(value, dict):
            says = f"no object, and its type is `{kind.name}`"
            wrong.append(DataFault((self.place, "object"), path, says, kind.name, value))
            return
        actual = value.get("__typename")
        if self.possible is not None and isinstance(actual, str) and actual not in self.possible:
            says = f"an object of type {actual}, which is no `{kind.name}`"
            wrong.append(DataFault((self.place, "possible-type"), path, says, kind.name, actual))
            return
        for key, one in self.fields.items():
            if key in value:
                one._check(one.kind, value[key], (*path, key), wrong)
            elif one.only is None or actual in one.only:
                says = f"the selected field `{key}` is missing"
                wrong.append(DataFault((one.place, "selected"), path, says, kind.name, value))


class Shapes:
    """The shapes of the data of queries, kept for queries that come again."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._kept: Callable[[str], Shape | None] = lru_cache(_KEPT)(self._of)

    def of(self, query: str) -> Shape | None:
        """Return the shape of the data of a query; None for a query that cannot be read."""
        # Values of arguments change with each case, and say nothing of the shape: without them texts come again.
        return self._kept(query if '"""' in query else _ARGUMENTS.sub(" ", query))

    def _of(self, query: str) -> Shape | None:
        try:
            document = parse(query, no_location=True, max_tokens=20_000)
        except (GraphQLError, RecursionError, IndexError):
            return None
        operation = document.definitions[0]
        if not isinstance(operation, OperationDefinitionNode):
            return None
        root = self._schema.get_root_type(operation.operation)
        if root is None:
            return None
        try:
            return self._shape(root, [operation.selection_set], "data", None)
        except (_NoShape, RecursionError):
            return None

    def _shape(self, kind: Any, sets: list[SelectionSetNode], place: str, only: frozenset[str] | None) -> Shape:
        named = get_named_type(kind)
        found: dict[str, _Requested] = {}
        for one in sets:
            self._collect(named, one, None, found)
        fields = {key: self._shape(one.kind, one.sets, one.place, one.only) for key, one in found.items()}
        possible = None
        if is_abstract_type(named):
            possible = frozenset(one.name for one in self._schema.get_possible_types(named))
        return Shape(kind, place, fields, only, possible)

    def _collect(
        self, kind: Any, selection: SelectionSetNode, only: frozenset[str] | None, found: dict[str, "_Requested"]
    ) -> None:
        """RootFields of a selection set by their names in the answer; `only` are the types that have them."""
        for node in selection.selections:
            if isinstance(node, FragmentSpreadNode) or node.directives:
                raise _NoShape
            if isinstance(node, InlineFragmentNode):
                inner, types = kind, only
                if node.type_condition is not None:
                    inner = self._schema.type_map.get(node.type_condition.name.value)
                    types = self._narrowed(kind, inner, only)
                self._collect(inner, node.selection_set, types, found)
                continue
            assert isinstance(node, FieldNode)
            self._add(kind, node, only, found)

    def _add(self, kind: Any, node: FieldNode, only: frozenset[str] | None, found: dict[str, "_Requested"]) -> None:
        name = node.name.value
        key = node.alias.value if node.alias else name
        declared, place = _TYPENAME, name
        if name != "__typename":
            one = getattr(kind, "fields", {}).get(name)
            if one is None:
                raise _NoShape
            declared, place = one.type, f"{kind.name}.{name}"
        chosen = found.get(key)
        if chosen is None:
            chosen = found[key] = _Requested(declared, place, only)
        elif chosen.only is not None:
            chosen.only = None if only is None else chosen.only | only
        if node.selection_set is not None:
            chosen.sets.append(node.selection_set)

    def _narrowed(self, outer: Any, inner: Any, only: frozenset[str] | None) -> frozenset[str] | None:
        if inner is None:
            raise _NoShape
        if inner is outer:
            return only
        named = (
            frozenset(one.name for one in self._schema.get_possible_types(inner))
            if is_abstract_type(inner)
            else frozenset((inner.name,))
        )
        return named if only is None else named & only


class _NoShape(Exception):
    """The meaning of the query is open."""


class _Requested(Struct):
    """A field as it is selected, maybe in several places."""

    kind: Any
    place: str
    only: frozenset[str] | None
    sets: list[SelectionSetNode] = field(default_factory=list)
