"""What gateways of a federation ask subgraphs for: things by their keys (Apollo Federation, subgraph specification)."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from graphql import (
    FieldNode,
    GraphQLError,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    SelectionSetNode,
    StringValueNode,
    get_named_type,
    is_leaf_type,
    parse,
)

from checker.graphql.scalars import Raw
from checker.graphql.selections import is_identifying

ENTITIES: Final = "_entities"
REPRESENTATIONS: Final = "representations"
"""The argument of `_entities`: what is known of each thing that is asked for."""
OF_GATEWAYS: Final = frozenset((ENTITIES, "_service"))
"""Root fields that are there for gateways alone."""
_MOST_KEYS: Final = 64
_DEEPEST: Final = 4
TYPENAME: Final = "__typename"
SchemaOfValues = Callable[[Any], Raw]
"""JSON Schema of the values of a type."""


def representations(schema: GraphQLSchema, values_of: SchemaOfValues) -> Raw | None:
    """JSON Schema of the argument: objects with `__typename` and the fields of a key; None when there is no entity."""
    union = schema.type_map.get("_Entity")
    if not isinstance(union, GraphQLUnionType):
        return None
    found = [_object(kind, fields, values_of) for kind in union.types for fields in keys_of(kind)][
        :_MOST_KEYS
    ]
    if not found:
        return None
    return {"type": "array", "items": found[0] if len(found) == 1 else {"anyOf": found}}


def keys_of(kind: GraphQLObjectType) -> list[SelectionSetNode | None]:
    """Selections of the `@key` directives of a type; of one without any, or read from an introspection, what things are known by."""
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


def _object(
    kind: GraphQLObjectType,
    fields: SelectionSetNode | None,
    values_of: SchemaOfValues,
    depth: int = 0,
) -> Raw:
    properties: Raw = {} if depth else {TYPENAME: {"enum": [kind.name]}}
    properties |= dict(_members(kind, fields, values_of, depth))
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _members(
    kind: GraphQLObjectType,
    fields: SelectionSetNode | None,
    values_of: SchemaOfValues,
    depth: int,
) -> Iterator[tuple[str, Raw]]:
    for one in fields.selections if fields is not None and depth < _DEEPEST else ():
        field = kind.fields.get(one.name.value) if isinstance(one, FieldNode) else None
        if field is None or not isinstance(one, FieldNode):
            continue
        named: Any = get_named_type(field.type)
        if is_leaf_type(named):
            # What a thing is known by is there.
            known: Any = field.type
            while isinstance(known, GraphQLNonNull):
                known = known.of_type
            yield one.name.value, values_of(GraphQLNonNull(known))
        elif isinstance(named, GraphQLObjectType):
            yield one.name.value, _object(named, one.selection_set, values_of, depth + 1)
