"""Loaders of OpenAPI documents: from a dictionary, a file, a URL, or bytes."""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

from checker.core.errors import ForeignDescription, LoaderError, LoaderErrorKind
from checker.core.hooks import GLOBAL_HOOKS, HookContext, run_hooks
from checker.core.request import WireRequest
from checker.kinds.fetching import read_file
from checker.kinds.sources import (
    DIRECT,
    ApplicationSource,
    DescriptionSource,
    FetchOptions,
    FileSource,
    TextSource,
    UrlSource,
    ValueSource,
)
from checker.kinds.web import Web
from checker.openapi.documents.dialects import kind_of, read_as
from checker.openapi.documents.neighbours import Provenance, reader
from checker.openapi.documents.parsing import as_parsed, parse
from checker.openapi.schema import OpenApiSchema, open_normalised

__all__ = ["from_bytes", "from_dict", "from_path", "from_url", "open_normalised"]

_VERSION_KEYS = frozenset(("openapi", "swagger"))


def from_dict(schema: Mapping[str, Any], *, base_url: str | None = None, way: FetchOptions = DIRECT) -> OpenApiSchema:
    """Return the schema of a parsed document; its references are absolute URLs, also for files. Raises `LoaderError`."""
    name = "the schema"
    notes: list[str] = []
    origin = Provenance(read=reader(Web({}, way), name, notes), notes=notes)
    return _opened(as_parsed(schema), name, origin, way, base_url)


def from_path(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", base_url: str | None = None, way: FetchOptions = DIRECT
) -> OpenApiSchema:
    """Return the schema of a JSON or YAML file, and of the files and URLs that it refers to. Raises `LoaderError`."""
    web = Web({}, way)
    data = read_file(path, web.allowance)
    name = os.fspath(path)
    notes: list[str] = []
    value = _parsed(data, name, f"text/plain; charset={encoding}", notes)
    read = reader(web, name, notes, folder=Path(path).parent)
    return _opened(value, name, Provenance(own_name=quote(Path(path).name), read=read, notes=notes), way, base_url)


def from_bytes(
    data: bytes, *, name: str, content_type: str | None = None, location: str | None = None, way: FetchOptions = DIRECT
) -> OpenApiSchema:
    """Return the schema of a document in memory; `name` denotes it in errors, `location` is its URL. Raises `LoaderError`."""
    notes: list[str] = []
    value = _parsed(data, name, content_type, notes)
    read = reader(Web({}, way), name, notes, reads_files=location is None)
    return _opened(value, name, Provenance(location, read=read, notes=notes), way, None)


def from_url(
    url: str,
    *,
    wait_for_schema: float | None = None,
    base_url: str | None = None,
    way: FetchOptions = DIRECT,
    **options: Any,
) -> OpenApiSchema:
    """Return the schema behind a URL.

    `wait_for_schema` is the longest time to wait for it, in seconds. Options are those of `httpx.get`: `headers`,
    `timeout`, `auth`, `params`, `cookies`. Raises `LoaderError`.
    """
    web = Web(options, way, location=url)
    found, name = web.get(url, wait_s=wait_for_schema), way.redaction.url(url)
    notes: list[str] = []
    value = _parsed(found.content, name, found.content_type, notes)
    read = reader(web, name, notes, url=found.location)
    origin = Provenance(found.location, read=read, notes=notes)
    schema = _opened(value, name, origin, way, base_url)
    web.declared_api = lambda: schema.base_url
    return schema


def _parsed(data: bytes, name: str, content_type: str | None, notes: list[str]) -> object:
    try:
        return parse(data, name=name, content_type=content_type, notes=notes)
    except LoaderError as error:
        raise ForeignDescription.of(error) from error


def _opened(value: object, name: str, origin: Provenance, way: FetchOptions, base_url: str | None) -> OpenApiSchema:
    if not isinstance(value, Mapping):
        raise ForeignDescription(
            f"{name} is not an API description: an object was expected, {kind_of(value)} was found; give an OpenAPI document",
            kind=LoaderErrorKind.OPEN_API_INVALID_SCHEMA,
        )
    root = value if isinstance(value, dict) else dict(value)
    if way.version is not None:
        root = read_as(root, way.version)
    run_hooks(GLOBAL_HOOKS.named("before_load_schema"), "before_load_schema", HookContext(), root)
    try:
        if way.limits.validate:
            # Imports a second validator.
            import_module("checker.openapi.documents.conformance").require_conformance(root)
        return OpenApiSchema(root, origin, base_url=base_url)
    except LoaderError as error:
        error.extras.append(f"Document: {name}")
        if root.keys() & _VERSION_KEYS:
            raise
        raise ForeignDescription.of(error) from error


def open_source(source: DescriptionSource, options: FetchOptions) -> OpenApiSchema:
    """Return the schema of a source. Raises `LoaderError`."""
    match source:
        case FileSource(path, encoding):
            return from_path(path, encoding=encoding, way=options)
        case UrlSource(url, wait_s, more):
            return from_url(url, wait_for_schema=wait_s, way=options, **more)
        case TextSource(data, name):
            return from_bytes(data, name=name, way=options)
        case ValueSource(value):
            return from_dict(value, way=options)
        case ApplicationSource():
            path = source.path if source.path.startswith("/") else f"/{source.path}"
            answer = source.document(WireRequest("GET", path.encode(), []), "give the path of its API description")
            return from_bytes(
                answer.content,
                name=source.path,
                content_type=answer.content_type,
                location=source.url + path,
                way=options,
            )
