"""Loaders of GraphQL schemas: SDL in any common dialect, or an introspection; from a file, memory, a URL or an application."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from graphql import (
    DefinitionNode,
    DirectiveDefinitionNode,
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLError,
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
    get_introspection_query,
    parse,
    specified_scalar_types,
)
from graphql.language import ast

from checker.core.errors import ForeignDescription, LoaderError, LoaderErrorKind
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.graphql.schema import GraphQLDescription, ReadSchema
from checker.kinds.fetching import Fetched, read_file
from checker.kinds.sources import (
    ApplicationSource,
    DescriptionSource,
    FetchOptions,
    FileSource,
    TextSource,
    UrlSource,
    ValueSource,
)
from checker.kinds.table import GRAPHQL
from checker.kinds.web import Web

_EMPTY_BODY: Final = re.compile(
    r"(\b(?:type|interface|input|enum)\s+\w+(?:\s+implements\s+[\w\s&,]+)?(?:\s*@\w+)*)\s*\{\s*\}"
)
_MISSING_AMPERSAND: Final = re.compile(r"\bimplements\s+(&?\s*\w+(?:[\s,&]+\w+)*)(?=\s*[{@])")
_SDL: Final = re.compile(r"\b(type|schema|interface|union|enum|input|scalar|directive|extend)\b[^:]*?[{@=(]", re.DOTALL)
_DEEPEST: Final = "its types are nested too deeply to be read; simplify them"
_ROOTS: Final = {"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}
_MOST_TOKENS: Final = 2_000_000


def from_sdl(text: str, name: str) -> ReadSchema:
    """Return the schema of an SDL text. Raises `LoaderError`; `ForeignDescription` if it does not resemble SDL."""
    notes: list[str] = []
    text = text.removeprefix("\ufeff")
    try:
        try:
            document = parse(text, no_location=True, max_tokens=_MOST_TOKENS)
        except GraphQLError:
            repaired = _EMPTY_BODY.sub(r"\1", text)
            repaired = _MISSING_AMPERSAND.sub(
                lambda one: "implements " + " & ".join(re.findall(r"\w+", one[1])), repaired
            )
            if repaired == text:
                raise
            document = parse(repaired, no_location=True, max_tokens=_MOST_TOKENS)
            notes.append("it is written in the SDL of before 2018, and was read as current SDL")
        known = _definitions(document, notes)
        schema = build_ast_schema(DocumentNode(definitions=tuple(known)), assume_valid=True, assume_valid_sdl=True)
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
    """Return the schema of an introspection, bare or under `data`. Raises `LoaderError`; `ForeignDescription` for other documents."""
    inner = value.get("data")
    found = inner if isinstance(inner, Mapping) and "__schema" in inner else value
    if not isinstance(found.get("__schema"), Mapping):
        errors = value.get("errors")
        listed = errors if isinstance(errors, list) else []
        raise ForeignDescription(
            f"{name} is not the result of a GraphQL introspection: it has no `__schema`; "
            "give an introspection result or SDL",
            [str(one.get("message"))[:200] for one in listed[:5] if isinstance(one, Mapping)],
            kind=_INVALID,
        )
    kept = {"__schema": found["__schema"]}
    try:
        schema = build_client_schema(kept, assume_valid=True)  # type: ignore[arg-type]
        # Fields are evaluated lazily. This loop evaluates all fields, so that errors appear here.
        for kind in schema.type_map.values():
            for field in getattr(kind, "fields", {}).values():
                getattr(field, "args", None)
    except (GraphQLError, TypeError, KeyError, AttributeError, ValueError) as error:
        raise LoaderError(
            f"{name} is not a whole GraphQL introspection: {_one_line(str(error))}; "
            "have the server answer the full introspection query",
            kind=_INVALID,
        ) from error
    except RecursionError:
        raise LoaderError(f"{name} cannot be read: {_DEEPEST}", kind=_INVALID) from None
    return ReadSchema(schema, kept)


def _definitions(document: DocumentNode, notes: list[str]) -> Iterator[DefinitionNode]:
    """Return the definitions of a schema, repaired: extensions get a base, undefined types a definition, and of repeated definitions the first is kept."""
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
                notes.append(f"the type {one.name.value} is defined more than once; the first counts")
            known.setdefault(one.name.value, one)
        elif isinstance(one, SchemaDefinitionNode):
            roots = roots or one
        else:
            rest.append(one)
    rest = list(_based(rest, known, notes))
    everything = [*known.values(), *rest]
    directives = [one for one in everything if isinstance(one, DirectiveDefinitionNode)]
    types = (one for one in everything if not isinstance(one, DirectiveDefinitionNode))
    missing = sorted(_named(types) - known.keys() - specified_scalar_types.keys())
    if missing:
        raise GraphQLError(f"the type {missing[0]} is used and not defined")
    for name in sorted(_named(directives) - known.keys() - specified_scalar_types.keys()):
        notes.append(f"the type {name} is not defined; it is read as a scalar with unknown values")
        everything.append(ScalarTypeDefinitionNode(name=NameNode(value=name), directives=()))
    if roots is None and any(isinstance(one, SchemaExtensionNode) for one in rest):
        usual = tuple(
            OperationTypeDefinitionNode(
                operation=OperationType(operation), type=NamedTypeNode(name=NameNode(value=name))
            )
            for operation, name in _ROOTS.items()
            if name in known
        )
        roots = SchemaDefinitionNode(operation_types=usual, directives=())
    yield from everything
    if roots is not None:
        yield roots


def _based(
    rest: Iterable[DefinitionNode], known: dict[str, DefinitionNode], notes: list[str]
) -> Iterator[DefinitionNode]:
    """Yield the extensions. The first extension of an undefined type becomes its definition."""
    for one in rest:
        if not isinstance(one, TypeExtensionNode) or one.name.value in known:
            yield one
            continue
        name = one.name.value
        made = getattr(ast, type(one).__name__.replace("Extension", "Definition"))
        known[name] = made(**{key: getattr(one, key, None) for key in made.keys if key != "loc"})
        notes.append(f"the type {name} is extended and not defined; the extension is read as its definition")


def _named(definitions: Iterable[Node]) -> set[str]:
    """Return the names of all types that are referred to."""
    found: set[str] = set()
    todo: list[Any] = list(definitions)
    while todo:
        node = todo.pop()
        if isinstance(node, NamedTypeNode):
            found.add(node.name.value)
        elif isinstance(node, list | tuple):
            todo.extend(node)
        elif isinstance(node, Node):
            todo.extend(getattr(node, key, None) for key in node.keys if key != "loc")
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300].rstrip(".")


_PLAIN: Final = get_introspection_query(input_value_deprecation=False)
# The parameter of `get_introspection_query` for `isOneOf` has different names in graphql-core 3.2 and 3.3.
_QUERIES: Final = (_PLAIN.replace("inputFields", "isOneOf inputFields"), _PLAIN)
_QUESTION, _PLAIN_QUESTION = (json.dumps({"query": one}).encode() for one in _QUERIES)
_UNKNOWN_FIELD: Final = re.compile(r"^HTTP (?:400|422)\b|isOneOf", re.MULTILINE)
"""Text of a refusal by servers without `isOneOf`. The field is younger than most servers."""
_Answer = TypeVar("_Answer", Fetched, Response)
_INVALID: Final = LoaderErrorKind.GRAPHQL_INVALID_SCHEMA
_DOCUMENTS: Final = (".json", ".yaml", ".yml", ".html")  # Ends of URLs that belong to documents, not to endpoints.


def open_source(source: DescriptionSource, options: FetchOptions) -> GraphQLDescription:
    """Return the schema of a source. Raises `LoaderError`; `ForeignDescription` if it is not GraphQL."""
    match source:
        case FileSource(path, encoding):
            data = read_file(path, Web({}, options).allowance, "a GraphQL schema")
            return _opened(_document(_text(data, encoding, source.name), source.name), None)
        case UrlSource():
            path = source.url.partition("?")[0].lower()
            shown = options.redaction.url(source.url)
            is_claimed = GRAPHQL.claims(source.name)
            if not is_claimed and path.endswith(_DOCUMENTS):
                raise ForeignDescription(f"{shown} does not look like the URL of a GraphQL endpoint; give that URL")
            web = Web(source.options, options, location=source.url)
            if path.endswith((".graphql", ".graphqls", ".gql")):
                found = web.get(source.url, wait_s=source.wait_s)
                return _opened(_document(found.content.decode("utf-8", "replace"), shown), None)
            try:
                found = _introspected(lambda question: web.get(source.url, wait_s=source.wait_s, question=question))
            except LoaderError as error:
                if is_claimed:
                    raise
                # The source was first tried as another kind of description, and that error is more useful than a
                # refused introspection.
                raise ForeignDescription.of(error) from error
            return _opened(from_introspection(_answer(found.content, shown), shown), found.location)
        case TextSource(data, name):
            return _opened(_document(_text(data, "utf-8", name), name), None)
        case ValueSource(value):
            return _opened(from_introspection(value, source.name), None)
        case ApplicationSource():
            path = source.path if source.path.startswith("/") else f"/{source.path}"
            headers = [(b"Content-Type", b"application/json"), (b"Accept", b"application/json")]
            answer = _introspected(
                lambda question: source.document(
                    WireRequest("POST", path.encode(), headers, question), "give the path of its GraphQL endpoint"
                )
            )
            return _opened(from_introspection(_answer(answer.content, source.path), source.path), source.url + path)


def open_normalised(data: bytes) -> GraphQLDescription:
    """Return the schema from bytes that `GraphQLDescription.normalised` returned."""
    source, location, base_url = json.loads(data)
    read = from_sdl if isinstance(source, str) else from_introspection
    return GraphQLDescription(read(source, "the schema"), location, base_url)


def _introspected(ask: Callable[[bytes], _Answer]) -> _Answer:
    """Return the response to an introspection with `isOneOf`, or without it if the server does not know that field. Raises `LoaderError`."""
    try:
        found = ask(_QUESTION)
    except LoaderError as error:
        if not _UNKNOWN_FIELD.search("\n".join(error.extras)):
            raise
        return ask(_PLAIN_QUESTION)
    is_refused = b"__schema" not in found.content and b'"errors"' in found.content
    return ask(_PLAIN_QUESTION) if is_refused else found


def _answer(content: bytes, name: str) -> Mapping[str, Any]:
    """Return the JSON object of a server's response. Raises `ForeignDescription`."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ForeignDescription(
            f"{name} does not answer a GraphQL introspection with a JSON object; "
            "give the URL of a GraphQL endpoint, or a file with its schema",
            content[:500].decode("utf-8", "replace").splitlines()[:10],
            kind=_INVALID,
        )
    return value


def _text(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ForeignDescription(f"{name} is not text: {error}; give SDL in UTF-8", kind=_INVALID) from error


def _document(text: str, name: str) -> ReadSchema:
    """SDL, or JSON of an introspection."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return from_sdl(text, name)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ForeignDescription(f"{name} is not JSON: {error}; correct it", kind=_INVALID) from error
    if not isinstance(value, dict):
        raise ForeignDescription(f"{name} is not an introspection: it is a list; give an object", kind=_INVALID)
    return from_introspection(value, name)


def _opened(document: ReadSchema, location: str | None) -> GraphQLDescription:
    return GraphQLDescription(document, location, location)
