"""A parsed OpenAPI document with those beside it, and what its references point at."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from checker.core.operation import Parameter
from checker.core.schema import Dialect, Document, Schema, UnresolvableReference
from checker.openapi.documents.dialects import schema_dialect_of
from checker.openapi.documents.named_schemas import NamedSchemas
from checker.openapi.documents.neighbours import Neighbours
from checker.openapi.documents.walking import Found, circle_in, lost, walk
from checker.validation.keywords import applicators_of, subschemas
from checker.validation.pointers import pointer_child
from checker.validation.scopes import said_at


class OpenApiDocument:
    """The document of one API description: implements `checker.core.schema.Document`."""

    __slots__ = (
        "_found",
        "_leads_on",
        "_names",
        "_sound",
        "_under_way",
        "dialect",
        "faultless",
        "neighbours",
        "parameters",
        "root",
        "schema_dialect",
    )

    def __init__(self, root: dict[str, Any], dialect: Dialect, neighbours: Neighbours) -> None:
        self.root = root
        self.dialect = dialect
        self.neighbours = neighbours
        self.schema_dialect = schema_dialect_of(root, dialect)
        self._names: NamedSchemas | None = None
        if dialect is Dialect.OPENAPI31:
            self._names = NamedSchemas(root, self.schema_dialect, neighbours)
        self._found: dict[tuple[str, str], Found] = {}
        self._under_way: set[tuple[str, str]] = set()
        self._sound: set[str] = set()
        self._leads_on = applicators_of(self.schema_dialect) | {"$ref"}
        self.faultless: set[str] = set()
        """Places of schemas that others refer to; a look at all that these reach found nothing wrong."""
        self.parameters: dict[str, Parameter] = {}
        """Those read until now, by place."""

    def schema(self, raw: object, pointer: str) -> Schema:
        """A schema of this document."""
        document: Document = self if self._names is None else self._names
        return Schema(raw, pointer, self.schema_dialect, document)

    def dialect_at(self, place: str) -> Dialect:
        """Dialect of the schema at a place."""
        return said_at(self._names, place, self.schema_dialect)[0]

    def resolve(self, reference: str, *, at: str) -> Found:
        """Target value and its place, one hop. Raises `UnresolvableReference`."""
        owner = "" if at.startswith("#") else at.partition("#")[0]
        key = (owner, reference)
        found = self._found.get(key)
        if found is None:
            if self._names is not None:
                # Where the reference stands may have a URI of its own.
                return self._names.resolve(reference, at=at)
            if key in self._under_way:
                raise UnresolvableReference(
                    f"`{reference}` leads through itself; point it at an object"
                )
            self._under_way.add(key)
            try:
                found = self._found[key] = self._resolved(reference, owner)
            except UnresolvableReference as error:
                raise lost(reference, at, self.root, error) from None
            finally:
                self._under_way.discard(key)
        return found

    def uri_of(self, place: str) -> str:
        """Absolute URI that references at a place are resolved against."""
        if self._names is not None:
            return self._names.uri_of(place)
        return self.neighbours.uri_of(place.partition("#")[0])

    def is_inside(self, uri: str) -> bool:
        """True when a URI names something that needs no reading."""
        return self._names is not None and self._names.knows(uri)

    def contents_of(self, uri: str) -> object | None:
        """The document of a URI; None when there is none."""
        return self.neighbours.contents_of(uri)

    @property
    def has_names(self) -> bool:
        """False: before 3.1 schemas have no names of their own."""
        return False

    def dereferenced(self, value: object, at: str) -> Found:
        """The object itself, whatever number of `$ref`s lead to it. Raises `UnresolvableReference`."""
        seen = set()
        while isinstance(value, dict) and isinstance(value.get("$ref"), str):
            reference = value["$ref"]
            value, place = self.resolve(reference, at=at)
            if place in seen:
                raise UnresolvableReference(
                    f"`{reference}` at {at} leads back to itself; point it at an object"
                )
            seen.add(place)
            at = place
        return value, at

    def object_at(self, raw: object, at: str) -> tuple[Mapping[str, Any], str]:
        """The object that stands there and its place, references followed; an empty one where none does.

        For what is read by the way: who needs it is told of what is lost elsewhere.
        """
        try:
            value, place = self.dereferenced(raw, at)
        except UnresolvableReference:
            return {}, at
        return (value, place) if isinstance(value, dict) else ({}, place)

    def require_sound(self, schema: Schema) -> None:
        """Raise `UnresolvableReference` when anything that the schema reaches points at nothing, or only at itself."""
        if isinstance(schema.raw, dict) and self._leads_on.isdisjoint(schema.raw):
            return
        todo: list[Found] = [(schema.raw, schema.pointer)]
        reached = set()
        edges: dict[str, tuple[str]] = {}
        while todo:
            raw, at = todo.pop()
            if isinstance(raw, dict) and isinstance(raw.get("$ref"), str):
                target, pointer = self.resolve(raw["$ref"], at=at)
                edges[at] = (pointer,)
                if pointer not in self._sound and pointer not in reached:
                    reached.add(pointer)
                    todo.append((target, pointer))
            if not isinstance(raw, dict) or self._leads_on.isdisjoint(raw):
                continue
            for tokens, inner in subschemas(raw, self.dialect_at(at)):
                todo.append((inner, pointer_child(at, *tokens)))
        place = circle_in(edges)
        if place is not None:
            raise UnresolvableReference(
                f"the reference at {place} leads back to itself; point it at a schema"
            )
        self._sound |= reached

    def _resolved(self, reference: str, owner: str) -> Found:
        name = owner
        if reference and not reference.startswith("#"):
            try:
                name = self.neighbours.joined(owner, reference)
            except ValueError as error:
                raise UnresolvableReference(f"it is no URI ({error}); correct it") from None
        fragment = unquote(reference.partition("#")[2])
        root = self.neighbours.load(name, of=owner)
        return walk(root, f"{name}#", fragment, self.dereferenced)
