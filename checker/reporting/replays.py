"""The data for a replay of a finding: the symptom in the last response, the requests that come first, and links between requests."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct

from checker.checks.rules import says_taken
from checker.checks.server_error import DROPPED, UNANSWERED
from checker.checks.table import BUILT_IN
from checker.core import curl
from checker.core.media_types import media_type_of
from checker.core.request import Location, WireRequest
from checker.core.resource_names import variables_of
from checker.core.response import Response
from checker.core.schema import tokens_of
from checker.core.security import UNAUTHORIZED
from checker.corpus.needs import ANY_NAME
from checker.corpus.records import Finding, Interaction, ResourceMade
from checker.health import made_paths
from checker.reporting.findings import DEPENDENT, kinds_of
from checker.reporting.shown import has_response, readable_body

_PLACE = re.compile(r"body((?:\.[^.:\[\]\s]+|\[\d+\])*): ")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_SHORTEST: Final = 3
"""Least length of a linked text; shorter texts occur by chance."""
_MOST_LEAVES: Final = 500
_LITERAL: Final = ("enum", "const", "pattern")
Path = tuple[str | int, ...]


class Symptom(Struct, frozen=True):
    """A condition on a response that holds while the defect exists."""

    kind: str
    """`dropped`, `status`, `media_type`, `undecodable`, `type`, `equals`, `has`."""
    value: Any = None
    """The status, the media type, the value at the place."""
    path: Path = ()
    """Path of a value in a JSON body."""

    def holds(self, status: int, content_type: str, body: bytes) -> bool:
        """Whether it holds for a complete response; `body` is decoded."""
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
        """Whether the value at its path still has the recorded property."""
        try:
            found = _at(_parsed(body), self.path)
        except (LookupError, TypeError):
            return False
        if self.kind == "has":
            return True
        return type(found) is type(self.value) if self.kind == "type" else bool(found == self.value)


def symptoms_of(finding: Finding) -> Iterator[Symptom]:
    """Yield the symptoms of a finding; none for a cut response."""
    exchange = finding.interactions[-1].exchange
    if not has_response(exchange):
        if finding.unique_key in (DROPPED, UNANSWERED):
            yield Symptom("dropped")
        return
    yield Symptom("status", exchange.status)
    if finding.check == "content_type_conformance":
        declared = {name.lower(): value for name, value in exchange.response_headers}
        yield Symptom("media_type", bare_media_type(declared.get("content-type", "")))
    elif finding.unique_key == "undecodable":
        yield Symptom("undecodable")
    elif finding.check == "response_schema_conformance" and (found := _PLACE.match(finding.message)):
        path = tuple(int(index) if index else name for name, index in _PART.findall(found[1]))
        keyword = finding.unique_key.rpartition("/")[2]
        yield from _at_place(path, keyword, _parsed(readable_body(exchange)))


def _at_place(path: Path, keyword: str, document: Any) -> Iterator[Symptom]:
    """Yield the symptom of an invalid value: its type, its value, or its presence."""
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
    """Return value in a request target -> (index, path) of the earlier response that contains it."""
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
    """Return path in the body of a request -> (index, path) of the earlier response that its value comes from.

    Only bindings of its recipe count, because numbers in bodies are often equal by chance.
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
            response = _parsed(readable_body(finding.interactions[earlier].exchange))
            taken = (path for path, value in _leaves(response) if value == _at(document, place))
            if finding.interactions[earlier].label == binding.producer and (path := next(taken, None)):
                found[place] = earlier, path
    return found


def with_values(body: bytes, values: Mapping[Path, Any]) -> bytes:
    """Return a JSON body with other values at existing paths; unchanged bytes for no values."""
    if not values:
        return body
    document = _parsed(body)
    for (*above, last), value in values.items():
        _at(document, tuple(above))[last] = value
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _place_of(document: Any, pointer: str) -> Path | None:
    """Return the path of a JSON pointer (RFC 6901); None if it does not exist or is the whole document."""
    path: list[str | int] = []
    for name in tokens_of(pointer):
        path.append(int(name) if isinstance(document, list) and name.isdecimal() else name)
        try:
            document = document[path[-1]]
        except (LookupError, TypeError):
            return None
    return tuple(path) or None


def value_at(body: bytes, path: Path) -> Any:
    """Return the value at a path of a JSON body. Raises `LookupError` or `TypeError` if there is none."""
    return _at(_parsed(body), path)


def bare_media_type(content_type: str) -> str:
    """Return a media type without parameters, in lower case; empty for a malformed one."""
    found = media_type_of(content_type)
    return "" if found is None else content_type.partition(";")[0].strip().lower()


def _at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def _leaves(value: Any) -> Iterator[tuple[Path, str | int]]:
    """Yield (path, text or integer) of a document, from at most 500 of its nodes."""
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


CONFLICT: Final = 409
ABSENT: Final = (404, 410, 412)
"""Statuses for a resource that does not exist, or is not in the state that the request expects."""
TRANSIENT: Final = (429, 503)


class Prerequisite(Struct, frozen=True):
    """A request that created or removed a resource of a finding."""

    number: int
    """Its index in `Finding.needs`."""
    made: ResourceMade
    request: WireRequest
    """The sent request, including headers that curl adds."""
    names: tuple[str, ...]
    """Variables of the path of the finding, which are possible names of the identifier."""

    @property
    def is_creation(self) -> bool:
        """Whether the server chose the path of the resource, so that a replay may get another one."""
        return not self.made.is_gone and self.target != self.made.path and " " not in self.made.path

    @property
    def target(self) -> str:
        """Return the path of the request."""
        return self.request.target.partition(b"?")[0].decode("latin-1").rstrip("/")

    def fault(self, status: int) -> str:
        """Return why a status does not establish the prerequisite; empty if it does.

        A conflict means that the resource exists already. After a removal it is gone, with any status.
        """
        then = self.made.status
        if self.made.is_gone or status // 100 == then // 100 or status == CONFLICT:
            return ""
        return f"the request that creates {self.made.path} returned {status} (in the run: {then})"

    def path_now(self, response: Response, sent_to: str) -> str:
        """Return the path of the created resource, as the response reports it; else the recorded path.

        `sent_to` is the path of the request.
        """
        if not self.is_creation or response.status_code == CONFLICT:
            return self.made.path
        return next(made_paths(sent_to, response, self.names or ("id",)), self.made.path)


def prerequisites_of(finding: Finding) -> Iterator[Prerequisite]:
    """Yield the requests that have to be sent before those of a finding, in order, without unreadable ones."""
    names = tuple(variables_of(finding.label.partition(" ")[2]))
    for number, made in enumerate(finding.needs):
        if made.path.endswith(f"/{ANY_NAME}"):
            continue
        try:
            yield Prerequisite(number, made, curl.as_sent(made.command), names)
        except ValueError:
            continue


def moved(target: str, paths: Mapping[str, str]) -> str:
    """Return a target with the present path of its resource. `paths`: recorded path -> present path."""
    for then in sorted(paths, key=len, reverse=True):
        rest = target[len(then) :]
        if target.startswith(then) and (not rest or rest[0] in "/?"):
            return paths[then] + rest
    return target


def unproving_statuses(finding: Finding) -> frozenset[int]:
    """Return the statuses of the last response that prove nothing about a finding, once its prerequisites were met.

    Its own status counts as well: the callers look at it first. With each of these statuses the request was refused before it was handled: for its credentials, a rate limit, or a resource that is not there. A check
    that wants a refusal is satisfied by each of them but the last, which counts if other requests had made the resource.
    """
    found: set[int] = set()
    count = len(list(prerequisites_of(finding)))
    has_all_resources = 0 < count == len(finding.needs)
    if DEPENDENT in kinds_of(finding) and not has_all_resources:
        found.update(ABSENT)
    check = BUILT_IN.get(finding.check)
    if check is None or not check.wants_refusal:
        found.update((*UNAUTHORIZED, CONFLICT, *TRANSIENT))
    return frozenset(found)


def not_reached(finding: Finding, statuses: Sequence[int], body: bytes) -> str:
    """Return why a finding that does not show proves nothing; empty if its situation was reached, so that it is fixed.

    `statuses` are those of its own requests, `body` is that of the last response. The situation is reached when each earlier
    request of the sequence was answered as it was, and the last one was handled.
    """
    *earlier, last = statuses
    for number, now in enumerate(earlier):
        then = finding.interactions[number].exchange.status or 0
        if now // 100 != then // 100:
            return f"request {number + 1} returned {now} (in the run: {then})"
    then = finding.interactions[-1].exchange.status or 0
    unproving = unproving_statuses(finding)
    is_taken = CONFLICT in unproving and 400 <= last < 500 and says_taken(body)
    if last == then or not (last in unproving or is_taken):
        return ""
    at = f"request {len(statuses)}" if earlier else "the request"
    return f"{at} returned {last} (in the run: {then}), {_reason(last)}"


def _reason(status: int) -> str:
    if status in UNAUTHORIZED:
        return "perhaps because of its credentials: give others with `-a` or `-H`"
    if status in TRANSIENT:
        return "which may be temporary: try again later"
    if status in ABSENT:
        return "for a resource that other requests of the run created"
    return "perhaps because of existing resources: try it on a fresh target"
