"""A parsed OpenAPI document with its neighbours, and the targets of its references.

Since 3.1 schemas can have names of their own: `$id`, `$anchor` and `$dynamicAnchor`.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from checker.core.operation import Parameter
from checker.core.schema import Dialect, Schema, UnresolvableReference, pointer_child, tokens_of, walked
from checker.openapi.documents.dialects import elements, items_of, members, schema_dialect_of
from checker.openapi.documents.neighbours import Neighbours
from checker.openapi.documents.parsing import to_json
from checker.schema.keywords import applicators_of, subschemas
from checker.schema.scopes import Found, Resource, Scopes, dialect_at

_NOWHERE = "points at nothing"
_NO_POINTER = "it is not a JSON pointer; write it as `#/components/...`"
_NO_ANCHOR = "no schema has that name; add an `$anchor` or use a pointer"


def walk(root: object, at: str, fragment: str, follow: Callable[[object, str], Found] | None = None) -> Found:
    """Return the target of a decoded fragment below `root`, whose pointer is `at`; `follow` dereferences objects on the way.

    Raises `UnresolvableReference` with only the reason as its message.
    """
    if fragment and not fragment.startswith("/"):
        raise UnresolvableReference(_NO_POINTER)
    value = root
    for token in tokens_of(fragment):
        if follow is not None and isinstance(value, dict) and token not in value:
            # By RFC 6901, 4, such a pointer leads nowhere, but authors mean the target of the reference.
            value, at = follow(value, at)
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            near = get_close_matches(token, [name for name, _ in items_of(value)], n=1)
            advice = f"did you mean `{near[0]}`?" if near else f"there is no `{token}`; add it"
            raise UnresolvableReference(advice)
        at = pointer_child(at, token)
    return value, at


def objects(root: object, at: str, is_left: Callable[[str, object, str], bool]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every object in a value, with its place; objects below a key for which `is_left` is true are left out."""
    todo: list[Found] = [(root, at)]
    while todo:
        value, at = todo.pop()
        if isinstance(value, list):
            todo += [(one, f"{at}/{index}") for index, one in enumerate(value) if isinstance(one, (dict, list))]
        elif isinstance(value, dict):
            yield value, at
            for key, item in value.items():
                # A tuple of classes takes a third of the time of a union.
                if isinstance(item, (dict, list)) and not is_left(key, item, at):
                    todo.append((item, pointer_child(at, key)))


def circle_in(edges: Mapping[str, Sequence[str]]) -> str | None:
    """Return a place that lies on a circle; None if there is no circle."""
    seen: set[str] = set()
    for start in edges:
        way = {start: iter(edges[start])} if start not in seen else {}
        while way:
            place, ahead = next(reversed(way.items()))
            following = next(ahead, None)
            if following in way:
                return following
            if following is None:
                seen.add(place)
                del way[place]
            elif following in edges and following not in seen:
                way[following] = iter(edges[following])
    return None


def lost(reference: str, at: str, root: object, reason: object) -> UnresolvableReference:
    """Return the error for a reference: its place, the reason, and the nearest existing name."""
    said = str(reason)
    if "did you mean" not in said:
        name = reference.rpartition("/")[2].rpartition("#")[2]
        places = {found: place for found, _, place in members(root, "#", "definitions")}
        for _, group, home in members(root, "#", "components"):
            places |= {found: pointer_child(home, found) for found, _ in items_of(group)}
        if near := get_close_matches(name, places, n=1, cutoff=0.8) if name else []:
            said = f"{said.partition(';')[0]}; did you mean `{places[near[0]]}`?"
    return UnresolvableReference(f"`{reference}` at {at} {_NOWHERE}: {said}")


def is_lost(sentence: str) -> bool:
    """Whether an error message contains the message of an error that `lost` returned."""
    return _NOWHERE in sentence


_NAMES = re.compile(rb'"\$(?:id|schema|anchor|dynamicAnchor)":')
_SCHEMAS: Final = frozenset({"schema", "itemSchema"})  # Keys of OpenAPI objects that hold a schema.
_DATA: Final = frozenset({"example", "default", "enum", "const", "value"})
_MAPS: Final = frozenset(
    ["callbacks", "content", "definitions", "$defs", "dependentSchemas", "encoding", "examples", "headers", "links", "mapping",
     "parameters", "pathItems", "patternProperties", "properties", "requestBodies", "responses", "schemas", "securitySchemes"]
)  # fmt: skip
"""Keys of objects whose own keys are chosen by the author."""
_COMPONENTS: Final = "#/components"


def _inside(reference: str, around: Resource, home: Resource) -> Found | None:
    """Return the target of a reference inside a self-contained schema that declares its dialect; None if the target is elsewhere.

    In a description, `#` never means the whole document. A pointer without a target in the description is resolved in
    the schema.
    """
    path = unquote(reference[1:])
    is_description = isinstance(home.raw, dict) and "openapi" in home.raw
    if not is_description or (path and (path[0] != "/" or walked(home.raw, path)[0])):
        return None
    found, value = walked(around.raw, path)
    return (value, around.place + path.replace("%", "%25")) if found else None


def _schemas(root: object, home: str) -> Iterator[Found]:
    """Yield the outermost schemas of an API description, with their places."""
    for value, at in objects(root, home, _is_left):
        yield from ((value[key], pointer_child(at, key)) for key in value if key in _SCHEMAS)
        named = value.get("schemas") if at.endswith(_COMPONENTS) else None
        if isinstance(named, dict):
            place = pointer_child(at, "schemas")
            yield from ((one, pointer_child(place, name)) for name, one in named.items())


def _is_left(key: str, value: object, at: str) -> bool:
    """Whether everything below a key is schemas, extensions or data."""
    is_named = key == "schemas" and at.endswith(_COMPONENTS)
    return key in _SCHEMAS or is_named or is_data(key, value, at)


def is_data(key: str, value: object, at: str) -> bool:
    """Whether a key holds an extension or an example, in which `$ref` is no reference of the description."""
    holds_data = key in _DATA or key.startswith("x-") or (key == "examples" and isinstance(value, list))
    return holds_data and at.rpartition("/")[2] not in _MAPS


class OpenApiDocument:
    """The document of one API description: implements `checker.schema.scopes.Scoped` and resolves every reference in it.

    Before OpenAPI 3.1 schemas have no names: only pointers and documents are looked up.
    """

    def __init__(self, root: dict[str, Any], dialect: Dialect, neighbours: Neighbours) -> None:
        self.root = root
        self.dialect = dialect
        self.neighbours = neighbours
        self.schema_dialect = schema_dialect_of(root, dialect)
        self.has_scopes = dialect is Dialect.OPENAPI31
        self.has_names = False
        """Whether any schema seen so far has a name."""
        self._scopes = Scopes()
        self._opened: dict[str, Resource] = {}
        self._found: dict[tuple[str, str], Found] = {}
        self._strayed: set[tuple[str, str]] = set()
        """(place of a schema with `$id`, reference below it) pairs whose target is in the description."""
        self._in_progress: set[tuple[str, str]] = set()
        self._sound: set[str] = set()
        """Places of referenced schemas of which every needed part can be read."""
        self._optional: set[str] = set()
        """Places of referenced schemas of which every part was looked at."""
        self.has_lost = False
        """Whether a schema of requests has an optional property that cannot be read."""
        self._leads_on = applicators_of(self.schema_dialect) | {"$ref"}
        self.faultless: set[str] = set()
        """Places of referenced schemas that reach no schema with a fault."""
        self.parameters: dict[str, Parameter] = {}
        """Parameters read so far, by place."""
        self.facts: dict[object, Any] = {}

    def schema(self, raw: object, pointer: str) -> Schema:
        return Schema(raw, pointer, self.schema_dialect, self)

    @property
    def has_dynamic(self) -> bool:
        """Whether any schema seen so far has a dynamic anchor."""
        return self._scopes.has_dynamic

    @property
    def dialects(self) -> frozenset[Dialect]:
        """Dialects of the schemas seen so far."""
        return self._scopes.dialects

    def dialect_at(self, place: str) -> Dialect:
        return dialect_at(self, place, self.schema_dialect)

    def resource(self, place: str) -> Resource:
        """Return the nearest resource around a place."""
        name = place.partition("#")[0]
        whole = self._opened.get(name) or self._open(name)
        # Most descriptions have no names. Then every place belongs to its document, without a search up its pointer.
        found = self._scopes.resource(place) if self.has_names else whole
        assert found is not None
        return found

    def at(self, place: str) -> object:
        """Return the value at a place; None if there is none."""
        return self._scopes.at(place)[1]

    def uri_of(self, place: str) -> str:
        """Return the absolute base URI of references at a place."""
        return self.resource(place).uri

    def contents_of(self, uri: str) -> object | None:
        """Return the document or schema of a URI; None if there is none."""
        if uri in (self.neighbours.uri, ""):
            return self.root
        found = self._scopes.contents_of(uri)
        return self.neighbours.contents_of(uri) if found is None else found

    def needs_reading(self, uri: str) -> bool:
        """Whether a URI is that of a document, and not of a schema inside one that was read."""
        return self.neighbours.name_of(uri) in self.neighbours.known or self._scopes.contents_of(uri) is None

    def resolve(self, reference: str, *, at: str) -> Found:
        """Return the target of a reference and its place, one hop. Raises `UnresolvableReference`."""
        around = self.resource(at)
        # A reference means the same everywhere in a resource, so all places that repeat it need only one lookup.
        key = (around.place, reference)
        found = self._found.get(key)
        if found is None:
            if key in self._in_progress:
                raise UnresolvableReference(f"`{reference}` leads through itself; point it at an object")
            self._in_progress.add(key)
            try:
                found = self._found[key] = self._resolved(reference, around)
            except UnresolvableReference as error:
                raise lost(reference, at, self.root, error) from None
            finally:
                self._in_progress.discard(key)
        return found

    def _resolved(self, reference: str, around: Resource) -> Found:
        if reference and not reference.startswith("#"):
            try:
                uri = urldefrag(urljoin(around.uri, reference)).url
                if self.needs_reading(uri):
                    self._open(self.neighbours.name_of(uri), of=around.place.partition("#")[0])
            except ValueError as error:
                raise UnresolvableReference(f"it is no URI ({error}); correct it") from None
        if around.home is not None and reference.startswith("#"):
            inner = _inside(reference, around, around.home)
            if inner is not None:
                return inner
        place = self._scopes.target(reference, around)
        if place is None:
            raise UnresolvableReference(_NO_ANCHOR if self.has_scopes else _NO_POINTER)
        found, value = self._scopes.at(place)
        if found:
            return value, place
        home = self._scopes.resource(place)
        assert home is not None
        strayed = self._in_description(reference, around)
        if strayed is not None:
            return strayed
        return walk(home.raw, home.place, unquote(place[len(home.place) :]), self.dereferenced)

    def _in_description(self, reference: str, around: Resource) -> Found | None:
        """Return the target of a pointer in the description, if the pointer is below a `$id`; None for other references.

        By the specification (JSON Schema 2020-12, 8.2.1), the pointer starts at the schema with the `$id`. But
        generators of descriptions write `$id` without this meaning, and `#/components/...` below it.
        """
        root = around.place.partition("#")[0] + "#"
        if around.place == root or not reference.startswith("#/"):
            return None
        found, value = walked(self._scopes.at(root)[1], unquote(reference[1:]))
        if not found:
            return None
        self._strayed.add((around.place, reference))
        return value, root + reference[1:]

    def has_strayed(self, reference: str, at: str) -> bool:
        """Whether the target of a reference was found in the description instead of the schema with a `$id` around it."""
        return bool(self._strayed) and (self.resource(at).place, reference) in self._strayed

    def _open(self, name: str, *, of: str = "") -> Resource:
        """Index a document to which another one refers, and return it. Raises `UnresolvableReference`."""
        # Loading comes first, because it refuses files to documents from the network, even files that are already open.
        root = self.neighbours.load(name, of=of)
        if name in self._opened:
            return self._opened[name]
        home, uri = f"{name}#", self.neighbours.uri_of(name)
        self._scopes.add(root, uri=uri, place=home, dialect=self.schema_dialect, has_names=self.has_scopes)
        whole = self._scopes.resource(home)
        assert whole is not None
        self._opened[name] = whole
        # A search in the text is cheaper than a walk over all schemas, and most descriptions have no names to index.
        if self.has_scopes and _NAMES.search(to_json(root)):
            self.has_names = True
            for schema, place in _schemas(root, home):
                self._scopes.include(schema, place)
        return whole

    def dereferenced(self, value: object, at: str) -> Found:
        """Return the object behind any number of `$ref`s. Raises `UnresolvableReference`."""
        seen = set()
        while isinstance(value, dict) and isinstance(value.get("$ref"), str):
            reference = value["$ref"]
            value, place = self.resolve(reference, at=at)
            if place in seen:
                raise UnresolvableReference(f"`{reference}` at {at} leads back to itself; point it at an object")
            seen.add(place)
            at = place
        return value, at

    def object_at(self, raw: object, at: str) -> tuple[Mapping[str, Any], str]:
        """Return the object at a place and its own place, references followed; an empty object where there is none.

        A lost reference is an error or a warning of the part that needs it.
        """
        try:
            value, place = self.dereferenced(raw, at)
        except UnresolvableReference:
            return {}, at
        return (value, place) if isinstance(value, dict) else ({}, place)

    def leads_to(self, raw: object, at: str) -> Iterator[tuple[str, Found]]:
        """Yield (keyword, schema and place) of the schemas directly inside or behind a schema. Raises `UnresolvableReference`."""
        if not isinstance(raw, dict) or self._leads_on.isdisjoint(raw):
            return
        if isinstance(raw.get("$ref"), str):
            yield "$ref", self.resolve(raw["$ref"], at=at)
        for tokens, inner in subschemas(raw, self.dialect_at(at)):
            yield tokens[0], (inner, pointer_child(at, *tokens))

    def require_sound(self, schema: Schema) -> None:
        """Raise `UnresolvableReference` if a reference that is reachable from the schema leads nowhere, or only back to itself.

        An optional property may have a schema that leads nowhere: it is not sent, and `has_lost` becomes true.
        """
        todo: list[Found] = [(schema.raw, schema.pointer)]
        optional: list[Found] = []
        reached = set()
        edges: dict[str, tuple[str]] = {}
        # What every value needs comes first, so that no part of it is taken for an optional one.
        while todo or optional:
            is_optional = not todo
            raw, at = (todo or optional).pop()
            known = self._optional if is_optional else self._sound
            try:
                for keyword, found in self.leads_to(raw, at):
                    if keyword == "$ref":
                        edges[at] = (found[1],)
                        if found[1] in known or found[1] in reached:
                            continue
                        reached.add(found[1])
                    (optional if is_optional or _is_optional(raw, at, keyword, found[1]) else todo).append(found)
            except UnresolvableReference:
                if not is_optional:
                    raise
                self.has_lost = True
            if not todo and not is_optional:
                needed = set(reached)
        place = circle_in(edges)
        if place is not None:
            raise UnresolvableReference(f"the reference at {place} leads back to itself; point it at a schema")
        self._sound |= needed
        self._optional |= reached

    def is_sound(self, raw: object, at: str) -> bool:
        """Whether a part of a schema that passed `require_sound` would pass alone, as all do unless an optional property cannot be read."""
        if not self.has_lost:
            return True
        try:
            self.require_sound(self.schema(raw, at))
        except UnresolvableReference:
            return False
        return True


def _is_optional(raw: object, at: str, keyword: str, place: str) -> bool:
    """Whether objects of the schema at `at` are possible without the value that the schema at `place` below it is about."""
    if keyword != "properties" or not isinstance(raw, dict):
        return keyword in ("additionalProperties", "patternProperties")
    return place not in [pointer_child(at, keyword, str(name)) for name in elements(raw.get("required"))]


_REFERENCES = frozenset({"$ref", "operationRef", "$dynamicRef", "externalValue"})
_OUTSIDE = re.compile(rb'"(?:\$ref|operationRef|\$dynamicRef|externalValue)":"(?!#)|"mapping":\{')
_FILE = re.compile(r"^[^#]*[./]")
"""Values of `discriminator.mapping` that are files, not names of components."""


def leads_outside(written: bytes) -> bool:
    """Whether the compact JSON text of a document may refer to other documents."""
    return _OUTSIDE.search(written) is not None


_OUTERMOST: Final = 3  # Slashes in the places of single paths and components.


def _stays_inside(key: str, value: object, at: str) -> bool:
    """Whether it is certain, without a walk over its objects, that no reference below a key leads to another document."""
    # Most paths and components of a description lead nowhere outside: a search in their text takes a quarter of a walk.
    return is_data(key, value, at) or (at.count("/") < _OUTERMOST and not leads_outside(to_json(value)))


def load_all(document: OpenApiDocument) -> None:
    """Read every reachable document, except those behind references in extensions and examples; failures are remembered with the reason."""
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
        for value, place in objects(root, f"{name}#", _stays_inside):
            is_mapping = place.endswith("/mapping")
            # Most objects have no reference, and this test runs for each object of a document.
            for key, item in value.items() if is_mapping or not _REFERENCES.isdisjoint(value) else ():
                if not isinstance(item, str) or item.startswith("#"):
                    continue
                if key in _REFERENCES or (is_mapping and _FILE.match(item)):
                    with contextlib.suppress(ValueError):
                        uri = urldefrag(urljoin(document.uri_of(place), item)).url
                        if document.needs_reading(uri):
                            todo.append((neighbours.name_of(uri), name))
