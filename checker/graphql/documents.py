"""Schemas as they are found: SDL, however loosely written, and results of introspection."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from graphql import (
    DefinitionNode,
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    NamedTypeNode,
    NameNode,
    Node,
    OperationType,
    OperationTypeDefinitionNode,
    ScalarTypeDefinitionNode,
    SchemaDefinitionNode,
    SchemaExtensionNode,
    TypeDefinitionNode,
    TypeExtensionNode,
    build_ast_schema,
    build_client_schema,
    parse,
    specified_scalar_types,
)
from graphql.language import ast
from msgspec import Struct

from checker.core.errors import ForeignDescription, LoaderError, LoaderErrorKind

_EMPTY_BODY: Final = re.compile(
    r"(\b(?:type|interface|input|enum)\s+\w+(?:\s+implements\s+[\w\s&,]+)?(?:\s*@\w+)*)\s*\{\s*\}"
)
_MISSING_AMPERSAND: Final = re.compile(r"\bimplements\s+(&?\s*\w+(?:[\s,&]+\w+)*)(?=\s*[{@])")
_SDL: Final = re.compile(
    r"\b(type|schema|interface|union|enum|input|scalar|directive|extend)\b[^:]*?[{@=(]", re.DOTALL
)
_INVALID: Final = LoaderErrorKind.GRAPHQL_INVALID_SCHEMA
_DEEPEST: Final = "its types are nested too deeply to be read; simplify them"
_ROOTS: Final = {"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}
_MOST_TOKENS: Final = 2_000_000


class ReadSchema(Struct, frozen=True):
    """A schema that was read, and what had to be guessed."""

    schema: GraphQLSchema
    source: str | Mapping[str, Any]
    """SDL, or the result of an introspection."""
    notes: tuple[str, ...] = ()
    """One sentence for each thing that a strict parser refuses."""


def from_sdl(text: str, name: str) -> ReadSchema:
    """The schema of a text. Raises `LoaderError`; `ForeignDescription` when it does not look like SDL at all."""
    notes: list[str] = []
    text = text.removeprefix("\ufeff")
    try:
        document = _parsed(text, notes)
        known = _definitions(document, notes)
        schema = build_ast_schema(
            DocumentNode(definitions=tuple(known)), assume_valid=True, assume_valid_sdl=True
        )
    except RecursionError:
        raise LoaderError(f"{name} cannot be read: {_DEEPEST}", kind=_INVALID) from None
    except (GraphQLError, TypeError) as error:
        message = f"{name} is not a GraphQL schema: {_one_line(str(error))}; correct it"
        kind = LoaderError if _SDL.search(text[:100_000]) else ForeignDescription
        raise kind(message, kind=_INVALID) from error
    if schema.query_type is None and schema.mutation_type is None:
        raise ForeignDescription(
            f"{name} is not a GraphQL schema that can be tested: it has neither queries nor mutations; "
            "give the schema that the server serves",
            kind=_INVALID,
        )
    return ReadSchema(schema, text, tuple(notes))


def from_introspection(value: Mapping[str, Any], name: str) -> ReadSchema:
    """The schema of an introspection, bare or under `data`. Raises `LoaderError`; `ForeignDescription` when it is none."""
    inner = value.get("data")
    found = inner if isinstance(inner, Mapping) and "__schema" in inner else value
    if not isinstance(found.get("__schema"), Mapping):
        raise ForeignDescription(
            f"{name} is not the result of a GraphQL introspection: it has no `__schema`; "
            "give an introspection result or SDL",
            _complaints(value),
            kind=_INVALID,
        )
    kept = {"__schema": found["__schema"]}
    try:
        schema = build_client_schema(kept, assume_valid=True)  # type: ignore[arg-type]
        types = list(schema.type_map.values())
        _read_all(types)
    except (GraphQLError, TypeError, KeyError, AttributeError, ValueError) as error:
        raise LoaderError(
            f"{name} is not a whole GraphQL introspection: {_one_line(str(error))}; "
            "have the server answer the full introspection query",
            kind=_INVALID,
        ) from error
    except RecursionError:
        raise LoaderError(f"{name} cannot be read: {_DEEPEST}", kind=_INVALID) from None
    return ReadSchema(schema, kept)


def _read_all(types: Iterable[Any]) -> None:
    """RootFields are read when they are first asked for: what is wrong with them is told now."""
    for one in types:
        for field in getattr(one, "fields", {}).values():
            getattr(field, "args", None)


def _complaints(value: Mapping[str, Any]) -> list[str]:
    """What the server says went wrong."""
    errors = value.get("errors")
    listed = errors if isinstance(errors, list) else []
    return [str(one.get("message"))[:200] for one in listed[:5] if isinstance(one, Mapping)]


def _parsed(text: str, notes: list[str]) -> DocumentNode:
    """The document; of older ways to write it, too."""
    try:
        return parse(text, no_location=True, max_tokens=_MOST_TOKENS)
    except GraphQLError:
        repaired = _EMPTY_BODY.sub(r"\1", text)
        repaired = _MISSING_AMPERSAND.sub(_with_ampersands, repaired)
        if repaired == text:
            raise
        found = parse(repaired, no_location=True, max_tokens=_MOST_TOKENS)
        notes.append("it is written in SDL of before 2018, and was read as if it were of today")
        return found


def _with_ampersands(match: re.Match[str]) -> str:
    return "implements " + " & ".join(re.findall(r"\w+", match[1]))


def _definitions(document: DocumentNode, notes: list[str]) -> Iterator[DefinitionNode]:
    """Definitions that make a schema: extensions with a base each, types that are only named, one definition each."""
    known: dict[str, DefinitionNode] = {}
    rest: list[DefinitionNode] = []
    roots: DefinitionNode | None = None
    for one in document.definitions:
        if isinstance(one, ExecutableDefinitionNode):
            notes.append("it holds queries beside its types; they are not read")
        elif isinstance(one, TypeExtensionNode) and one.name.value not in known:
            rest.append(one)
        elif isinstance(one, TypeDefinitionNode):
            if one.name.value in known:
                notes.append(
                    f"the type {one.name.value} is defined more than once; the first counts"
                )
            known.setdefault(one.name.value, one)
        elif isinstance(one, SchemaDefinitionNode):
            roots = roots or one
        else:
            rest.append(one)
    rest = list(_based(rest, known, notes))
    everything = [*known.values(), *rest]
    for name in sorted(_named(everything) - known.keys() - specified_scalar_types.keys()):
        notes.append(
            f"the type {name} is not defined; it is read as a scalar of which nothing is known"
        )
        everything.append(ScalarTypeDefinitionNode(name=NameNode(value=name), directives=()))
    if roots is None and any(isinstance(one, SchemaExtensionNode) for one in rest):
        roots = _usual_roots(known)
    yield from everything
    if roots is not None:
        yield roots


def _based(
    rest: Iterable[DefinitionNode], known: dict[str, DefinitionNode], notes: list[str]
) -> Iterator[DefinitionNode]:
    """Extensions; the first one of a type that nobody defines is its definition."""
    for one in rest:
        if not isinstance(one, TypeExtensionNode) or one.name.value in known:
            yield one
            continue
        name = one.name.value
        made = getattr(ast, type(one).__name__.replace("Extension", "Definition"))
        known[name] = made(**{key: getattr(one, key, None) for key in made.keys if key != "loc"})
        notes.append(
            f"the type {name} is extended and not defined; the extension is read as its definition"
        )


def _usual_roots(known: Mapping[str, DefinitionNode]) -> SchemaDefinitionNode:
    """What a schema without a definition means."""
    types = tuple(
        OperationTypeDefinitionNode(
            operation=OperationType(operation),
            type=NamedTypeNode(name=NameNode(value=name)),
        )
        for operation, name in _ROOTS.items()
        if name in known
    )
    return SchemaDefinitionNode(operation_types=types, directives=())


def _named(definitions: Iterable[Node]) -> set[str]:
    """Names of all types that are referred to."""
    found: Counter[str] = Counter()
    todo: list[Any] = list(definitions)
    while todo:
        node = todo.pop()
        if isinstance(node, NamedTypeNode):
            found[node.name.value] += 1
        elif isinstance(node, list | tuple):
            todo.extend(node)
        elif isinstance(node, Node):
            todo.extend(getattr(node, key, None) for key in node.keys if key != "loc")
    return set(found)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300].rstrip(".")
