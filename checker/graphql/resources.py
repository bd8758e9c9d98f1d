"""Where root fields stand among the resources: `user(id: ID!)` is of one member of `/user`, `createUser` of all of them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

from checker.core.resource_names import is_identifier, normalised, singular, words

CREATES: Final = frozenset(
    ["create", "add", "register", "new", "insert", "make", "clone", "duplicate", "import", "upload"]
)
DELETES: Final = frozenset(["delete", "remove", "destroy", "purge", "clear", "revoke"])
_READS: Final = frozenset(["get", "find", "fetch", "list", "search", "all", "read", "show", "by"])
_CHANGES: Final = frozenset(["update", "edit", "set", "modify", "upsert", "change", "patch"])
_VERBS: Final = CREATES | DELETES | _READS | _CHANGES
_WRAPPER: Final = re.compile(r"(Connection|Payload|Edge|Page|List|Result|Response|Output)\Z")


def resource_path(name: str, one: GraphQLField) -> str:
    """`/user` or `/user/{id}`."""
    noun = singular(_noun(name, one))
    found = next(_identifiers(one), None)
    return f"/{noun}/{{{found}}}" if found and not _creates(name) else f"/{noun}"


def rest_method(operation: str, name: str) -> str:
    """The method by which others would do the same: what a root field does to the things that it is about."""
    said = set(words(name))
    if operation == "query":
        return "GET"
    if said & CREATES:
        return "POST"
    return "DELETE" if said & DELETES else "PATCH"


def _creates(name: str) -> bool:
    return bool(CREATES & set(words(name)))


def _identifiers(one: GraphQLField) -> Iterator[str]:
    """Arguments, required ones, by which a thing is chosen."""
    for name, arg in one.args.items():
        kind = get_named_type(arg.type)
        is_id = kind.name == "ID" or is_identifier(normalised(name))
        if is_leaf_type(kind) and is_id and is_required_argument(arg):
            yield name
        elif isinstance(kind, GraphQLInputObjectType) and "id" in kind.fields:
            yield "id"


def _noun(name: str, one: GraphQLField) -> str:
    """What the things that a field is about are called."""
    spoken = [word for word in words(name) if word not in _VERBS]
    kind: Any = get_named_type(one.type)
    for _ in range(3):
        if not isinstance(kind, GraphQLObjectType) or not _WRAPPER.search(kind.name):
            break
        kind = _inner(kind.fields) or kind
        if _WRAPPER.sub("", kind.name) == kind.name:
            break
    if isinstance(kind, GraphQLObjectType):
        return _WRAPPER.sub("", kind.name) or kind.name
    return "".join(spoken) or name


def _inner(fields: Mapping[str, GraphQLField]) -> Any:
    """The one type that a wrapper is for."""
    order: Iterable[str] = ("node", "nodes", "edges", "items", "results", "data", *fields)
    for name in order:
        if name in fields:
            kind = get_named_type(fields[name].type)
            if isinstance(kind, GraphQLObjectType) and kind.name not in ("PageInfo", "Query"):
                return kind
    return None
