"""What a query asks for pages of lists: marks that the server made, and how many items. No type says which of them it takes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from graphql import (
    ArgumentNode,
    GraphQLArgument,
    GraphQLInputObjectType,
    Undefined,
    ValueNode,
    get_named_type,
    value_from_ast_untyped,
)
from msgspec import Struct

from checker.core.pagination import USUAL_COUNTS, is_count, marks_among

_DEEPEST: Final = 4
"""Input objects in one another that are looked into."""


class PageArgument(Struct, frozen=True):
    """An argument that may ask for a page."""

    name: str
    kind: Any
    """Its type."""
    is_mark: bool
    node: ValueNode
    """What the query says of it."""

    def doubts(self, variables: Mapping[str, Any]) -> Iterator[str]:
        """Names of what only the server knows the right values of."""
        value = value_from_ast_untyped(self.node, dict(variables))
        yield from _doubts(self.name, value, self.kind, self.is_mark, _DEEPEST)


def page_arguments(node: ArgumentNode, args: Mapping[str, GraphQLArgument]) -> list[PageArgument]:
    """The argument, where it is one that may ask for a page; `args` are all that its field has."""
    name = node.name.value
    declared = args.get(name)
    if declared is None:
        return []
    kind, is_mark = get_named_type(declared.type), name in marks_among(args)
    if not (is_mark or is_count(name) or isinstance(kind, GraphQLInputObjectType)):
        return []
    return [PageArgument(name, kind, is_mark, node.value)]


def _doubts(name: str, value: Any, kind: Any, is_mark: bool, depth: int) -> Iterator[str]:
    if value is None or value is Undefined:
        return
    if is_mark or (is_count(name) and isinstance(value, int) and value not in USUAL_COUNTS):
        yield name
    if isinstance(kind, GraphQLInputObjectType) and isinstance(value, dict) and depth:
        marks = marks_among(kind.fields)
        for inner, one in value.items():
            declared = kind.fields.get(inner)
            if declared is not None:
                below = get_named_type(declared.type)
                yield from _doubts(inner, one, below, inner in marks, depth - 1)
