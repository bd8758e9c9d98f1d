"""Names inside JSON Schemas: the places that `$id`, `$anchor` and `$dynamicAnchor` name, and the targets of references.

A place is a string: `#/$defs/a` in the document itself, `http://example.com/tree#/$defs/a` in another document.
`Scopes` is the index.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard
from urllib.parse import unquote, urldefrag, urljoin

from msgspec import Struct, field

from checker.core.schema import Dialect, Document, pointer_child, walked
from checker.core.system import later
from checker.schema.keywords import DEFINITIONS, standard_dialect, subschemas

if TYPE_CHECKING:
    import jsonschema_specifications as specifications
else:
    # Few schemas refer to a metaschema, and importing their readers takes a tenth of the time of a test collection.
    specifications = later("jsonschema_specifications", by_all=False)

_RECURSIVE: Final = ""  # The name that stands for `$recursiveAnchor`, because no `$dynamicAnchor` is empty.
HAS_SIBLINGS: Final = frozenset({Dialect.DRAFT2019, Dialect.DRAFT2020, Dialect.OPENAPI31})
"""Dialects in which siblings of `$ref` count."""
_BEFORE_2019 = frozenset({Dialect.DRAFT4, Dialect.DRAFT6, Dialect.DRAFT7})


class Resource(Struct):
    """A schema with a URI of its own, and the names that it gives."""

    uri: str
    place: str  # Place of its root.
    raw: object
    dialect: Dialect
    anchors: dict[str, str] = field(default_factory=dict)  # Name -> place.
    dynamic: dict[str, str] = field(default_factory=dict)
    """Name for dynamic references -> place; the empty name is that of `$recursiveAnchor`."""
    home: "Resource | None" = None
    """The resource around a schema with a dialect of its own but without a URI: names and pointers are relative to that resource."""


Found = tuple[object, str]  # A value and its place.


class Scoped(Protocol):
    """A document whose schemas may have URIs."""

    def resource(self, place: str) -> Resource:
        """Return the nearest resource around a place."""
        ...

    @property
    def has_scopes(self) -> bool:
        """Whether schemas of this document can have URIs and dialects of their own."""
        ...

    @property
    def has_dynamic(self) -> bool:
        """Whether a schema has a dynamic reference. Only then does the way to a place matter."""
        ...

    @property
    def dialects(self) -> frozenset[Dialect]:
        """Dialects of the schemas seen so far."""
        ...

    def resolve(self, reference: str, *, at: str) -> Found:
        """Return the target of a reference and its place. Raises `UnresolvableReference`."""
        ...

    def at(self, place: str) -> object:
        """Return the schema at a place that was the result of an earlier lookup."""
        ...


Scope = tuple[tuple[str, str], ...]
"""Dynamic anchors on the way to a place: name and place of the outermost, sorted by name."""


def is_scoped(document: object) -> TypeGuard[Scoped]:
    """Whether schemas of a document can have URIs and dialects of their own."""
    # `isinstance` of a protocol takes 20 us, a third of the time of compiling.
    return getattr(document, "has_scopes", False)


def entered(document: object, scope: Scope, place: str) -> Scope:
    """Return the scope after entering a place."""
    if not is_scoped(document) or not document.has_dynamic:
        return scope
    new = document.resource(place).dynamic
    if not new:
        return scope
    return tuple(sorted({**new, **dict(scope)}.items()))


def dialect_at(document: object, place: str, usual: Dialect) -> Dialect:
    """Return the dialect of the schema at a place."""
    return document.resource(place).dialect if is_scoped(document) else usual


def resolve_dynamic(document: Document, raw: dict[str, Any], at: str, scope: Scope) -> Found | None:
    """Return the target of a `$dynamicRef` or `$recursiveRef` in this scope; None if the schema has none. Raises `UnresolvableReference`."""
    keyword = "$dynamicRef" if isinstance(raw.get("$dynamicRef"), str) else "$recursiveRef"
    reference = raw.get(keyword)
    if not isinstance(reference, str) or not is_scoped(document):
        return None
    value, place = document.resolve(reference, at=at)
    # The outermost resource with that anchor wins, but only if the lexical target is a dynamic anchor itself (2020-12, 8.2.3.2).
    name = _RECURSIVE if keyword == "$recursiveRef" else unquote(reference.partition("#")[2])
    if document.resource(place).dynamic.get(name) != place:
        return value, place
    outermost = dict(scope).get(name, place)
    return document.at(outermost), outermost


class Scopes:
    """Resources of one document and of the documents beside it."""

    def __init__(self, others: Mapping[str, object] | None = None) -> None:
        self._others = others or {}
        self._by_uri: dict[str, Resource] = {}
        self._by_place: dict[str, Resource] = {}
        self._lengths: set[int] = set()
        """Lengths of the places of resources."""
        self.has_dynamic = False
        """Whether any schema seen so far has a dynamic anchor."""
        self.dialects: frozenset[Dialect] = frozenset()
        """Dialects of all schemas seen so far."""

    def add(self, raw: object, *, uri: str, place: str, dialect: Dialect, has_names: bool = True) -> None:
        """Index a tree of schemas. `uri` is its base before its own `$id` is read.

        Without `has_names` only the document itself can be found: its `$id`, `$anchor` and `$schema` mean nothing.
        """
        resource = Resource(uri, place, raw, dialect)
        self._enter(resource, has_names=has_names)
        self._by_uri.setdefault(uri, resource)
        if has_names:
            self._index(raw, place, resource)

    def include(self, raw: object, place: str) -> None:
        """Index a tree of schemas inside a known resource."""
        around = self.resource(place)
        if around is not None:
            self._index(raw, place, around)

    def contents_of(self, uri: str) -> object | None:
        """Return the resource of a URI; None if there is none."""
        found = self._by_uri.get(uri)
        return self._document(uri) if found is None else found.raw

    def _index(self, raw: object, place: str, around: Resource) -> None:
        todo: list[tuple[object, str, Resource]] = [(raw, place, around)]
        while todo:
            schema, at, around = todo.pop()
            if not isinstance(schema, dict):
                continue
            around = self._identified(schema, at, around)
            for tokens, inner in subschemas(schema, around.dialect, kept=DEFINITIONS):
                todo.append((inner, pointer_child(at, *tokens), around))

    def _enter(self, resource: Resource, *, has_names: bool = True) -> None:
        self._by_place[resource.place] = resource
        self._lengths.add(len(resource.place))
        said = resource.raw.get("$schema") if has_names and isinstance(resource.raw, dict) else None
        if isinstance(said, str):
            resource.dialect = standard_dialect(said) or resource.dialect
        self.dialects |= {resource.dialect}

    def _identified(self, schema: dict[str, Any], at: str, around: Resource) -> Resource:
        """Return the resource that a schema belongs to: its own if it has a URI."""
        if isinstance(schema.get("$schema"), str) and at != around.place:
            # The schema has its own dialect, but its names belong to the resource around it.
            home = around.home or around
            around = Resource(home.uri, at, schema, around.dialect, home.anchors, home.dynamic, home)
            self._enter(around)
        is_old = around.dialect in _BEFORE_2019
        # Before 2019-09 a `$id` beside `$ref` is ignored like all its siblings.
        if is_old and isinstance(schema.get("$ref"), str):
            return around
        name = schema.get("id" if around.dialect is Dialect.DRAFT4 else "$id")
        if isinstance(name, str) and name not in ("", "#"):
            # A `$id` that is not a URI names nothing.
            with suppress(ValueError):
                uri, anchor = urldefrag(urljoin(around.uri, name))
                if not name.startswith("#"):
                    if around.place == at and around.home is None:
                        around.uri = uri
                    else:
                        around = Resource(uri, at, schema, around.dialect)
                        self._enter(around)
                    self._by_uri[uri] = around
                if anchor and (is_old or name.startswith("#")):
                    around.anchors[unquote(anchor)] = at
        if not is_old:
            for keyword in ("$anchor", "$dynamicAnchor"):
                named = schema.get(keyword)
                if isinstance(named, str):
                    around.anchors[named] = at
                    if keyword == "$dynamicAnchor":
                        around.dynamic[named] = at
                        self.has_dynamic = True
            if schema.get("$recursiveAnchor") is True and at == around.place:
                around.dynamic[_RECURSIVE] = at
                self.has_dynamic = True
        return around

    def resource(self, place: str) -> Resource | None:
        """Return the nearest resource around a place."""
        fragment = place.find("#")
        end = len(place)
        while end >= 0:
            # A pointer may have 100,000 steps, so only prefixes as long as a known place are made and hashed.
            if end in self._lengths and (found := self._by_place.get(place[:end])) is not None:
                return found
            end = -1 if fragment < 0 else place.rfind("/", fragment, end)
        return None

    def find(self, reference: str, around: Resource) -> tuple[Resource, str] | None:
        """Return the resource and the decoded fragment of a reference; None for an unknown URI."""
        if reference.startswith("#") or not reference:
            return around.home or around, unquote(reference[1:])
        uri, fragment = urldefrag(urljoin(around.uri, reference))
        if uri not in self._by_uri:
            raw = self._document(uri)
            if raw is None:
                return None
            self.add(raw, uri=uri, place=f"{uri}#", dialect=around.dialect)
        return self._by_uri[uri], unquote(fragment)

    def _document(self, uri: str) -> object | None:
        if uri in self._others:
            return self._others[uri]
        contents: Any = specifications.REGISTRY.get(uri)
        return None if contents is None else contents.contents

    def target(self, reference: str, around: Resource) -> str | None:
        """Return the place of the target of a reference, anchors looked up; None if there is no such name."""
        found = self.find(reference, around)
        if found is None:
            return None
        resource, fragment = found
        if not fragment:
            return resource.place
        if fragment.startswith("/"):
            return resource.place + fragment.replace("%", "%25")
        return resource.anchors.get(fragment)

    def at(self, place: str) -> tuple[bool, object]:
        """Return (True, value) at a place, or (False, None)."""
        resource = self.resource(place)
        if resource is None:
            return False, None
        return walked(resource.raw, place[len(resource.place) :])
