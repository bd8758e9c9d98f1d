"""Every document that a description leads to, found and read before its bytes are written down."""

import re
from collections.abc import Iterator
from urllib.parse import urldefrag, urljoin

from checker.core.schema import UnresolvableReference
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.documents.walking import objects

_REFERENCES = frozenset({"$ref", "operationRef", "$dynamicRef", "externalValue"})
_OUTSIDE = re.compile(rb'"(?:\$ref|operationRef|\$dynamicRef|externalValue)":"(?!#)|"mapping":\{')
_FILE = re.compile(r"^[^#]*[./]")
"""Values of `discriminator.mapping` that are not the name of a component."""


def leads_outside(written: bytes) -> bool:
    """False when the JSON text of a document, without blanks, surely refers to itself only."""
    return _OUTSIDE.search(written) is not None


def load_all(document: OpenApiDocument) -> None:
    """Read every document that can be reached; what cannot be read is remembered with the reason."""
    seen: set[tuple[str, str]] = set()
    todo = [("", "")]
    while todo:
        name, of = todo.pop()
        if (name, of) in seen:
            continue
        seen.add((name, of))
        neighbours = document.neighbours
        try:
            root = neighbours.load(name, of=of)
        except UnresolvableReference:
            continue
        for reference, place in _references(root, f"{name}#"):
            try:
                uri = urldefrag(urljoin(document.uri_of(place), reference)).url
                if not document.is_inside(uri):
                    todo.append((neighbours.name_of(uri), name))
            except ValueError:
                continue


def _references(root: object, home: str) -> Iterator[tuple[str, str]]:
    """References out of a document, each with the place where it stands."""
    for value, at in objects(root, home):
        is_mapping = at.endswith("/mapping")
        for key, item in value.items():
            if isinstance(item, str) and not item.startswith("#"):
                is_mapped = is_mapping and _FILE.match(item)
                if key in _REFERENCES or is_mapped:
                    yield item, at
