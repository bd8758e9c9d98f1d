"""Scalars in answers: where they stand, and how they are found there again."""

from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit

from checker.core.case import Case
from checker.core.response import Response
from checker.corpus.answers import ABSENT, json_of
from checker.corpus.matching import normalised
from checker.corpus.rings import LONGEST_TEXT, SCALARS, Ring, Scalar

_DEPTH = 8
_ITEMS = 10
_NODES = 400
_PLACES = 2000
_HEADER = "header:"
_LOCATION = "header:Location"
_ITEM = "*"
_NULL = type(None)


def value_at(response: Response, pointer: str) -> Scalar | None:
    """The scalar at a recorded pointer; `*` is the first item of an array. None when there is none."""
    if pointer.startswith(_HEADER):
        values = response.headers.get(pointer.removeprefix(_HEADER).lower())
        return _last_segment(values[0]) if values else None
    value = json_of(response)
    for token in pointer.split("/")[1:] if pointer else ():
        if isinstance(value, list):
            position = 0 if token == "*" else int(token) if is_integer(token) else -1
            if not 0 <= position < len(value):
                return None
            value = value[position]
        elif isinstance(value, dict):
            value = value.get(token.replace("~1", "/").replace("~0", "~"))
        else:
            return None
    return value if isinstance(value, SCALARS) else None


class Place:
    """Where scalars may stand in the answers of one operation."""

    __slots__ = ("below", "name", "pointer", "rings")

    def __init__(self, name: str, pointer: str) -> None:
        self.name = name
        """Normalised field name; of an item, that of its array."""
        self.pointer = pointer
        self.below: dict[str, Place] = {}
        self.rings: dict[type[Scalar], Ring | None] = {}
        """Where values of a type that was seen here belong; None: nowhere."""


class Places:
    """All places of one operation: answers look alike, so pointers and names are worked out once."""

    def __init__(self) -> None:
        self._root = Place("", "")
        self._created = Place("id", _LOCATION)
        self._count = 0

    def leaves(self, response: Response) -> list[tuple[Place, Scalar]]:
        """Scalars in an answer, outermost first."""
        found: list[tuple[Place, Scalar]] = []
        for header in response.headers.get("location", ()):
            if segment := _last_segment(header):
                found.append((self._created, int(segment) if is_integer(segment) else segment))
        body = json_of(response)
        if body is ABSENT:
            return found
        level = self._sort([(self._root, body)], found)
        room = _NODES
        for _ in range(_DEPTH - 1):
            below: list[tuple[Place, Any]] = []
            for place, value in level:
                below += self._parts(place, value)
                if len(below) >= room:
                    break
            del below[room:]
            room -= len(below)
            level = self._sort(below, found)
            if not level or not room:
                break
        return found

    def _sort(
        self, parts: list[tuple[Place, Any]], found: list[tuple[Place, Scalar]]
    ) -> list[tuple[Place, Any]]:
        """Put scalars into `found`; containers come back."""
        containers = []
        for part in parts:
            kind = part[1].__class__
            if kind is dict or kind is list:
                containers.append(part)
            elif kind is str:
                if len(part[1]) <= LONGEST_TEXT:
                    found.append(part)
            elif kind is not _NULL:
                found.append(part)
        return containers

    def _parts(self, place: Place, value: dict[str, Any] | list[Any]) -> list[tuple[Place, Any]]:
        below = place.below
        if isinstance(value, list):
            item_place = below.get(_ITEM) or self._below(place, _ITEM, place.name)
            return [(item_place, item) for item in value[:_ITEMS]]
        return [
            (below.get(key) or self._below(place, key, normalised(key)), item)
            for key, item in islice(value.items(), _NODES)
        ]

    def _below(self, place: Place, key: str, name: str) -> Place:
        found = Place(name, f"{place.pointer}/{_escaped(key)}")
        # Servers may make names up: what exceeds the bound is worked out each time.
        if self._count < _PLACES:
            self._count += 1
            place.below[key] = found
        return found


def sent_scalars(case: Case) -> frozenset[object]:
    """Scalars that the request itself named, at the top of its body."""
    body = case.body
    if not isinstance(body, dict):
        return frozenset()
    return frozenset(value for value in body.values() if isinstance(value, SCALARS))


@lru_cache(maxsize=4096)
def last_parameter(path: str) -> str | None:
    """Name of the parameter that a path ends with, if it does."""
    last = path.rstrip("/").rpartition("/")[2]
    return last[1:-1] if last.startswith("{") and last.endswith("}") else None


def _last_segment(url: str) -> str:
    return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])[:LONGEST_TEXT]


@lru_cache(maxsize=4096)
def field_of(pointer: str) -> str:
    """Normalised name of the field at a recorded pointer."""
    if pointer.startswith(_HEADER):
        return "id"
    tokens = [token for token in pointer.split("/") if token and token != "*"]
    return normalised(tokens[-1].replace("~1", "/").replace("~0", "~") if tokens else "")


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key


def is_integer(text: str) -> bool:
    """Whether a text is a plain integer of at most 64 bits, written in the one usual way."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") and len(text) < 19
