"""References as the second opinion follows them: every document under its URI, names in schemas found by `referencing`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol, runtime_checkable
from urllib.parse import urlsplit

import referencing.jsonschema
from jsonschema_specifications import REGISTRY
from referencing import Anchor, Registry, Resource, Specification

from checker.core.schema import Dialect, Schema
from checker.validation.vocabularies import standard_dialect

_NOWHERE = "http://document.invalid/root"
_STANDARD: Final[dict[Dialect, Specification[Any]]] = {
    Dialect.DRAFT4: referencing.jsonschema.DRAFT4,
    Dialect.DRAFT6: referencing.jsonschema.DRAFT6,
    Dialect.DRAFT7: referencing.jsonschema.DRAFT7,
    Dialect.DRAFT2019: referencing.jsonschema.DRAFT201909,
    Dialect.DRAFT2020: referencing.jsonschema.DRAFT202012,
}
_SPOKEN: Final[dict[int, tuple[object, Mapping[int, Dialect]]]] = {}
_OPEN_DOCUMENTS = 8
_NEWEST = referencing.jsonschema.DRAFT202012


@runtime_checkable
class Linked(Protocol):
    """A document whose references may lead to others."""

    @property
    def has_names(self) -> bool:
        """True when `$id`, `$anchor` and their kin count and some schema has one."""
        ...

    def uri_of(self, place: str) -> str:
        """Absolute URI that references at a place are resolved against."""
        ...

    def contents_of(self, uri: str) -> object | None:
        """The document of a URI; None when there is none."""
        ...


def is_own_root(schema: Schema) -> bool:
    """True for a JSON Schema that is a whole document, whose names `referencing` knows how to read."""
    return schema.dialect in _STANDARD and schema.pointer == "#"


def registry_of(schema: Schema) -> tuple[Any, str]:
    """Registry in which the references of a schema are looked up, and the URI that they are relative to."""
    document = schema.document
    linked = document if isinstance(document, Linked) else None
    base = _NOWHERE if linked is None else linked.uri_of(schema.pointer) or _NOWHERE
    specification = _specification(schema, has_names=linked is not None and linked.has_names)

    def retrieve(uri: str) -> Any:
        contents = None if linked is None else linked.contents_of(uri)
        if contents is None:
            return REGISTRY[uri]
        if specification is Specification.OPAQUE:
            return specification.create_resource(contents)
        return Resource.from_contents(contents, default_specification=specification)

    # The registry makes its own error of a `LookupError`.
    registry: Any = Registry
    home = _NOWHERE if linked is None else linked.uri_of("#") or _NOWHERE
    root = specification.create_resource(document.root)
    return registry(retrieve=retrieve).with_resource(home, root), base


def _specification(schema: Schema, *, has_names: bool) -> Specification[Any]:
    # Before OpenAPI 3.1 a document is opaque: names in it are no business of JSON Schema.
    usual = _DESCRIPTION if has_names else Specification.OPAQUE
    return usual if schema.dialect is Dialect.OPENAPI31 else _STANDARD.get(schema.dialect, usual)


def spoken_in(schema: Schema) -> Mapping[int, Dialect] | None:
    """Dialects by the identity of the objects around which a `$schema` says them, in a description of OpenAPI 3.1 and later.

    None where `$schema` says nothing, or stands in a JSON Schema that is a whole document.
    """
    document, root = schema.document, schema.document.root
    is_old = schema.dialect in (Dialect.OPENAPI20, Dialect.OPENAPI30)
    if is_old or not isinstance(root, dict) or "openapi" not in root:
        return None
    if isinstance(document, Linked) and document.uri_of(schema.pointer) and not document.has_names:
        return {}
    known = _SPOKEN.get(id(root))
    # The root is kept alive, so that no other one can have the same id.
    if known is None or known[0] is not root:
        if len(_SPOKEN) >= _OPEN_DOCUMENTS:
            del _SPOKEN[next(iter(_SPOKEN))]
        known = _SPOKEN[id(root)] = (root, dict(_spoken(root)))
    return known[1]


def _spoken(root: object) -> Iterator[tuple[int, Dialect]]:
    todo: list[tuple[object, Dialect | None]] = [(root, None)]
    while todo:
        value, dialect = todo.pop()
        if isinstance(value, dict):
            said = value.get("$schema")
            dialect = (standard_dialect(said) if isinstance(said, str) else None) or dialect
            if dialect is not None:
                yield id(value), dialect
        inside = value.values() if isinstance(value, dict) else value
        if isinstance(inside, Iterable):
            todo += [(item, dialect) for item in inside if isinstance(item, dict | list)]


def id_of(contents: Any) -> str | None:
    """URI that a schema has by its `$id`; None when it has none that is a URI."""
    name = contents.get("$id") if isinstance(contents, dict) else None
    try:
        urlsplit(name if isinstance(name, str) else "")
    except ValueError:
        return None
    return name if isinstance(name, str) and not name.startswith("#") else None


_anchor: Any = Anchor


def _anchors_in(specification: Any, contents: Any) -> Iterable[Any]:
    if not isinstance(contents, dict):
        return
    names = ("$anchor", "$dynamicAnchor")
    sound = {
        key: value for key, value in contents.items() if key not in names or isinstance(value, str)
    }
    yield from _NEWEST.anchors_in(sound)
    name = contents.get("$id")
    if isinstance(name, str) and name.startswith("#") and len(name) > 1:
        yield _anchor(name=name[1:], resource=_DESCRIPTION.create_resource(contents))


def _inside(contents: Any) -> Iterable[Any]:
    values = contents.values() if isinstance(contents, dict) else contents
    return (value for value in values if isinstance(value, dict | list))


def _entered(segments: Any, resolver: Any, subresource: Any) -> Any:
    return resolver.in_subresource(subresource)


_described: Any = Specification
_DESCRIPTION: Final[Specification[Any]] = _described(
    name="API description",
    id_of=id_of,
    subresources_of=_inside,
    maybe_in_subresource=_entered,
    anchors_in=_anchors_in,
)
"""Anything in it may be a schema."""
