"""What shows that a defect is there, in the answer to the last request of a finding; and what of requests is only good once."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct

from checker.checks.server_error import DROPPED
from checker.core.media_types import media_type_of
from checker.core.request import Location
from checker.core.schema import tokens_of
from checker.corpus.records import Finding, Interaction
from checker.reporting.shown import has_answer, readable_body

_PLACE = re.compile(r"body((?:\.[^.:\[\]\s]+|\[\d+\])*): ")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_SHORTEST: Final = 3
"""Shorter values stand in requests by chance."""
_MOST_LEAVES: Final = 500
_LITERAL: Final = ("enum", "const", "pattern")
Path = tuple[str | int, ...]


class Symptom(Struct, frozen=True):
    """Something that is true of an answer while the defect is there."""

    kind: str
    """`dropped`, `status`, `media_type`, `undecodable`, `type`, `equals`, `has`."""
    value: Any = None
    """The status, the media type, the value at the place."""
    path: Path = ()
    """Of a value in a JSON body."""

    def holds(self, status: int, content_type: str, body: bytes) -> bool:
        """Whether it is true of this answer, which is complete; `body` is decoded."""
        match self.kind:
            case "dropped":
                return False
            case "status":
                return bool(status == self.value)
            case "media_type":
                return bool(bare_media_type(content_type) == self.value)
            case "undecodable":
                return _parsed(body) is _NO_JSON
            case _:
                return self._holds_at(body)

    def _holds_at(self, body: bytes) -> bool:
        """Whether the value at its place is as it was."""
        try:
            found = _at(_parsed(body), self.path)
        except (LookupError, TypeError):
            return False
        if self.kind == "has":
            return True
        return type(found) is type(self.value) if self.kind == "type" else bool(found == self.value)


def symptoms_of(finding: Finding) -> Iterator[Symptom]:
    """Yield those of its last outcome; nothing for a time-out."""
    exchange = finding.interactions[-1].exchange
    if not has_answer(exchange):
        if finding.unique_key == DROPPED:
            yield Symptom("dropped")
        return
    yield Symptom("status", exchange.status)
    if finding.check == "content_type_conformance":
        declared = {name.lower(): value for name, value in exchange.response_headers}
        yield Symptom("media_type", bare_media_type(declared.get("content-type", "")))
    elif finding.unique_key == "undecodable":
        yield Symptom("undecodable")
    elif finding.check == "response_schema_conformance" and (
        found := _PLACE.match(finding.message)
    ):
        path = tuple(int(index) if index else name for name, index in _PART.findall(found[1]))
        keyword = finding.unique_key.rpartition("/")[2]
        yield from _at_place(path, keyword, _parsed(readable_body(exchange)))


def _at_place(path: Path, keyword: str, document: Any) -> Iterator[Symptom]:
    """That the offending value is there: of a type, or as it was, or at all."""
    try:
        value = _at(document, path)
    except (LookupError, TypeError):
        return
    if keyword == "type":
        yield Symptom("type", value, path)
    elif keyword in _LITERAL and isinstance(value, str | int | float | None):
        yield Symptom("equals", value, path)
    elif path:
        yield Symptom("has", None, path)


def links_in(earlier: tuple[Interaction, ...], target: bytes) -> dict[str, tuple[int, Path]]:
    """Values of earlier answers that stand in a target -> which answer has them, and where."""
    found: dict[str, tuple[int, Path]] = {}
    parts = re.split(r"[/?&=]", unquote(target.decode("latin-1")))
    before = [one.exchange.target.decode("latin-1") for one in earlier]
    for number, interaction in enumerate(earlier):
        for path, value in _leaves(_parsed(readable_body(interaction.exchange))):
            text = str(value)
            is_new = not any(text in one for one in before[: number + 1])
            if text in parts and is_new and (isinstance(value, int) or len(text) >= _SHORTEST):
                found.setdefault(text, (number, path))
    return found


def links_in_body(finding: Finding, number: int) -> dict[Path, tuple[int, Path]]:
    """Places in the body of a recorded request whose values were taken from earlier answers -> which answer, and where.

    Only what its recipe says was taken: numbers of a body are often equal by chance.
    """
    at = number - (len(finding.interactions) - len(finding.steps))
    body = finding.interactions[number].exchange.body
    if at < 0 or body is None:
        return {}
    document, found = _parsed(body), {}
    for binding in finding.steps[at].bindings:
        place = _place_of(document, binding.name)
        if binding.location is not Location.BODY or place is None:
            continue
        for earlier in range(number):
            answered = _parsed(readable_body(finding.interactions[earlier].exchange))
            taken = (path for path, value in _leaves(answered) if value == _at(document, place))
            if finding.interactions[earlier].label == binding.producer and (
                path := next(taken, None)
            ):
                found[place] = earlier, path
    return found


def with_values(body: bytes, values: Mapping[Path, Any]) -> bytes:
    """A JSON body with other values at these places, which it has; spelled as it was where there are none."""
    if not values:
        return body
    document = _parsed(body)
    for (*above, last), value in values.items():
        _at(document, tuple(above))[last] = value
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _place_of(document: Any, pointer: str) -> Path | None:
    """The place that a JSON pointer (RFC 6901) names; None where there is none, and for the whole document."""
    path: list[str | int] = []
    for name in tokens_of(pointer):
        path.append(int(name) if isinstance(document, list) and name.isdecimal() else name)
        try:
            document = document[path[-1]]
        except (LookupError, TypeError):
            return None
    return tuple(path) or None


def value_at(body: bytes, path: Path) -> Any:
    """The value at a place of a JSON body. Raises `LookupError`, `TypeError` where there is none."""
    return _at(_parsed(body), path)


def bare_media_type(content_type: str) -> str:
    """Without parameters, in lower case; empty for what is none."""
    found = media_type_of(content_type)
    return "" if found is None else content_type.partition(";")[0].strip().lower()


def _at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def _leaves(value: Any) -> Iterator[tuple[Path, str | int]]:
    """Texts and whole numbers of a document with their places, at most 500 nodes of it."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    for _ in range(_MOST_LEAVES):
        if not waiting:
            return
        place, found = waiting.pop(0)
        if isinstance(found, dict):
            waiting += [((*place, key), one) for key, one in found.items()]
        elif isinstance(found, list):
            waiting += [((*place, at), one) for at, one in enumerate(found)]
        elif isinstance(found, str | int) and not isinstance(found, bool) and place:
            yield place, found


_NO_JSON: Final = object()


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return _NO_JSON
