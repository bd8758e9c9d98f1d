"""Schemas of OpenAPI 3.1 and later: `$id`, `$anchor` and `$dynamicAnchor` inside an API description."""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from checker.core.schema import Dialect, UnresolvableReference
from checker.openapi.documents.neighbours import Neighbours
from checker.openapi.documents.parsing import to_json
from checker.openapi.documents.walking import lost, objects, walk
from checker.validation.pointers import pointer_child, walked
from checker.validation.scopes import Found, Resource, Scoped, Scopes

_NAMES = re.compile(rb'"\$(?:id|schema|anchor|dynamicAnchor)":')
_SCHEMAS: Final = frozenset({"schema", "itemSchema"})
"""Keys of OpenAPI objects under which a schema stands."""
_DATA: Final = frozenset({"example", "examples", "default", "enum", "const", "value"})
_COMPONENTS: Final = "#/components"


class NamedSchemas(Scoped):
    """The document as its schemas see it: implements `checker.validation.scopes.Scoped`."""

    __slots__ = ("_dialect", "_found", "_neighbours", "_opened", "_scopes", "has_names", "root")

    def __init__(self, root: dict[str, Any], dialect: Dialect, neighbours: Neighbours) -> None:
        self.root = root
        self.has_names = False
        """True when a schema seen until now has a name."""
        self._dialect = dialect
        self._neighbours = neighbours
        self._scopes = Scopes()
        self._opened: set[str] = set()
        self._found: dict[tuple[str, str], Found] = {}

    @property
    def has_dynamic(self) -> bool:
        """False when no schema has a dynamic anchor."""
        return self._scopes.has_dynamic

    @property
    def dialects(self) -> frozenset[Dialect]:
        """Dialects that schemas seen until now are written in."""
        return self._scopes.dialects

    def resource(self, place: str) -> Resource:
        """The nearest resource around a place."""
        name = place.partition("#")[0]
        self._open(name)
        found = self._scopes.resource(place if self.has_names else f"{name}#")
        assert found is not None
        return found

    def at(self, place: str) -> object:
        """What stands at a place; None where nothing does."""
        return self._scopes.at(place)[1]

    def resolve(self, reference: str, *, at: str) -> Found:
        """Target value and its place, one hop. Raises `UnresolvableReference`."""
        around = self.resource(at)
        key = (around.place, reference)
        found = self._found.get(key)
        if found is None:
            try:
                found = self._found[key] = self._resolved(reference, around)
            except UnresolvableReference as error:
                raise lost(reference, at, self.root, error) from None
        return found

    def uri_of(self, place: str) -> str:
        """Absolute URI that references at a place are resolved against."""
        return self.resource(place).uri

    def knows(self, uri: str) -> bool:
        """True when a schema seen until now, or a standard metaschema, has the URI."""
        return self._scopes.knows(uri)

    def contents_of(self, uri: str) -> object | None:
        """The document or schema of a URI; None when there is none."""
        if uri in (self._neighbours.uri, ""):
            return self.root
        found = self._scopes.contents_of(uri)
        return self._neighbours.contents_of(uri) if found is None else found

    def _resolved(self, reference: str, around: Resource) -> Found:
        if reference and not reference.startswith("#"):
            try:
                uri = urldefrag(urljoin(around.uri, reference)).url
                if not self.knows(uri):
                    owner = around.place.partition("#")[0]
                    self._open(self._neighbours.name_of(uri), of=owner)
            except ValueError as error:
                raise UnresolvableReference(f"it is no URI ({error}); correct it") from None
        if around.home is not None and reference.startswith("#"):
            inner = _inside(reference, around, around.home)
            if inner is not None:
                return inner
        place = self._scopes.target(reference, around)
        if place is None:
            raise UnresolvableReference(
                "no schema has that name; add an `$anchor` or use a pointer"
            )
        found, value = self._scopes.at(place)
        if found:
            return value, place
        home = self._scopes.resource(place)
        assert home is not None
        # Says which step of the way is missing.
        return walk(home.raw, home.place, unquote(place[len(home.place) :]))

    def _open(self, name: str, *, of: str = "") -> None:
        """Index a document that another one refers to. Raises `UnresolvableReference`."""
        if name in self._opened:
            return
        root = self._neighbours.load(name, of=of)
        self._opened.add(name)
        home = f"{name}#"
        uri = self._neighbours.uri_of(name)
        self._scopes.add(root, uri=uri, place=home, dialect=self._dialect)
        if _NAMES.search(to_json(root)):
            self.has_names = True
            for schema, place in _schemas(root, home):
                self._scopes.include(schema, place)


def _inside(reference: str, around: Resource, home: Resource) -> Found | None:
    """What a reference means in a schema that says its dialect and was written to stand alone; None for what is elsewhere.

    A description is no schema: nobody means all of it, and a pointer that leads nowhere in it was not made for it.
    """
    path = unquote(reference[1:])
    is_description = isinstance(home.raw, dict) and "openapi" in home.raw
    if not is_description or (path and (path[0] != "/" or walked(home.raw, path)[0])):
        return None
    found, value = walked(around.raw, path)
    return (value, around.place + path.replace("%", "%25")) if found else None


def _schemas(root: object, home: str) -> Iterator[Found]:
    """Schemas of an API description, with their places; what is inside them is left to others."""
    for value, at in objects(root, home, _is_left):
        yield from ((value[key], pointer_child(at, key)) for key in value if key in _SCHEMAS)
        named = value.get("schemas") if at.endswith(_COMPONENTS) else None
        if isinstance(named, dict):
            place = pointer_child(at, "schemas")
            yield from ((one, pointer_child(place, name)) for name, one in named.items())


def _is_left(key: str, at: str) -> bool:
    """Whether nothing below a key of an object is an object of OpenAPI."""
    is_named = key == "schemas" and at.endswith(_COMPONENTS)
    return key in _SCHEMAS or key in _DATA or key.startswith("x-") or is_named
