"""Argument types as JSON Schemas, so that values are drawn, broken and listed as for OpenAPI.

This includes the argument of `_entities`, with which federation gateways request objects by their keys.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from graphql import (
    FieldNode,
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    SelectionSetNode,
    StringValueNode,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
    parse,
)

from checker.core.resource_names import is_count as is_count_of_pages
from checker.graphql.scalars import Raw, schema_of
from checker.graphql.selections import is_identifying

_DEEPEST: Final = 3
"""Levels of input objects that get all of their fields. The number is limited because in some schemas each object contains all others."""
_SHARED: Final = 2
"""Depth from which all values of a scalar or an enum share one definition, so that it is compiled and listed once."""
_COUNT: Final = {"minimum": -1, "default": 1}
"""Bounds of page sizes. -1 is the only negative number; 0 is not the usual value, because queries for no items test nothing."""
_OR_NULL: Final = ".null"  # Suffix of definitions that also admit null.
_WITHOUT_NUL: Final = {"type": "string", "pattern": "^[^\\u0000]*$"}


class InputSchemas:
    """JSON Schemas of all input types of a schema. Objects are in `definitions` and refer to each other."""

    def __init__(self, *, allows_null: bool) -> None:
        """Without `allows_null`, optional values are never null and contain no NUL bytes."""
        self._allows_null = allows_null
        self.operations: Raw = {}
        """Schemas of bodies by label."""
        self.definitions: Raw = {}
        """Definitions by name and depth, created on demand. The deepest ones have only required fields."""

    def of(self, kind: Any) -> Raw:
        """Return the schema of the values of an input type."""
        return self._of(kind, 0)

    def arguments(self, args: Mapping[str, GraphQLArgument]) -> Raw:
        """Return the schema of an object of arguments."""
        found: Raw = {
            "type": "object",
            "properties": {
                name: self._of(arg.type, 0)
                | (_COUNT if get_named_type(arg.type) is GraphQLInt and is_count_of_pages(name) else {})
                for name, arg in args.items()
            },
            "additionalProperties": False,
        }
        required = [name for name, arg in args.items() if is_required_argument(arg)]
        return found | ({"required": required} if required else {})

    def _of(self, kind: GraphQLInputType, depth: int) -> Raw:
        if isinstance(kind, GraphQLNonNull):
            return self._present(kind.of_type, depth)
        found = self._present(kind, depth)
        if not self._allows_null:
            return found
        reference = found.get("$ref")
        # A type list instead of alternatives, because for alternatives the broken rule would be unknown.
        return _nullable(found) if reference is None else {"$ref": reference + _OR_NULL}

    def _present(self, kind: Any, depth: int) -> Raw:
        match kind:
            case GraphQLList():
                return {"type": "array", "items": self._of(kind.of_type, depth)}
            case GraphQLInputObjectType():
                name = f"{kind.name}.{depth}"
                if name not in self.definitions:
                    # Stored before it is filled, because the type may contain itself.
                    made = self.definitions[name] = {}
                    either = self.definitions[name + _OR_NULL] = {}
                    made |= self._object(kind, depth)
                    either |= _nullable(made)
                return {"$ref": f"#/$defs/{name}"}
            case _ if depth >= _SHARED:
                if kind.name not in self.definitions:
                    made = self.definitions[kind.name] = self._leaf(kind)
                    self.definitions[kind.name + _OR_NULL] = _nullable(made)
                return {"$ref": f"#/$defs/{kind.name}"}
            case _:
                return self._leaf(kind)

    def _leaf(self, kind: GraphQLEnumType | GraphQLScalarType) -> Raw:
        if isinstance(kind, GraphQLEnumType):
            return {"enum": list(kind.values)}
        is_bare = kind.name == "String" and not self._allows_null
        return dict(_WITHOUT_NUL) if is_bare else schema_of(kind)

    def _object(self, kind: GraphQLInputObjectType, depth: int) -> Raw:
        fields: Mapping[str, GraphQLInputField] = kind.fields
        below = min(depth + 1, _DEEPEST)
        found: Raw = {"type": "object", "additionalProperties": False}
        if kind.is_one_of:
            # The only field of such an object is never null.
            kinds = {name: field.type for name, field in fields.items()}
            properties = {
                name: self._present(one.of_type if isinstance(one, GraphQLNonNull) else one, below)
                for name, one in kinds.items()
            }
            return found | {"properties": properties, "minProperties": 1, "maxProperties": 1}
        required = [name for name, field in fields.items() if is_required_input_field(field)]
        found["properties"] = {
            name: self._of(field.type, below) for name, field in fields.items() if depth < _DEEPEST or name in required
        }
        return found | ({"required": required} if required else {})


def _nullable(raw: Raw) -> Raw:
    if "enum" in raw:
        return {"enum": [*raw["enum"], None]}
    kind = raw.get("type")
    if not raw or kind == "null":
        return raw
    if kind:
        return {**raw, "type": [*([kind] if isinstance(kind, str) else kind), "null"]}
    return {"anyOf": [raw, {"type": "null"}]}


def required_scalars(args: Mapping[str, GraphQLArgument]) -> Iterator[tuple[str, GraphQLScalarType]]:
    """Yield (place, scalar) of required values, each scalar once: `book.isbn` is a field of the argument `book`."""
    todo: list[tuple[str, Any]] = [(name, one.type) for name, one in args.items() if is_required_argument(one)]
    seen: set[str] = set()
    while todo:
        place, kind = todo.pop(0)
        if is_list(kind):
            # An empty list is a valid value, so no scalar is required.
            continue
        named = get_named_type(kind)
        if named.name in seen:
            continue
        seen.add(named.name)
        if isinstance(named, GraphQLScalarType):
            yield place, named
        elif isinstance(named, GraphQLInputObjectType) and not named.is_one_of:
            todo += [(f"{place}.{key}", one.type) for key, one in named.fields.items() if is_required_input_field(one)]


def is_list(kind: Any) -> bool:
    """Whether a type, nullable or not, is a list."""
    return isinstance(kind.of_type if isinstance(kind, GraphQLNonNull) else kind, GraphQLList)


ENTITIES: Final = "_entities"
REPRESENTATIONS: Final = "representations"  # The argument of `_entities`: for each requested object, its known fields.
OF_GATEWAYS: Final = frozenset((ENTITIES, "_service"))  # Root fields that only gateways use.
_MOST_KEYS: Final = 64
_DEEPEST_KEY: Final = 4
TYPENAME: Final = "__typename"
SchemaOfValues = Callable[[Any], Raw]  # Returns the JSON Schema of the values of a type.


def representations(schema: GraphQLSchema, values_of: SchemaOfValues) -> Raw | None:
    """Return the JSON Schema of the argument: objects with `__typename` and the fields of a key; None without entities."""
    union = schema.type_map.get("_Entity")
    if not isinstance(union, GraphQLUnionType):
        return None
    found = [_object(kind, fields, values_of) for kind in union.types for fields in keys_of(kind)][:_MOST_KEYS]
    return None if not found else {"type": "array", "items": found[0] if len(found) == 1 else {"anyOf": found}}


def keys_of(kind: GraphQLObjectType) -> list[SelectionSetNode | None]:
    """Return the selections of the `@key` directives of a type. Without directives, or from an introspection, return the identifying field."""
    nodes = [one for one in (kind.ast_node, *kind.extension_ast_nodes) if one is not None]
    texts = [
        argument.value.value
        for node in nodes
        for directive in node.directives or ()
        if directive.name.value == "key"
        for argument in directive.arguments or ()
        if argument.name.value == "fields" and isinstance(argument.value, StringValueNode)
    ]
    found = [one for one in map(_selection, texts) if one is not None]
    if found:
        return list(found)
    known = [name for name, one in kind.fields.items() if is_identifying(name, one)][:1]
    return [_selection(" ".join(known))] if known else [None]


def _selection(text: str) -> SelectionSetNode | None:
    try:
        (definition,) = parse(f"{{ {text} }}", no_location=True, max_tokens=1000).definitions
    except (GraphQLError, ValueError, RecursionError):
        return None
    return definition.selection_set  # type: ignore[attr-defined, no-any-return]


def _object(kind: GraphQLObjectType, fields: SelectionSetNode | None, values_of: SchemaOfValues, depth: int = 0) -> Raw:
    properties: Raw = {} if depth else {TYPENAME: {"enum": [kind.name]}}
    properties |= dict(_members(kind, fields, values_of, depth))
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _members(
    kind: GraphQLObjectType, fields: SelectionSetNode | None, values_of: SchemaOfValues, depth: int
) -> Iterator[tuple[str, Raw]]:
    for one in fields.selections if fields is not None and depth < _DEEPEST_KEY else ():
        field = kind.fields.get(one.name.value) if isinstance(one, FieldNode) else None
        if field is None or not isinstance(one, FieldNode):
            continue
        named: Any = get_named_type(field.type)
        if is_leaf_type(named):
            # A key is never null.
            known: Any = field.type
            while isinstance(known, GraphQLNonNull):
                known = known.of_type
            yield one.name.value, values_of(GraphQLNonNull(known))
        elif isinstance(named, GraphQLObjectType):
            yield one.name.value, _object(named, one.selection_set, values_of, depth + 1)
