"""Values of scalars as nodes of a query (GraphQL, 2.9), for strategies of `checker.graphql.scalar`."""

from collections.abc import Iterable, Mapping
from typing import Any

from graphql import (
    BooleanValueNode,
    ConstListValueNode,
    ConstObjectFieldNode,
    ConstObjectValueNode,
    ConstValueNode,
    EnumValueNode,
    FloatValueNode,
    IntValueNode,
    NameNode,
    NullValueNode,
    StringValueNode,
    ValueNode,
    value_from_ast_untyped,
)


def String(value: str) -> StringValueNode:  # noqa: N802 - the public name
    """A text."""
    return StringValueNode(value=value)


def Int(value: int) -> IntValueNode:  # noqa: N802 - the public name
    """An integer of any size."""
    return IntValueNode(value=str(value))


def Float(value: float) -> FloatValueNode:  # noqa: N802 - the public name
    """A number with a fraction or an exponent."""
    return FloatValueNode(value=repr(float(value)))


def Boolean(value: bool) -> BooleanValueNode:  # noqa: N802 - the public name
    """True or false."""
    return BooleanValueNode(value=value)


def Enum(value: str) -> EnumValueNode:  # noqa: N802 - the public name
    """A name without quotes."""
    return EnumValueNode(value=value)


def Null() -> NullValueNode:  # noqa: N802 - the public name
    """No value."""
    return NullValueNode()


def List(values: Iterable[ConstValueNode]) -> ConstListValueNode:  # noqa: N802 - the public name
    """A list of nodes."""
    return ConstListValueNode(values=tuple(values))


def Object(fields: Mapping[str, ConstValueNode]) -> ConstObjectValueNode:  # noqa: N802 - the public name
    """An object of nodes by name."""
    return ConstObjectValueNode(
        fields=tuple(ConstObjectFieldNode(name=NameNode(value=name), value=value) for name, value in fields.items())
    )


def plain(value: Any) -> Any:
    """Return a node as JSON; any other value unchanged."""
    return value_from_ast_untyped(value) if isinstance(value, ValueNode) else value
