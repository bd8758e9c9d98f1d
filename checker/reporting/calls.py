"""The requests that reproduce a finding on a fresh server, in order, and which of their values come from earlier responses."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlsplit

from msgspec import Struct, field

from checker.core import curl
from checker.core.media_types import is_form
from checker.core.meta import Binding
from checker.core.request import CONDITIONS, Location, WireRequest
from checker.core.resource_names import is_identifier, normalised, variables_of
from checker.core.schema import tokens_of
from checker.core.security import UNAUTHORIZED
from checker.corpus.needs import ANY_NAME, LOCATION, leaves_of, names_resource, place_of_resource
from checker.corpus.records import Component, Exchange, Finding, Interaction, ResourceMade
from checker.reporting.findings import has_response, readable_body
from checker.values.locations import may_be_url

_SEPARATORS = re.compile(rb"([/?&=])")
_CONFLICT: Final = 409
_TAG: Final = "etag"
_LOCATION: Final = "location"
TRANSIENT: Final = (429, 502, 503, 504)
UNHANDLED: Final = (*sorted(UNAUTHORIZED), *TRANSIENT)
"""Statuses of requests that are refused before they are handled, because of their credentials or the load of a server or gateway."""
_OF_HEADER: Final = "$response.header."
_SHORTEST: Final = 3  # Least length of a text that is searched in all responses; shorter texts are equal by chance.
_PLAIN: Final = re.compile(r"[A-Za-z0-9._~-]+")  # A path segment that needs no escapes in a URL.
Path = tuple[str | int, ...]  # Names and indices from the root of a JSON document.


class Source(Struct, frozen=True):
    """A value in the response to an earlier request."""

    call: int  # Index of the request.
    path: Path | None  # Place in the JSON body; None for a header.
    header: str = _LOCATION
    """Name of the header in lower case. The value is the last segment of the path for `Location`, and the whole header for other names."""
    segment: int = 0
    """Index of a segment of the URL at `path`, counted from the end; 0 for the whole value."""

    @property
    def is_whole_header(self) -> bool:
        """Whether the value is a whole header, such as a version in `ETag`."""
        return self.path is None and self.header != _LOCATION


class Call(Struct, frozen=True):
    """One request of a reproduction, as it was recorded."""

    label: str
    request: WireRequest
    components: tuple[Component, ...]
    in_target: Mapping[int, Source]  # Index of a part of the target (`parts_of`) -> its value.
    in_body: Mapping[Path, Source]  # Place in the JSON body, or name of a form field -> its value.
    status: int  # Status in the run; 0 without a response.
    command: str = ""  # The recorded command of the request; empty if there is none.
    made: ResourceMade | None = None
    """The resource that the request creates or removes; None for a request of the finding itself."""
    in_headers: Mapping[str, Source] = field(default_factory=dict)  # Name of a header in lower case -> its value.

    @property
    def sources(self) -> set[Source]:
        return {*self.in_target.values(), *self.in_body.values(), *self.in_headers.values()}

    def accepts(self, status: int) -> bool:
        """Whether the response to a request before the last one is good enough: its class of status is that of the run, and the request was handled.

        A conflict means that a resource of another request already exists. After a removal the resource is gone, whatever
        the status.
        """
        if status != self.status and status in UNHANDLED:
            return False
        is_there = self.made is not None and (self.made.is_gone or status == _CONFLICT)
        return is_there or not self.status or status // 100 == self.status // 100


def parts_of(target: bytes) -> list[bytes]:
    """Return the parts of a target with the separators between them."""
    return _SEPARATORS.split(target)


def calls_of(finding: Finding) -> list[Call]:
    """Return the requests of a finding for a fresh server: the requests that it needs, then its own."""
    calls: list[Call] = []
    for made in finding.needs:
        if made.path.endswith(f"/{ANY_NAME}"):
            continue
        try:
            request = curl.as_sent(made.command)
        except ValueError:
            continue
        calls.append(
            Call(
                made.label, request, made.components, _of_needs(request.target, calls), _body_of_needs(request, calls),
                made.status, made.command, made,
            )
        )  # fmt: skip
    first = len(calls)
    commands = finding.investigation.reproduction.splitlines()
    has_commands = len(commands) == len(finding.sent)
    for number, one in enumerate(finding.sent):
        exchange = one.exchange
        request = WireRequest(exchange.method, exchange.target, list(exchange.headers), exchange.body)
        in_target, in_body, in_headers = (
            _of_steps(finding, number, request, calls[first:], first)
            if number < len(finding.interactions)
            else _of_check(finding, number, request, calls, first)
        )
        calls.append(
            Call(
                one.label, request, one.components, {**_of_needs(exchange.target, calls), **in_target},
                {**_body_of_needs(request, calls), **in_body}, (exchange.status or 0) if has_response(exchange) else 0,
                commands[number] if has_commands else "", in_headers=in_headers,
            )
        )  # fmt: skip
    return calls


def has_form(request: WireRequest) -> bool:
    """Whether the body of a request is a URL-encoded form: `a=1&b=2`."""
    return is_form((request.header(b"content-type") or b"").decode("latin-1"))


def document_of(request: WireRequest) -> Any:
    """Return the JSON document in a body, or the first value of each field of a form by name; `NO_JSON` for other bodies."""
    body = request.body or b""
    return dict(reversed(parse_qsl(body.decode("latin-1"), True))) if has_form(request) else parsed(body)


def form_with(body: bytes, values: Mapping[Path, str]) -> str:
    """Return a form with other, encoded values of existing fields. The other bytes do not change."""
    pairs = [(pair, pair.partition("=")[0]) for pair in body.decode("latin-1").split("&")]
    return "&".join(
        f"{name}={values[path]}" if (path := (unquote_plus(name),)) in values else pair for pair, name in pairs
    )


def with_values(request: WireRequest, values: Mapping[Path, Any]) -> bytes | None:
    """Return the body of a request with other values at existing places. Without values, the bytes do not change."""
    body = request.body
    if not values or body is None:
        return body
    if has_form(request):
        return form_with(body, {path: quote(str(one), safe="") for path, one in values.items()}).encode("latin-1")
    document = parsed(body)
    for (*above, last), value in values.items():
        inner = at(document, tuple(above))
        inner[last] = _typed_like(inner[last], value)
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _typed_like(recorded: object, value: object) -> Any:
    """Return a value as printed commands insert it: as a text for a recorded text, otherwise as the JSON that its text is.

    The number of a created resource is a text in `Location`.
    """
    text = value if isinstance(value, str) else json.dumps(value)
    found = text if isinstance(recorded, str) else parsed(text.encode("utf-8", "surrogatepass"))
    return value if found is NO_JSON else found


def found_in(source: Source, headers: Mapping[str, str], body: bytes) -> Any:
    """Return the value in a response, given its headers by lower-case name. Raises `LookupError` or `TypeError` if there is none."""
    if source.is_whole_header:
        return headers[source.header]
    if source.path is None:
        return unquote(urlsplit(headers[_LOCATION]).path.rstrip("/").rpartition("/")[2])
    found = at(parsed(body), source.path)
    return written_segments(found)[-source.segment] if source.segment else found


def written_segments(url: str) -> list[str]:
    """Return the segments of the path of a URL as they stand in it, without empty ones at its end."""
    return re.sub("[?#].*", "", url, flags=re.DOTALL).rstrip("/").split("/")


def _of_needs(target: bytes, calls: Sequence[Call]) -> dict[int, Source]:
    path = target.partition(b"?")[0].decode("latin-1").rstrip("/")
    found = {}
    for number, call in enumerate(calls):
        source = _name_of(call, number)
        place = None if call.made is None else place_of_resource(path, call.made.path)
        if source is not None and place is not None:
            # Each `/` gives two parts: the separator and the segment.
            found[2 * place] = source
    return found


def _body_of_needs(request: WireRequest, calls: Sequence[Call]) -> dict[Path, Source]:
    found: dict[Path, Source] = {}
    leaves = list(leaves_of(document_of(request))) if calls else []
    for number, call in enumerate(calls):
        source = _name_of(call, number)
        if source is not None and call.made is not None:
            made = call.made.path
            found |= {path: source for path, value in leaves if names_resource(path, value, made)}
    return found


def _name_of(call: Call, number: int) -> Source | None:
    """Return where the response to a creation contains the name of the resource; None if the request chose the name."""
    made = call.made
    if made is None or made.is_gone or not made.pointer:
        return None
    is_header = made.pointer == LOCATION
    return Source(number, None if is_header else tuple(_key(one) for one in tokens_of(made.pointer)))


def _key(token: str) -> str | int:
    return int(token) if token.isdecimal() else token


def _of_steps(
    finding: Finding, number: int, request: WireRequest, before: Sequence[Call], first: int
) -> tuple[dict[int, Source], dict[Path, Source], dict[str, Source]]:
    """Return the values of a finding's own request that come from its earlier responses: in target, body and headers.

    In bodies and headers only recorded bindings count, because values are often equal by chance.
    """
    earlier, one = finding.interactions[:number], finding.interactions[number]
    step = number - (len(finding.interactions) - len(finding.steps))
    bindings = finding.steps[step].bindings if step >= 0 else ()
    told = {b.name: (b.producer, b.pointer) for b in bindings if b.location is Location.PATH}
    named = {at: told.get(name, ("", "")) for name, at in _variables(one, finding).items()}
    seen = [other.exchange.target.decode("latin-1") for other in earlier]
    in_target = {}
    for place, part in enumerate(parts_of(one.exchange.target)):
        text = unquote(part.decode("latin-1"))
        producer, pointer = named.get(place, ("", ""))
        found = [
            (at, path, segment)
            for at, other in enumerate(earlier)
            for path, value in _shown_in(other.exchange)
            if place % 2 == 0 and (segment := _segment_with(text, value, other.label == producer)) is not None
            if len(text) >= _SHORTEST or other.label == producer
            if not any(
                text in parts for parts in (list(map(unquote, re.split("[/?&=]", target))) for target in seen[: at + 1])
            )
        ]
        if found:
            # A field with exactly the value is more certain than a part of a URL.
            found.sort(key=lambda one: (one[2] > 0, _doubt(earlier[one[0]].label == producer, pointer, one[1])))
            in_target[place] = Source(first + found[0][0], found[0][1], segment=found[0][2])
        elif (source := _taken_before(text, producer, before)) is not None:
            in_target[place] = source
    in_body = {}
    document = document_of(request)
    for binding in bindings:
        path = _place_of(document, binding.name) if binding.location is Location.BODY else None
        for at_, other in enumerate(earlier if path is not None else ()):
            if path is None or not _gives(finding, at_, binding):
                continue
            text = str(at(document, path))
            parts = [(_segment_with(text, value, True), found) for found, value in _shown_in(other.exchange)]
            same = [(segment, found) for segment, found in parts if segment is not None]
            if same:
                segment, at_place = min(same, key=lambda one: (one[0] > 0, _doubt(True, binding.pointer, one[1])))
                in_body[path] = Source(first + at_, at_place, segment=segment)
    return in_target, in_body, _headers_of_step(finding, number, bindings, first)


def _shown_in(exchange: Exchange) -> Iterator[tuple[Path | None, str | int]]:
    """Yield the values of a JSON body and the identifier in `Location`, each with its place as `Source` names it."""
    yield from leaves_of(parsed(readable_body(exchange)))
    headers = {name.lower(): value for name, value in exchange.response_headers}
    if _LOCATION in headers and _PLAIN.fullmatch(name := found_in(Source(0, None), headers, b"")):
        yield None, name


def _gives(finding: Finding, number: int, binding: Binding) -> bool:
    """Whether a value may come from a request of a finding. Any update returns a new version, not only the operation that first returned a version."""
    step = number - (len(finding.interactions) - len(finding.steps))
    is_its_step = bool(binding.expression) and binding.step == step
    return is_its_step or finding.interactions[number].label == binding.producer


def _headers_of_step(finding: Finding, number: int, bindings: Sequence[Binding], first: int) -> dict[str, Source]:
    """Return the headers of a finding's own request that come from its earlier responses: from headers, or from values in bodies that need no escapes in headers."""
    found = {}
    sent = headers_by_name(finding.interactions[number].exchange.headers)
    for binding in bindings:
        name, pointer = binding.name.lower(), binding.pointer
        text = sent.get(name)
        if binding.location is not Location.HEADER or text is None:
            continue
        for place, other in enumerate(finding.interactions[:number], first):
            if not _gives(finding, place - first, binding):
                continue
            if pointer.startswith(_OF_HEADER):
                of = pointer.removeprefix(_OF_HEADER).lower()
                if {key.lower(): value for key, value in other.exchange.response_headers}.get(of, "") == text:
                    found[name] = Source(place, None, of)
            elif _PLAIN.fullmatch(text):
                leaves = leaves_of(parsed(readable_body(other.exchange)))
                paths = [path for path, value in leaves if value == text]
                if paths:
                    found[name] = Source(place, min(paths, key=lambda path: _doubt(True, pointer, path)))
    return found


def _of_check(
    finding: Finding, number: int, request: WireRequest, before: Sequence[Call], first: int
) -> tuple[dict[int, Source], dict[Path, Source], dict[str, Source]]:
    """Return the values that a further request of a check shares with earlier requests, and the entity tags of earlier responses."""
    in_target = {}
    for place, part in enumerate(parts_of(request.target)):
        source = _taken_before(unquote(part.decode("latin-1")), "", before) if place % 2 == 0 else None
        if source is not None:
            in_target[place] = source
    document = document_of(request)
    in_body: dict[Path, Source] = {}
    headers = headers_by_name(request.headers)
    in_headers: dict[str, Source] = {}
    for call in before:
        earlier = document_of(call.request)
        in_body |= {path: one for path, one in call.in_body.items() if _is_same_at(path, document, earlier)}
        sent = headers_by_name(call.request.headers)
        in_headers |= {name: one for name, one in call.in_headers.items() if headers.get(name) == sent.get(name)}
    for place, other in enumerate(finding.sent[:number]):
        tags = [value for name, value in other.exchange.response_headers if name.lower() == _TAG]
        conditions = {name for name in CONDITIONS & headers.keys() if headers[name] in tags and name not in in_headers}
        in_headers |= {name: Source(first + place, None, _TAG) for name in conditions}
    return in_target, in_body, in_headers


def headers_by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers of a request by their names in lower case."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _is_same_at(path: Path, document: Any, other: Any) -> bool:
    try:
        return bool(at(document, path) == at(other, path))
    except (LookupError, TypeError):
        return False


def _taken_before(text: str, producer: str, before: Sequence[Call]) -> Source | None:
    """Return the origin of a text in the target of an earlier request to `producer` (empty: to any operation); None if no such request has the text.

    `GET /items/7` returns the name `7` because the request contains it, so the response is not the source of the name.
    """
    return next(
        (
            source
            for call in before
            for place, source in call.in_target.items()
            if producer in ("", call.label) and unquote(parts_of(call.request.target)[place].decode("latin-1")) == text
        ),
        None,
    )


def _segment_with(text: str, value: object, is_of_producer: bool) -> int | None:
    """Return 0 if a response value equals a text.

    If it is a URL of the producer with the text as a segment, return the segment's index from the end.
    """
    if str(value) == text:
        return 0
    if not is_of_producer or not may_be_url(value) or _PLAIN.fullmatch(text) is None:
        return None
    segments = written_segments(f"{value}")[::-1]
    return segments.index(text) + 1 if text in segments else None


def _doubt(is_producer: bool, pointer: str, path: Path | None) -> tuple[bool, bool]:
    """Return the sort key of places with equal values: first the place in the recipe, then fields that identify a resource."""
    if path is None:
        return not is_producer or pointer.lower() != f"{_OF_HEADER}{_LOCATION}", True
    is_named = is_producer and [str(one) for one in path] == [str(_key(one)) for one in tokens_of(pointer)]
    last = next((one for one in reversed(path) if isinstance(one, str)), "")
    return not is_named, not is_identifier(normalised(last))


def _variables(one: Interaction, finding: Finding) -> dict[str, int]:
    template = one.label.partition(" ")[2].rstrip("/").split("/")
    count = one.exchange.target.partition(b"?")[0].rstrip(b"/").count(b"/") + 1
    return {
        variables_of(segment)[0]: 2 * (number + count - len(template))
        for number, segment in enumerate(template)
        if segment.startswith("{") and segment.endswith("}")
    }


def _place_of(document: Any, pointer: str) -> Path | None:
    """Return the path of a JSON pointer (RFC 6901); None if the place does not exist or is the whole document."""
    path: list[str | int] = []
    for name in tokens_of(pointer):
        path.append(int(name) if isinstance(document, list) and name.isdecimal() else name)
        try:
            document = document[path[-1]]
        except (LookupError, TypeError):
            return None
    return tuple(path) or None


def at(document: Any, path: Path) -> Any:
    """Return the value at a path. Raises `LookupError` or `TypeError` if there is none."""
    for part in path:
        document = document[part]
    return document


NO_JSON: Final = object()


def parsed(body: bytes) -> Any:
    """Return a JSON document; `NO_JSON` for other bytes."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return NO_JSON
