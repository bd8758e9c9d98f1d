"""Fields that a query may select below a root field, nearest first, up to a limit."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)
from msgspec import Struct, field

from checker.core.resource_names import is_identifier, normalised

MOST_PLACES: Final = 256  # Places below a root field, in addition to the fields of its own type.
DEEPEST: Final = 5  # Nesting of selections.
MOST_MEMBERS: Final = 24  # Members of a union or an interface that are searched.
_MOST_WITH_ARGUMENTS: Final = 8
EVERYTHING: Final = "*"  # Stands for all fields of a type that contain values and need no arguments.
Composite = GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType
Step = tuple[str, str]  # A type condition, empty if there is none, and the name of a field.


class FieldPlace(Struct, frozen=True):
    """A field below the root field."""

    steps: tuple[Step, ...]  # From the root field down. The last name may be `EVERYTHING`.
    arguments: Mapping[str, GraphQLArgument] = field(default_factory=dict)  # Arguments of the field.

    @property
    def name(self) -> str:
        """`author.[Person].name`: the member of an interface or a union is in brackets."""
        return ".".join(f"[{kind}].{name}" if kind else name for kind, name in self.steps)


def places_of(schema: GraphQLSchema, root: GraphQLField) -> dict[str, FieldPlace]:
    """Return the places by name, nearest first; none for a field without subfields. Fields with required arguments are included."""
    top = get_named_type(root.type)
    if is_leaf_type(top):
        return {}
    assert isinstance(top, Composite)
    found: dict[str, FieldPlace] = {}
    everything: list[FieldPlace] = []
    level: deque[tuple[Composite, tuple[Step, ...], tuple[str, ...]]] = deque([(top, (), ())])
    while level:
        kind, above, types = level.popleft()
        if above and len(found) >= MOST_PLACES:
            break
        for condition, name, one in _fields(schema, kind):
            steps = (*above, (condition, name))
            place = FieldPlace(steps, one.args)
            found[place.name] = place
            inner = get_named_type(one.type)
            # A type that contains itself is entered once.
            if isinstance(inner, Composite) and len(steps) < DEEPEST and inner.name not in types:
                level.append((inner, steps, (*types, inner.name)))
        everything.append(FieldPlace((*above, ("", EVERYTHING))))
    return found | {one.name: one for one in everything[: len(found) // 2 + 1]}


def with_arguments(places: Mapping[str, FieldPlace]) -> dict[str, FieldPlace]:
    """Return the nearest places whose fields have arguments."""
    found = [(name, place) for name, place in places.items() if place.arguments]
    return dict(found[:_MOST_WITH_ARGUMENTS])


def _fields(schema: GraphQLSchema, kind: Composite) -> Iterator[tuple[str, str, GraphQLField]]:
    """Yield (type condition, name, field) of a type and of its members, identifiers first."""
    if not isinstance(kind, GraphQLUnionType):
        yield from (("", name, one) for name, one in in_order(kind.fields))
    if isinstance(kind, GraphQLObjectType):
        return
    own = {} if isinstance(kind, GraphQLUnionType) else kind.fields
    members = sorted(schema.get_possible_types(kind), key=lambda member: member.name)
    for member in members[:MOST_MEMBERS]:
        yield from ((member.name, name, one) for name, one in in_order(member.fields) if name not in own)


def in_order(fields: Mapping[str, GraphQLField]) -> list[tuple[str, GraphQLField]]:
    """Return fields with identifiers first."""
    return sorted(fields.items(), key=lambda one: not is_identifying(*one))


def is_identifying(name: str, one: GraphQLField) -> bool:
    """Whether a field identifies its object and needs no arguments."""
    kind = get_named_type(one.type)
    is_named_so = kind.name == "ID" or is_identifier(normalised(name))
    return is_leaf_type(kind) and is_named_so and is_free(one)


def is_free(one: GraphQLField) -> bool:
    """Whether a field needs no arguments."""
    return not any(map(is_required_argument, one.args.values()))


def values_of(kind: Any) -> list[str]:
    """Return the fields of a type that contain values and need no arguments."""
    if isinstance(kind, GraphQLUnionType):
        return []
    return [name for name, one in in_order(kind.fields) if is_free(one) and is_leaf_type(get_named_type(one.type))]


def is_error(kind: Any) -> bool:
    """Whether a type is an error that a field returns, with a message and no identifier: `UserError`, `BookNotFound`."""
    if isinstance(kind, GraphQLUnionType):
        return False
    is_named_so = kind.name.endswith(("Error", "Exception", "Problem", "Failure"))
    has_id = any(get_named_type(one.type).name == "ID" for one in kind.fields.values())
    return is_named_so or ("message" in kind.fields and "id" not in kind.fields and not has_id)


def usual_fields(kind: Any) -> list[str]:
    """Return the fields of a type that are always selected: the identifier, else one value, else `__typename`.

    From an error type, message and code are selected, because they distinguish causes.
    """
    if isinstance(kind, GraphQLUnionType):
        return ["__typename"]
    told = [name for name in values_of(kind) if name in ("message", "code")] if is_error(kind) else []
    if told:
        return told
    known = [name for name, one in kind.fields.items() if is_identifying(name, one)]
    by_type = [name for name in known if get_named_type(kind.fields[name].type).name == "ID"]
    return (by_type or known or values_of(kind))[:1] or ["__typename"]
