"""What the data of an answer must look like, given the query: its types, turned into checks."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Protocol

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    parse,
)
from msgspec import Struct, field

from checker.graphql.coercion import takes_scalar

_KEPT: Final = 1024
_MOST_ITEMS: Final = 1000
"""Of a list that are looked at."""
_ARGUMENTS: Final = re.compile(r'\((?:[^()"]|"(?:\\.|[^"\\])*+")*+\)')
"""Arguments of a field, or definitions of variables: parentheses stand in one another in strings alone."""
Path = tuple[str | int, ...]


class DataFault(Struct, frozen=True):
    """One thing that is not as promised."""

    rule: tuple[str, ...]
    """What was promised, and what kind of promise it is: the same for every answer that breaks it."""
    path: Path
    message: str
    promised: str
    """The type."""
    value: Any


class Shape(Protocol):
    """Looks at a value."""

    def check(self, value: Any, path: Path, wrong: list[DataFault]) -> None:
        """Add what is wrong with a value and what is in it."""
        ...


class Shapes:
    """The shapes of the data of queries, kept for queries that come again."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._kept: Callable[[str], Shape | None] = lru_cache(_KEPT)(self._of)

    def of(self, query: str) -> Shape | None:
        """The shape of the data of a query; None when it is none that can be read."""
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
            return self._composite(root, [operation.selection_set], "data")
        except (_NoShape, RecursionError):
            return None

    def _composite(self, kind: Any, sets: list[SelectionSetNode], place: str) -> "_ObjectShape":
        found: dict[str, _Requested] = {}
        for one in sets:
            self._collect(kind, one, None, found)
        fields = {}
        for key, chosen in found.items():
            where = f"{chosen.parent}.{chosen.name}"
            shape = _TYPENAME if chosen.kind is None else self._shape(chosen.kind, chosen, where)
            fields[key] = _FieldShape(shape, chosen.only, where)
        possible = None
        if is_abstract_type(kind):
            possible = frozenset(one.name for one in self._schema.get_possible_types(kind))
        return _ObjectShape(place, kind.name, fields, possible)

    def _collect(
        self,
        kind: Any,
        selection: SelectionSetNode,
        only: frozenset[str] | None,
        found: dict[str, "_Requested"],
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

    def _add(
        self,
        kind: Any,
        node: FieldNode,
        only: frozenset[str] | None,
        found: dict[str, "_Requested"],
    ) -> None:
        name = node.name.value
        key = node.alias.value if node.alias else name
        declared = None
        if name != "__typename":
            field_ = getattr(kind, "fields", {}).get(name)
            if field_ is None:
                raise _NoShape
            declared = field_.type
        chosen = found.get(key)
        if chosen is None:
            chosen = found[key] = _Requested(name, kind.name, declared, only)
        elif chosen.only is not None:
            chosen.only = None if only is None else chosen.only | only
        if node.selection_set is not None:
            chosen.sets.append(node.selection_set)

    def _narrowed(
        self, outer: Any, inner: Any, only: frozenset[str] | None
    ) -> frozenset[str] | None:
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

    def _shape(self, kind: Any, chosen: "_Requested", place: str) -> Shape:
        if isinstance(kind, GraphQLNonNull):
            return _NonNullShape(self._shape(kind.of_type, chosen, place), str(kind), place)
        if isinstance(kind, GraphQLList):
            return _NullableShape(
                _ListShape(self._shape(kind.of_type, chosen, place), str(kind), place)
            )
        if is_leaf_type(kind):
            return _NullableShape(_LeafShape(kind, place))
        assert get_named_type(kind) is kind
        return _NullableShape(self._composite(kind, chosen.sets, place))


def field_at(shape: Shape, names: Iterable[str]) -> str:
    """`Author.born`: the field of the schema that stands there in the answer; empty where nothing was asked for there."""
    found = ""
    for name in names:
        while not isinstance(shape, _ObjectShape):
            if isinstance(shape, _NullableShape | _NonNullShape):
                shape = shape.inner
            elif isinstance(shape, _ListShape):
                shape = shape.item
            else:
                return ""
        chosen = shape.fields.get(name)
        if chosen is None:
            return ""
        found, shape = chosen.place, chosen.shape
    return found


class _NoShape(Exception):
    """Nobody can say what the query means."""


class _Requested(Struct):
    """A field as it was asked for, maybe in several places."""

    name: str
    parent: str
    kind: Any
    """Its type; None for `__typename`."""
    only: frozenset[str] | None
    """Types of objects that have it; None for all."""
    sets: list[SelectionSetNode] = field(default_factory=list)


class _NullableShape(Struct, frozen=True):
    inner: Shape

    def check(self, value: Any, path: Path, wrong: list[DataFault]) -> None:
        if value is not None:
            self.inner.check(value, path, wrong)


class _NonNullShape(Struct, frozen=True):
    inner: Shape
    type: str
    place: str

    def check(self, value: Any, path: Path, wrong: list[DataFault]) -> None:
        if value is None:
            says = f"null, and its type is `{self.type}`"
            wrong.append(DataFault((self.place, "non-null"), path, says, self.type, None))
        else:
            self.inner.check(value, path, wrong)


class _ListShape(Struct, frozen=True):
    item: Shape
    type: str
    place: str

    def check(self, value: Any, path: Path, wrong: list[DataFault]) -> None:
        if not isinstance(value, list):
            says = f"no list, and its type is `{self.type}`"
            wrong.append(DataFault((self.place, "list"), path, says, self.type, value))
            return
        for number, one in enumerate(value[:_MOST_ITEMS]):
            self.item.check(one, (*path, number), wrong)


class _FieldShape(Struct, frozen=True):
    shape: Shape
    only: frozenset[str] | None
    place: str


class _ObjectShape(Struct, frozen=True):
    place: str
    type: str
    fields: Mapping[str, _FieldShape]
    possible: frozenset[str] | None
    """Types that an object may be of; None where there is one."""

    def check(self, value: Any, path: Path, wrong: list[DataFault]) -> None:
        if not isinstance(value, dict):
            says = f"no object, and its type is `{self.type}`"
            wrong.append(DataFault((self.place, "object"), path, says, self.type, value))
            return
        actual = value.get("__typename")
        if self.possible is not None and isinstance(actual, str) and actual not in self.possible:
            says = f"an object of type {actual}, which is no `{self.type}`"
            wrong.append(DataFault((self.place, "possible-type"), path, says, self.type, actual))
            return
        for key, one in self.fields.items():
            if key in value:
                one.shape.check(value[key], (*path, key), wrong)
            elif one.only is None or actual in one.only:
                says = f"the selected field `{key}` is missing"
                wrong.append(DataFault((one.place, "selected"), path, says, self.type, value))


class _LeafShape(Struct, frozen=True):
    kind: Any
    place: str

    def check(self, value: Any, path: Path, wrong: list[DataFault]) -> None:
        if isinstance(self.kind, GraphQLEnumType):
            if isinstance(value, str) and value in self.kind.values:
                return
            says = f"{value!r:.80} is no member of the enum `{self.kind.name}`"
            wrong.append(DataFault((self.place, "enum"), path, says, self.kind.name, value))
        elif not _is_of(self.kind.name, value):
            says = f"{value!r:.80} is no `{self.kind.name}`"
            wrong.append(DataFault((self.place, "scalar"), path, says, self.kind.name, value))


class _TypenameShape(Struct, frozen=True):
    def check(self, value: Any, path: Path, wrong: list[DataFault]) -> None:
        if not isinstance(value, str):
            wrong.append(
                DataFault(("__typename", "scalar"), path, "no name of a type", "String!", value)
            )


_TYPENAME: Final = _TypenameShape()


def _is_of(name: str, value: Any) -> bool:
    # What an ID accepts may be a number; what it is written as never is (GraphQL, 3.5.5).
    return isinstance(value, str) if name == "ID" else takes_scalar(name, value)
