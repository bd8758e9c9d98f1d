"""The operations of a document that differ from an earlier version of it, references followed."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final

from checker.core.operation import BrokenOperation, Label
from checker.core.schema import UnresolvableReference
from checker.openapi.contents import Entry
from checker.openapi.documents.dialects import elements
from checker.openapi.documents.references import OpenApiDocument, is_data
from checker.openapi.servers import declared_schemes
from checker.schema.discriminators import KEYWORDS, family_of
from checker.schema.pointers import pointer_child, target_of

_INHERITED: Final = ("servers", "security", "host", "basePath", "schemes", "consumes", "produces")
"""Keys of the document that hold for operations without their own."""
_DATA: Final = ""
"""The place of data, in which `$ref` is no reference."""
Part = tuple[object, str]
"""A value and its place."""
Version = tuple[OpenApiDocument, Iterable[Entry | BrokenOperation]]
"""A document and its table of contents."""


def changed_labels(before: Version, now: Version) -> Iterator[Label]:
    """Yield the operations that are new or differ in anything but the order of keys and the names of schemas.

    Texts and examples count, because values are read from them.
    """
    (old, entries), (new, later) = before, now
    earlier = {one.label: one for one in entries}
    operations = {one.label: one for one in later}
    comparison = _Comparison(old, new)
    for label, one in operations.items():
        comparison.add(label, _parts_of(old, earlier.get(label)), _parts_of(new, one))
    different = comparison.different()
    yield from (label for label in operations if label in different)


def _parts_of(document: OpenApiDocument, entry: Entry | BrokenOperation | None) -> dict[Any, Part] | None:
    """Return everything that holds for an operation, by name; None if there is no operation."""
    if not isinstance(entry, Entry):
        return None if entry is None else {"error": (entry.error, _DATA)}
    found: dict[Any, Part] = {key: (document.root[key], f"#/{key}") for key in _INHERITED if key in document.root}
    of_path = _parts(document, entry.path_item, entry.path_item_pointer)
    found |= {key: of_path[key] for key in ("servers",) if key in of_path}
    found |= _parts(document, entry.definition, entry.pointer)
    found |= {f"path {key}": of_path[key] for key in ("parameters",) if key in of_path}
    names = {name for one in elements(found.get("security", ([], ""))[0]) if isinstance(one, dict) for name in one}
    return found | {f"security {name}": (raw, at) for name, raw, at in declared_schemes(document) if name in names}


def _parts(document: OpenApiDocument, value: object, at: str) -> dict[Any, Part]:
    """Return the parts of an object or a list by key, with what a discriminator adds; nothing for other values."""
    if isinstance(value, list):
        return {index: (one, at and f"{at}/{index}") for index, one in enumerate(value)}
    if not isinstance(value, dict):
        return {}
    found: dict[Any, Part] = {}
    for key, one in value.items():
        is_reference = at and (key == "$dynamicRef" or (key == "$ref" and len(value) > 1)) and isinstance(one, str)
        place = at if is_reference else pointer_child(at, key) if at and not is_data(key, one, at) else _DATA
        found[key] = ({"$ref": one} if is_reference else one, place)
    if at and "discriminator" in value:
        # Alternatives and heirs have the names of their schemas as values.
        branches = [one for key in KEYWORDS for one in elements(value.get(key)) if isinstance(one, dict)]
        found["alternatives", ""] = ([one.get("$ref") for one in branches], _DATA)
        family = family_of(value, at, document.root, lambda text, where: target_of(document, text, where))
        for heir in () if family is None else family.heirs:
            found["heir", heir.names] = ({"$ref": heir.where}, at)
    return found


class _Comparison:
    """Compares parts of two versions of a document. Each pair of targets of references is compared once."""

    def __init__(self, *documents: OpenApiDocument) -> None:
        self._documents = documents
        self._users: dict[Hashable, list[Hashable]] = {}
        """Pair of places -> the operations and pairs that refer to it."""
        self._different: set[Hashable] = set()

    def add(self, label: Label, before: dict[Any, Part] | None, now: dict[Any, Part] | None) -> None:
        """Compare an operation, and everything that it refers to for the first time."""
        todo = list(self._inside(label, before, now))
        while todo:
            user, pair = todo.pop()
            if user in self._different:
                continue
            followed = tuple(map(self._followed, self._documents, pair))
            if followed != (None, None):
                pair = tuple(new or old for new, old in zip(followed, pair, strict=True))
                places = tuple(at for _, at in pair)
                is_known = places in self._users
                self._users.setdefault(places, []).append(user)
                todo += [] if is_known else [(places, pair)]
                continue
            (left, at), (right, at_right) = pair
            if type(left) is not type(right):
                self._different.add(user)
            elif isinstance(left, dict | list):
                first, second = self._documents
                todo += self._inside(user, _parts(first, left, at), _parts(second, right, at_right))
            elif left != right:
                self._different.add(user)

    def different(self) -> set[Hashable]:
        """Return the operations and pairs that differ, in themselves or in a part that they refer to."""
        todo = list(self._different)
        while todo:
            more = set(self._users.get(todo.pop(), ())) - self._different
            self._different |= more
            todo += more
        return self._different

    def _inside(
        self, user: Hashable, before: dict[Any, Part] | None, now: dict[Any, Part] | None
    ) -> Iterator[tuple[Hashable, tuple[Part, ...]]]:
        if before is None or now is None or before.keys() != now.keys():
            self._different.add(user)
        else:
            yield from ((user, (before[key], part)) for key, part in now.items())

    def _followed(self, document: OpenApiDocument, part: Part) -> Part | None:
        """Return the target of a reference alone; None for other values, and for a reference that leads nowhere."""
        value, at = part
        if not at or not isinstance(value, dict) or len(value) != 1 or not isinstance(value.get("$ref"), str):
            return None
        try:
            return document.resolve(value["$ref"], at=at)
        except UnresolvableReference:
            return None
