"""Root fields in the resource model: `user(id: ID!)` is about one member of `/User`, `createUser` creates one.

Types show this: the content of a response, through payloads and connections, and the objects that arguments identify. The
model lets the response of one field provide values for requests to others, and lets deleted objects be requested again.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
)
from msgspec import Struct

from checker.core.graphs import grouped
from checker.core.operation import Label, Place
from checker.core.request import Location
from checker.core.resource_names import Resource, normalised, singular, words
from checker.core.resources import REMOVING, ResourceModel, ResourceUse, TakenValue, Transition
from checker.graphql.inputs import is_list
from checker.graphql.selections import Step, is_free, is_identifying
from checker.graphql.writing import ARGUMENTS

_HANDLES: Final = frozenset(
    ["id", "ids", "uuid", "guid", "uid", "gid", "slug", "sku", "code", "key", "token", "handle", "ref", "arn"]
)  # fmt: skip
"""Argument names, or last words of them, that select objects. Free texts such as titles are not among them."""
_IDS: Final = frozenset(("id", "ids", "uuid", "guid", "uid", "gid"))  # Identifiers that are used interchangeably.
_ROLES: Final = frozenset(("target", "source", "new", "old", "parent", "child", "from", "to"))
"""Words before a type name that describe a role and no type."""
_NEW: Final = frozenset((("patch",), ("set",), ("changes",)))
"""Last words of arguments with new content: `personPatch: {id: 5}` assigns a new id."""
_MOST_NESTED: Final = 2  # Levels of input objects that are searched.
Entity = GraphQLObjectType | GraphQLInterfaceType


class NamingArgument(Struct, frozen=True):
    """An argument, or a field of one, that identifies an object."""

    name: str  # Name of the variable: `id`, `bookId`.
    pointer: str  # Pointer below the arguments: `/input/id`.
    owner: Entity  # Type of the identified object.
    handle: str  # Field of the owner that contains such values.
    is_list: bool
    is_required: bool


Types = Mapping[str, Entity]  # Types of objects by their singular names.


def naming_arguments(one: GraphQLField, own: Entity | None, types: Types, *, creates: bool) -> Iterator[NamingArgument]:
    """Yield the arguments of a root field that identify objects.

    `own` is the type of its objects. If the field `creates` them, it assigns their identifiers itself.
    """
    mine = None if creates else own
    todo: list[tuple[str, str, Any, bool, int, Entity | None]] = [
        ("", name, arg.type, True, 0, _chosen(mine, name, one.args)) for name, arg in one.args.items()
    ]
    while todo:
        above, name, kind, is_required, depth, about = todo.pop(0)
        pointer = f"{above}/{name}"
        is_required &= isinstance(kind, GraphQLNonNull)
        named = get_named_type(kind)
        if isinstance(named, GraphQLInputObjectType):
            # The type of Relay's single argument may be optional although nothing works without it.
            if depth < _MOST_NESTED and not is_list(kind) and not named.is_one_of:
                fields: Mapping[str, Any] = named.fields
                todo += [
                    (pointer, inner, field.type, is_required, depth + 1, _chosen(about, inner, fields))
                    for inner, field in fields.items()
                ]
        elif is_leaf_type(named):
            found = _named_by(name, named.name, about, types)
            if found is not None:
                yield NamingArgument(name, pointer, *found, is_list(kind), is_required)


def _chosen(own: Entity | None, name: str, beside: Mapping[str, Any]) -> Entity | None:
    """Return the type that bare identifiers in an argument select; None if they are new values for an object that another argument selects."""
    last = words(name)[-1:]
    others = beside.keys() - {name, "clientMutationId"}
    is_new = bool(others) and (last in _NEW or (last == ("data",) and "where" in others))
    return None if is_new else own


def _named_by(name: str, scalar: str, own: Entity | None, types: Types) -> tuple[Entity, str] | None:
    """Return (type that an argument identifies, field of its values)."""
    parts = words(name)
    if len(parts) > 1 and parts[0] in _ROLES:
        parts = parts[1:]
    last = parts[-1] if parts else ""
    if last in _HANDLES:
        owner = types.get(singular("".join(parts[:-1]))) if len(parts) > 1 else own
        if owner is None or name not in owner.fields:
            by_field = None
        else:
            by_field = (owner, name) if is_leaf_type(get_named_type(owner.fields[name].type)) else None
        found = _by_handle(owner, last) or by_field
        # `person(nodeId: ID!)`: `nodeId` is a field of the interface `Node`.
        if found is not None and own is not None and owner in own.interfaces:
            return own, found[1]
        return found
    of_scalar = words(scalar)
    if len(of_scalar) > 1 and of_scalar[-1] in _IDS:
        # `book: BookID!`
        return _by_handle(types.get(singular("".join(of_scalar[:-1]))), "id")
    return _by_handle(types.get(singular("".join(parts))), "id") if scalar == "ID" else None


def _by_handle(owner: Entity | None, handle: str) -> tuple[Entity, str] | None:
    if owner is None:
        return None
    wanted = _IDS if handle in _IDS else {handle}
    for name, one in owner.fields.items():
        if normalised(name) in wanted and is_leaf_type(get_named_type(one.type)):
            return owner, name
    return None


_WRONG: Final = frozenset(
    ["error", "errors", "exception", "failure", "fault", "problem", "problems", "invalid", "denied", "forbidden", "unauthorized",
     "unauthorised", "unauthenticated", "conflict", "rejected", "failed", "missing", "taken", "already", "not", "unknown"]
)  # fmt: skip
_STATUSES: Final = (
    (404, frozenset(("found", "missing", "unknown"))),
    (409, frozenset(("exists", "already", "taken", "conflict", "duplicate"))),
    (401, frozenset(("unauthenticated", "unauthorized", "unauthorised"))),
    (403, frozenset(("denied", "forbidden", "allowed", "authorized", "permission", "access"))),
    (429, frozenset(("limit", "throttled"))),
)
"""Words in type names -> the REST status with that meaning."""
_UNPROCESSABLE: Final = 422


def asked_for(union: GraphQLUnionType) -> GraphQLObjectType | None:
    """Return the only member that is no error; None if there are several, because each of them may be the result."""
    fit = [one for one in union.types if all(_WRONG.isdisjoint(words(each.name)) for each in (one, *one.interfaces))]
    return fit[0] if len(fit) == 1 else None


def status_named(name: str) -> int:
    """Return the REST status for a response of this type, if it is an error type of a union."""
    spoken = set(words(name))
    return next((status for status, said in _STATUSES if said & spoken), _UNPROCESSABLE)


CREATES: Final = frozenset(
    ["create", "add", "register", "new", "insert", "make", "clone", "duplicate", "import", "upload"]
)
DELETES: Final = frozenset(["delete", "remove", "destroy", "purge", "clear", "revoke"])
_GONE: Final = frozenset(["delete", "remove", "destroy", "purge"])  # Verbs after which the object no longer exists.
_ELSEWHERE: Final = frozenset(["from", "to", "in", "of", "by", "with", "on", "at", "for"])
"""Words in names of actions on a place and not on the object itself."""
_READS: Final = frozenset(["get", "find", "fetch", "list", "search", "all", "read", "show", "by"])
_CHANGES: Final = frozenset(["update", "edit", "set", "modify", "upsert", "change", "patch"])
_VERBS: Final = CREATES | DELETES | _READS | _CHANGES
_WRAPPER: Final = re.compile(r"\w(?:Connection|Payload|Edge|Page|List|Result|Results|Response|Output|Return|Success)\Z")
_INSIDE: Final = ("node", "nodes", "edges", "items", "results", "data")  # Fields in which wrappers hold their content.
_DEEPEST: Final = 3  # Levels of wrappers.
_MOST_SOURCES: Final = 12  # Sources of values for one place.
_MOST_WITNESSES: Final = 3
_FLAGS: Final = frozenset(("success", "ok", "successful", "deleted"))
_ERRORS: Final = frozenset(("errors", "usererrors", "messages", "error"))
_ORDER: Final = ("POST", "GET", "PATCH")
"""The order of sources: operations that create objects, then those that return them, then those that change them."""


class RootRole(Struct, frozen=True):
    """The effect of one root field on its objects."""

    label: Label
    method: str  # The REST method with the same effect.
    noun: str  # The noun of its objects.
    entity: Entity | None  # Type of the objects; None if the response contains none of them.
    steps: tuple[str, ...]  # Names of fields from the response down to the objects.
    members: tuple[str, ...]
    """The member of the union before each step and after the last one; empty if there is no union."""
    pointer: str  # Pointer from the response to one object: `/edges/*/node`.
    naming: tuple[NamingArgument, ...]
    own: NamingArgument | None  # The arguments that select one of its objects.
    witnesses: tuple[str, ...] = ()  # Fields of the response that indicate success: a flag, or a list of errors.

    def way(self, *names: str) -> tuple[Step, ...]:
        """Return the path of fields to the objects, or to `names`, with the union members that have these fields."""
        return tuple(zip(self.members, names, strict=False))

    @property
    def path(self) -> str:
        return f"/{self.noun}" if self.own is None else f"/{self.noun}/{{{self.own.name}}}"

    @property
    def places(self) -> Mapping[str, Place]:
        return {one.name: (Location.BODY, f"/{ARGUMENTS}{one.pointer}") for one in self.naming if not one.is_list}

    @property
    def use(self) -> ResourceUse:
        """The row of the field in the resource model."""
        owners = tuple(
            (one.name, _resource(one.owner.name))
            for one in self.naming
            if not one.is_list and (one.is_required or one is self.own)
        )
        own = self.own is not None
        return ResourceUse(self.label, self.method, self.path, _resource(self.noun), own, owners)


def _method_of(spoken: tuple[str, ...]) -> str:
    """Return the HTTP method with the effect of a mutation, by the words of its name: `createBook`, `bookCreate`."""
    ends = {spoken[0], spoken[-1]} if spoken else set()
    if ends & CREATES:
        return "POST"
    return REMOVING if ends & DELETES else "PATCH"


class RootRoles:
    """Roles of the root fields of a schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self.schema = schema
        self.by_label: dict[Label, RootRole] = {}
        self.wanted: dict[str, dict[str, None]] = {}
        """Type -> its fields whose values arguments use as identifiers."""

    @cached_property
    def _types(self) -> Types:
        roots = {self.schema.query_type, self.schema.mutation_type, self.schema.subscription_type}
        found: dict[str, Entity] = {}
        for kind in self.schema.type_map.values():
            if isinstance(kind, Entity) and kind not in roots and not kind.name.startswith("__"):
                found.setdefault(singular(kind.name), kind)
        return found

    def add(self, label: Label, operation: str, name: str, one: GraphQLField) -> RootRole:
        """Return the role of a root field, which is `query` or `mutation`."""
        spoken = words(name)
        rest = [word for word in spoken if word not in _VERBS]
        entity, steps, members, pointer = _entity(operation, one, rest)
        subject = entity or self._types.get(singular("".join(rest)))
        noun = subject.name if subject is not None else "".join(rest) or name
        method = "GET" if operation == "query" else _method_of(spoken)
        arguments = tuple(naming_arguments(one, subject, self._types, creates=method == "POST"))
        own = None
        is_one = not is_list(one.type) and "*" not in pointer
        # `removeBookFromShelf` does not remove the shelf.
        if method != REMOVING:
            is_about = True
        else:
            left = [word for word in spoken if word not in _GONE]
            is_about = not (_ELSEWHERE | DELETES) & set(left) and singular("".join(left)).endswith(singular(noun))
        if subject is not None and is_one and method != "POST" and is_about:
            mine = [each for each in arguments if each.owner is subject and not each.is_list]
            own = next(iter(sorted(mine, key=lambda each: not each.is_required)), None)
        witnesses = tuple(_witnesses(one)) if operation == "mutation" else ()
        # Each variable once. Outer places take precedence over inner ones.
        distinct = {each.name: each for each in reversed(arguments)}
        named = tuple(each for each in arguments if distinct[each.name] is each)
        role = self.by_label[label] = RootRole(
            label, method, noun, entity, steps, members, pointer, named, own, witnesses
        )
        for naming in role.naming:
            for kind in self._members(naming.owner):
                self.wanted.setdefault(kind, {})[naming.handle] = None
        return role

    def always(self, label: Label) -> tuple[tuple[Step, ...], ...]:
        """Return the paths that each query of an operation selects: identifiers of its objects, and fields that indicate success."""
        role = self.by_label[label]
        found: list[tuple[Step, ...]] = [(("", name),) for name in role.witnesses]
        if role.entity is not None:
            known = [name for name in self.wanted.get(role.entity.name, ()) if _has(role, name)]
            found += [role.way(*role.steps, name) for name in known]
            if role.steps and not known:
                found.append(role.way(*role.steps))
        return tuple(found)

    def model(self) -> ResourceModel:
        return ResourceModel((role.use for role in self.by_label.values()), self._transitions())

    def _members(self, kind: Entity) -> Iterator[str]:
        yield kind.name
        if is_abstract_type(kind):
            yield from (one.name for one in self.schema.get_possible_types(kind))  # type: ignore[arg-type]

    def _transitions(self) -> Iterator[Transition]:
        ordered = [role for role in self.by_label.values() if role.method != REMOVING]
        ordered.sort(key=lambda role: (_ORDER.index(role.method), role.own is not None))
        shown = grouped((role.entity.name, role) for role in ordered if role.entity is not None)
        for target in self.by_label.values():
            values: dict[Label, list[TakenValue]] = {}
            for naming in target.naming:
                sources = [role for kind in self._members(naming.owner) for role in shown.get(kind, ())]
                usable = [role for role in sources if _has(role, naming.handle) and role is not target]
                for role in usable[:_MOST_SOURCES]:
                    expression: Any = f"$response.body#{role.pointer}/{naming.handle}"
                    value = [expression] if naming.is_list else expression
                    place = f"/{ARGUMENTS}{naming.pointer}"
                    values.setdefault(role.label, []).append(TakenValue(Location.BODY, place, value))
            name = target.label.partition(".")[2]
            for source, taken in values.items():
                yield Transition(name, source, "2XX", target.label, tuple(taken))


def _has(role: RootRole, handle: str) -> bool:
    """Whether responses can contain a field of the objects."""
    one = None if role.entity is None else role.entity.fields.get(handle)
    return one is not None and is_free(one)


def _resource(noun: str) -> Resource:
    return (singular(noun),)


def _entity(
    operation: str, field: GraphQLField, rest: list[str]
) -> tuple[Entity | None, tuple[str, ...], tuple[str, ...], str]:
    """Return (type of the objects in a response, fields that lead to them, union members on the way, pointer to one object)."""
    kind: Any = field.type
    steps: list[str] = []
    members: list[str] = []
    pointer = "/*" if is_list(kind) else ""
    for _ in range(_DEEPEST + 1):
        named = get_named_type(kind)
        chosen = asked_for(named) if isinstance(named, GraphQLUnionType) else None
        members.append("" if chosen is None else chosen.name)
        named = chosen or named
        if not isinstance(named, GraphQLObjectType | GraphQLInterfaceType):
            break
        is_payload = operation == "mutation" and not steps
        inner = _held(named, "".join(rest), is_payload=is_payload)
        if inner is None and not _is_wrapper(named):
            return named, tuple(steps), tuple(members), pointer
        if inner is None:
            break
        name, one = inner
        steps.append(name)
        pointer += f"/{name}" + ("/*" if is_list(one.type) else "")
        kind = one.type
    return None, (), tuple(members[:1]), ""


def _witnesses(field: GraphQLField) -> Iterator[str]:
    named: Any = get_named_type(field.type)
    if not isinstance(named, GraphQLObjectType):
        return
    found = 0
    for name, one in named.fields.items():
        known = name.lower().replace("_", "")
        is_flag = known in _FLAGS and get_named_type(one.type).name == "Boolean"
        if (is_flag or known in _ERRORS) and is_free(one) and found < _MOST_WITNESSES:
            found += 1
            yield name


def _held(kind: Entity, noun: str, *, is_payload: bool) -> tuple[str, GraphQLField] | None:
    """Return the field with the content of a wrapper; None for other types. A mutation's response type is a wrapper if it has no identifier."""
    is_wrapper = _is_wrapper(kind)
    if not is_wrapper and _has_identifiers(kind):
        return None
    inner = {
        name: one
        for name, one in kind.fields.items()
        if is_free(one)
        and isinstance(get_named_type(one.type), Entity)
        and get_named_type(one.type).name != "PageInfo"
        and normalised(name) not in _ERRORS
    }
    named = [name for name in inner if singular(name) == singular(noun)]
    usual = [name for name in _INSIDE if name in inner]
    known = (name for name, one in inner.items() if _has_identifiers(get_named_type(one.type)))
    others = known if is_wrapper or is_payload else ()
    chosen = next(iter([*named, *usual, *others]), None)
    return None if chosen is None else (chosen, inner[chosen])


def _has_identifiers(kind: Any) -> bool:
    return any(is_identifying(*one) for one in kind.fields.items())


def _is_wrapper(kind: Entity) -> bool:
    return bool(_WRAPPER.search(kind.name)) and "id" not in kind.fields
