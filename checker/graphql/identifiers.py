"""Arguments that name things: whose they are, and by which field they are known in answers."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    is_leaf_type,
)
from msgspec import Struct

from checker.core.resource_names import normalised, singular, words
from checker.graphql.inputs import is_list

_HANDLES: Final = frozenset(
    ["id", "ids", "uuid", "guid", "uid", "gid", "slug", "sku", "code", "key", "token", "handle", "ref", "arn"]
)  # fmt: skip
"""What arguments are called, or end with, by which things are chosen. No texts that people write, such as names."""
_IDS: Final = frozenset(("id", "ids", "uuid", "guid", "uid", "gid"))
"""Those that stand for one another."""
_ROLES: Final = frozenset(("target", "source", "new", "old", "parent", "child", "from", "to"))
"""Words before the name of a type that say what for, not of which type."""
_NEW: Final = frozenset((("patch",), ("set",), ("changes",)))
"""Last words of arguments that hold what a thing shall become: `personPatch: {id: 5}` makes it the fifth."""
_DEEPEST: Final = 2
"""Input objects in one another that are looked into."""
Entity = GraphQLObjectType | GraphQLInterfaceType


class NamingArgument(Struct, frozen=True):
    """An argument, or a field of one, that names a thing."""

    name: str
    """Of the variable: `id`, `bookId`."""
    pointer: str
    """Below the arguments: `/input/id`."""
    owner: Entity
    """What it names."""
    handle: str
    """Field of the owner that holds such values."""
    is_list: bool
    is_required: bool


class TypeNames:
    """Types of things by what they are called."""

    def __init__(self, schema: GraphQLSchema) -> None:
        roots = {schema.query_type, schema.mutation_type, schema.subscription_type}
        self._by_noun: dict[str, Entity] = {}
        for kind in schema.type_map.values():
            if isinstance(kind, Entity) and kind not in roots and not kind.name.startswith("__"):
                self._by_noun.setdefault(singular(kind.name), kind)

    def named(self, noun: str) -> Entity | None:
        """The type that a noun stands for, singular or plural, in any spelling."""
        return self._by_noun.get(singular(noun))


def naming_arguments(
    one: GraphQLField, own: Entity | None, types: TypeNames, *, creates: bool
) -> Iterator[NamingArgument]:
    """Arguments of a root field that name things. `own` is what it is about; who `creates` it gives it its names himself."""
    mine = None if creates else own
    todo: list[tuple[str, str, Any, bool, int, Entity | None]] = [
        ("", name, arg.type, True, 0, _chosen(mine, name, one.args))
        for name, arg in one.args.items()
    ]
    while todo:
        above, name, kind, is_required, depth, about = todo.pop(0)
        pointer = f"{above}/{name}"
        is_required &= isinstance(kind, GraphQLNonNull)
        named = get_named_type(kind)
        if isinstance(named, GraphQLInputObjectType):
            # The one argument of Relay may be called optional where nothing works without it.
            if depth < _DEEPEST and not is_list(kind) and not named.is_one_of:
                fields: Mapping[str, Any] = named.fields
                todo += [
                    (
                        pointer,
                        inner,
                        field.type,
                        is_required,
                        depth + 1,
                        _chosen(about, inner, fields),
                    )
                    for inner, field in fields.items()
                ]
        elif is_leaf_type(named):
            found = _named_by(name, named.name, about, types)
            if found is not None:
                yield NamingArgument(name, pointer, *found, is_list(kind), is_required)


def _chosen(own: Entity | None, name: str, beside: Mapping[str, Any]) -> Entity | None:
    """What bare identifiers at or below an argument choose: nothing where they are the new values of what another argument chooses."""
    last = words(name)[-1:]
    others = beside.keys() - {name, "clientMutationId"}
    is_new = bool(others) and (last in _NEW or (last == ("data",) and "where" in others))
    return None if is_new else own


def _named_by(
    name: str, scalar: str, own: Entity | None, types: TypeNames
) -> tuple[Entity, str] | None:
    """(what an argument names, by which field)."""
    parts = words(name)
    if len(parts) > 1 and parts[0] in _ROLES:
        parts = parts[1:]
    last = parts[-1] if parts else ""
    if last in _HANDLES:
        owner = types.named("".join(parts[:-1])) if len(parts) > 1 else own
        found = _by_handle(owner, last) or _by_field(owner, name)
        # `person(nodeId: ID!)`, where `nodeId` is how the interface `Node` calls it.
        if found is not None and own is not None and owner in own.interfaces:
            return own, found[1]
        return found
    of_scalar = words(scalar)
    if len(of_scalar) > 1 and of_scalar[-1] in _IDS:
        # `book: BookID!`
        return _by_handle(types.named("".join(of_scalar[:-1])), "id")
    return _by_handle(types.named("".join(parts)), "id") if scalar == "ID" else None


def _by_handle(owner: Entity | None, handle: str) -> tuple[Entity, str] | None:
    if owner is None:
        return None
    wanted = _IDS if handle in _IDS else {handle}
    for name, one in owner.fields.items():
        if normalised(name) in wanted and is_leaf_type(get_named_type(one.type)):
            return owner, name
    return None


def _by_field(owner: Entity | None, name: str) -> tuple[Entity, str] | None:
    """`book(bookId: ID!)` of `type Book { bookId: ID! }`."""
    if owner is None or name not in owner.fields:
        return None
    return (owner, name) if is_leaf_type(get_named_type(owner.fields[name].type)) else None
