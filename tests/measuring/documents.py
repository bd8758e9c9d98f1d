"""Documents of plain JSON Schemas."""

from collections.abc import Mapping
from typing import Any

from checker.core.schema import Dialect, UnresolvableReference
from checker.schema.scopes import Found, Resource, Scopes


class JsonDocument:
    """A document of plain JSON Schemas, and the documents beside it."""

    has_scopes = True

    def __init__(
        self, root: object, dialect: Dialect, *, uri: str = "", others: Mapping[str, object] | None = None
    ) -> None:
        self.root = root
        self.uri = uri
        self.others: Mapping[str, object] = others or {}
        self._scopes = Scopes(self.others)
        self._scopes.add(root, uri=uri, place="#", dialect=dialect)
        self._found: dict[tuple[str, str], Found] = {}
        self.facts: dict[object, Any] = {}

    @property
    def has_dynamic(self) -> bool:
        """False when no schema refers dynamically."""
        return self._scopes.has_dynamic

    @property
    def dialects(self) -> frozenset[Dialect]:
        """Dialects that schemas seen until now are written in."""
        return self._scopes.dialects

    def resource(self, place: str) -> Resource:
        """The nearest resource around a place."""
        found = self._scopes.resource(place)
        return found or self._root_resource()

    def at(self, place: str) -> object:
        """What stands at a place; None where nothing does."""
        return self._scopes.at(place)[1]

    @property
    def has_names(self) -> bool:
        """True: schemas may have URIs."""
        return True

    def uri_of(self, place: str) -> str:
        """URI of the document that a place is in; empty for one without."""
        return place.partition("#")[0]

    def contents_of(self, uri: str) -> object | None:
        """The document of a URI; None when there is none."""
        return self.others.get(uri)

    def _root_resource(self) -> Resource:
        found = self._scopes.resource("#")
        assert found is not None
        return found

    def resolve(self, reference: str, *, at: str) -> Found:
        """Target value and its place, one hop. Raises `UnresolvableReference`."""
        around = self.resource(at)
        key = (around.place, reference)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._resolved(reference, at, around)
        return found

    def _resolved(self, reference: str, at: str, around: Resource) -> Found:
        place = self._scopes.target(reference, around)
        if place is not None:
            found, value = self._scopes.at(place)
            if found:
                return value, place
        raise UnresolvableReference(f"`{reference}` at {at} points at nothing")
