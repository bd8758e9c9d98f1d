"""Scalars in answers: where they stand, and how they are found there again."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from checker.core.case import Case
from checker.core.response import Response
from checker.corpus.answers import ABSENT, json_of
from checker.corpus.rings import LONGEST_TEXT, SCALARS, Scalar

_DEPTH = 8
_ITEMS = 10
_NODES = 400
_HEADER = "header:"
_LOCATION = "header:Location"


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


def leaves(response: Response) -> Iterator[tuple[str, str, Scalar]]:
    """(field name, pointer, value) of scalars in an answer, outermost first."""
    yield from _created(response)
    body = json_of(response)
    if body is ABSENT:
        return
    level: list[tuple[str, str, Any]] = [("", "", body)]
    nodes = 0
    for _ in range(_DEPTH):
        below: list[tuple[str, str, Any]] = []
        for place in level:
            nodes += 1
            if nodes > _NODES:
                return
            name, pointer, value = place
            if isinstance(value, dict | list):
                below += _children(name, pointer, value)
            elif isinstance(value, str):
                if len(value) <= LONGEST_TEXT:
                    yield name, pointer, value
            elif value is not None:
                yield name, pointer, value
        if not below:
            return
        level = below


def _created(response: Response) -> Iterator[tuple[str, str, Scalar]]:
    for name, header in response.raw_headers:
        if name.lower() == "location" and (segment := _last_segment(header)):
            yield "id", _LOCATION, int(segment) if is_integer(segment) else segment


def _children(
    name: str, pointer: str, value: dict[str, Any] | list[Any]
) -> list[tuple[str, str, Any]]:
    if isinstance(value, list):
        return [(name, f"{pointer}/*", item) for item in value[:_ITEMS]]
    return [(key, f"{pointer}/{_escaped(key)}", item) for key, item in value.items()]


def sent_scalars(case: Case) -> frozenset[object]:
    """Scalars that the request itself named, at the top of its body."""
    body = case.body
    if not isinstance(body, dict):
        return frozenset()
    return frozenset(value for value in body.values() if isinstance(value, SCALARS))


def last_parameter(path: str) -> str | None:
    """Name of the parameter that a path ends with, if it does."""
    last = path.rstrip("/").rpartition("/")[2]
    return last[1:-1] if last.startswith("{") and last.endswith("}") else None


def _last_segment(url: str) -> str:
    return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])[:LONGEST_TEXT]


def field_of(pointer: str) -> str:
    """Name of the field at a recorded pointer."""
    if pointer.startswith(_HEADER):
        return "id"
    tokens = [token for token in pointer.split("/") if token and token != "*"]
    return tokens[-1].replace("~1", "/").replace("~0", "~") if tokens else ""


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key


def is_integer(text: str) -> bool:
    """Whether a text is a plain integer of at most 64 bits, written in the one usual way."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") and len(text) < 19
