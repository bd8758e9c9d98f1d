"""Finds the operations of a document that differ from an earlier version of it, with references followed."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final

from checker.core.graphs import reached
from checker.core.operation import BrokenOperation, Label
from checker.core.schema import pointer_child, target_of
from checker.openapi.contents import Entry
from checker.openapi.documents.dialects import elements
from checker.openapi.documents.references import OpenApiDocument, is_data
from checker.openapi.servers import declared_schemes
from checker.schema.discriminators import KEYWORDS, family_of

_INHERITED: Final = ("servers", "security", "host", "basePath", "schemes", "consumes", "produces")
"""Keys of the document that apply to operations without their own."""
_DATA: Final = ""  # The place of data, where `$ref` is no reference.
Part = tuple[object, str]  # A value and its place.
Version = tuple[OpenApiDocument, Iterable[Entry | BrokenOperation]]  # A document and its table of contents.


def changed_labels(before: Version, now: Version) -> Iterator[Label]:
    """Yield the operations that are new or differ in anything but the order of keys and the names of schemas.

    Texts and examples count, because values are read from both. Each pair of targets of references is compared once.
    """
    documents = before[0], now[0]
    earlier, later = ({one.label: one for one in entries} for _, entries in (before, now))
    # Pair of places -> the operations and pairs that refer to it.
    users: dict[Hashable, list[Hashable]] = {}
    different: set[Hashable] = set()
    todo: list[tuple[Hashable, tuple[Part, ...]]] = [
        (label, ((earlier.get(label), _DATA), (one, _DATA))) for label, one in later.items()
    ]
    while todo:
        user, pair = todo.pop()
        targets = tuple(map(_target, documents, pair))
        if any(targets):
            pair = tuple(target or part for target, part in zip(targets, pair, strict=True))
            places = tuple(at for _, at in pair)
            todo += [] if places in users else [(places, pair)]
            users.setdefault(places, []).append(user)
            continue
        (left, _), (right, _) = pair
        old, new = map(_parts, documents, pair)
        if type(left) is not type(right) or old.keys() != new.keys() or (not new and left != right):
            different.add(user)
        else:
            todo += [(user, (old[key], new[key])) for key in new]
    different |= reached(different, users)
    yield from (label for label in later if label in different)


def _target(document: OpenApiDocument, part: Part) -> Part | None:
    """Return the target of a value that is only a reference; None for other values, and for a reference that leads nowhere."""
    value, at = part
    reference = value.get("$ref") if at and isinstance(value, dict) and len(value) == 1 else None
    return target_of(document, reference, at) if isinstance(reference, str) else None


def _parts(document: OpenApiDocument, part: Part) -> dict[Any, Part]:
    """Return the parts of an operation, an object or a list by key; nothing for other values."""
    value, at = part
    if isinstance(value, Entry):
        of_path = _parts(document, (value.path_item, value.path_item_pointer))
        whole: dict[Any, Part] = {key: (document.root[key], f"#/{key}") for key in _INHERITED if key in document.root}
        whole |= {key: of_path[key] for key in ("servers",) if key in of_path}
        whole |= _parts(document, (value.definition, value.pointer))
        whole |= {f"path {key}": of_path[key] for key in ("parameters",) if key in of_path}
        names = {name for one in elements(whole.get("security", ([], ""))[0]) if isinstance(one, dict) for name in one}
        return whole | {f"security {name}": (raw, at) for name, raw, at in declared_schemes(document) if name in names}
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
        # The names of alternatives and heirs count as values.
        branches = [one for key in KEYWORDS for one in elements(value.get(key)) if isinstance(one, dict)]
        found["alternatives", ""] = ([one.get("$ref") for one in branches], _DATA)
        family = family_of(value, at, document.root, lambda text, where: target_of(document, text, where))
        found |= {("heir", one.names): ({"$ref": one.where}, at) for one in (family.heirs if family else ())}
    return found
