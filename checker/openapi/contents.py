"""The table of contents of a document: which operations it has, and where. Nothing else is read."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from checker.core.operation import BrokenOperation, Label
from checker.core.schema import UnresolvableReference
from checker.openapi.documents.dialects import Edition
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.operation import Entry
from checker.validation.pointers import pointer_child

_IS_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+").fullmatch
"""RFC 9110, 5.6.2."""


def table_of_contents(
    document: OpenApiDocument, edition: Edition
) -> Iterator[Entry | BrokenOperation]:
    """Operations in document order; what cannot be read stands for itself alone."""
    paths = document.root.get("paths")
    if paths is None:
        return
    if not isinstance(paths, dict):
        yield _broken("*", "", "`paths` must be an object of path items; correct it")
        return
    for path, raw in paths.items():
        if path.startswith("x-") or raw is None:
            continue
        at = pointer_child("#/paths", path)
        found: dict[Label, Entry | BrokenOperation] = {}
        try:
            for item, place in _parts(document, raw, at):
                for entry in _operations(path, item, place, edition):
                    found.setdefault(entry.label, entry)
        except UnresolvableReference as error:
            yield _broken("*", path, str(error))
        yield from found.values()


def _parts(
    document: OpenApiDocument, raw: object, at: str
) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """A path item and, after it, the one that its `$ref` names: what stands beside the reference counts more."""
    seen = set()
    while at not in seen:
        seen.add(at)
        if not isinstance(raw, dict):
            yield None, at
            return
        reference = raw.get("$ref")
        item = {key: value for key, value in raw.items() if key != "$ref"}
        if item or not isinstance(reference, str):
            yield item, at
        if not isinstance(reference, str):
            return
        raw, at = document.resolve(reference, at=at)
    raise UnresolvableReference(f"the path item at {at} leads back to itself; point it at another")


def _operations(
    path: str, item: dict[str, Any] | None, at: str, edition: Edition
) -> Iterator[Entry | BrokenOperation]:
    if item is None:
        yield _broken("*", path, f"the path item at {at} is not an object; correct it")
        return
    for name, definition in item.items():
        if name.lower() in edition.methods:
            yield _operation(name.upper(), path, definition, (item, at), pointer_child(at, name))
    others = item.get("additionalOperations") if edition.has_other_methods else None
    for name, definition in others.items() if isinstance(others, dict) else ():
        pointer = pointer_child(at, "additionalOperations", name)
        yield _operation(name, path, definition, (item, at), pointer)


def _operation(
    method: str,
    path: str,
    definition: object,
    path_item: tuple[Mapping[str, Any], str],
    pointer: str,
) -> Entry | BrokenOperation:
    if not _IS_TOKEN(method):
        return _broken(
            method, path, f"the method `{method}` at {pointer} is not one of HTTP (RFC 9110, 9.1)"
        )
    if not isinstance(definition, dict):
        return _broken(method, path, f"the operation at {pointer} is not an object; correct it")
    return Entry(Label(f"{method} {path}"), method, path, pointer, *path_item, definition)


def _broken(method: str, path: str, error: str) -> BrokenOperation:
    return BrokenOperation(Label(f"{method} {path}".strip()), method, path, error)
