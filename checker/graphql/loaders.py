"""GraphQL schemas opened: from SDL or an introspection, in a file, in memory, behind a URL, or in an application."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from graphql import get_introspection_query

from checker.core.errors import ForeignDescription, LoaderError, LoaderErrorKind
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.graphql.documents import ReadSchema, from_introspection, from_sdl
from checker.graphql.schema import GraphQLDescription
from checker.kinds.fetching.fetched import Fetched
from checker.kinds.fetching.files import read_file
from checker.kinds.fetching.web import Web
from checker.kinds.sources import (
    ApplicationSource,
    DescriptionSource,
    FetchOptions,
    FileSource,
    TextSource,
    UrlSource,
    ValueSource,
)

_PLAIN: Final = get_introspection_query(input_value_deprecation=False)
# The parameter of `get_introspection_query` that adds `isOneOf` has one name in graphql-core 3.2 and another one in 3.3.
_QUERIES: Final = (_PLAIN.replace("inputFields", "isOneOf inputFields"), _PLAIN)
_QUESTION, _PLAIN_QUESTION = (json.dumps({"query": one}).encode() for one in _QUERIES)
_UNKNOWN_FIELD: Final = re.compile(r"^HTTP (?:400|422)\b|isOneOf", re.MULTILINE)
"""Text of a refusal that may come from a server without `isOneOf`, which is younger than most servers."""
_Answer = TypeVar("_Answer", Fetched, Response)
_INVALID: Final = LoaderErrorKind.GRAPHQL_INVALID_SCHEMA
_DOCUMENTS: Final = (".json", ".yaml", ".yml", ".html")
"""Ends of URLs that are no endpoints."""


def open_source(
    source: DescriptionSource, options: FetchOptions, *, is_claimed: bool
) -> GraphQLDescription:
    """The schema. Raises `LoaderError`; `ForeignDescription` when there is none of GraphQL."""
    match source:
        case FileSource(path, encoding):
            data = read_file(path, Web({}, options).allowance, "a GraphQL schema")
            return _opened(_document(_text(data, encoding, source.name), source.name), None)
        case UrlSource():
            return _behind(source, options, is_claimed=is_claimed)
        case TextSource(data, name):
            return _opened(_document(_text(data, "utf-8", name), name), None)
        case ValueSource(value):
            return _opened(from_introspection(value, source.name), None)
        case ApplicationSource():
            return _asked(source)


def open_normalised(data: bytes) -> GraphQLDescription:
    """The schema that `GraphQLDescription.normalised` wrote down."""
    source, location, base_url = json.loads(data)
    read = from_sdl if isinstance(source, str) else from_introspection
    return GraphQLDescription(read(source, "the schema"), location, base_url)


def _behind(source: UrlSource, options: FetchOptions, *, is_claimed: bool) -> GraphQLDescription:
    """The schema of an endpoint, or of a file of SDL on a server."""
    path = source.url.partition("?")[0].lower()
    shown = options.redaction.url(source.url)
    if not is_claimed and path.endswith(_DOCUMENTS):
        raise ForeignDescription(f"{shown} is not called as a GraphQL endpoint is; give its URL")
    web = Web(source.options, options, location=source.url)
    if path.endswith((".graphql", ".graphqls", ".gql")):
        found = web.get(source.url, wait_s=source.wait_s)
        return _opened(_document(found.content.decode("utf-8", "replace"), shown), None)
    try:
        found = _introspected(
            lambda question: web.get(source.url, wait_s=source.wait_s, question=question)
        )
    except LoaderError as error:
        if is_claimed:
            raise
        # Another kind was asked first, and what it found says more than how a strange question was refused.
        raise ForeignDescription.of(error) from error
    return _opened(from_introspection(_answer(found.content, shown), shown), found.location)


def _introspected(ask: Callable[[bytes], _Answer]) -> _Answer:
    """Return the answer to an introspection with `isOneOf`, or to one without it if the server does not know that field.

    Raises `LoaderError`.
    """
    try:
        found = ask(_QUESTION)
    except LoaderError as error:
        if not _UNKNOWN_FIELD.search("\n".join(error.extras)):
            raise
        return ask(_PLAIN_QUESTION)
    is_refused = b"__schema" not in found.content and b'"errors"' in found.content
    return ask(_PLAIN_QUESTION) if is_refused else found


def _asked(source: ApplicationSource) -> GraphQLDescription:
    path = source.path if source.path.startswith("/") else f"/{source.path}"
    headers = [(b"Content-Type", b"application/json"), (b"Accept", b"application/json")]
    answer = _introspected(
        lambda question: source.document(
            WireRequest("POST", path.encode(), headers, question),
            "give the path of its GraphQL endpoint",
        )
    )
    value = _answer(answer.content, source.path)
    return _opened(from_introspection(value, source.path), source.url + path)


def _answer(content: bytes, name: str) -> Mapping[str, Any]:
    """What a server said. Raises `ForeignDescription`."""
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
        raise ForeignDescription(
            f"{name} is not text: {error}; give SDL in UTF-8", kind=_INVALID
        ) from error


def _document(text: str, name: str) -> ReadSchema:
    """SDL, or JSON of an introspection."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return from_sdl(text, name)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ForeignDescription(
            f"{name} is not JSON: {error}; correct it", kind=_INVALID
        ) from error
    if not isinstance(value, dict):
        raise ForeignDescription(
            f"{name} is not an introspection: it is a list; give an object", kind=_INVALID
        )
    return from_introspection(value, name)


def _opened(document: ReadSchema, location: str | None) -> GraphQLDescription:
    return GraphQLDescription(document, location, location)
