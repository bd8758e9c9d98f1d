"""Send the interactions of a cassette again, byte for byte, and compare the statuses (spec 4.6)."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError

from checker.core.errors import CheckerError, MissingSecret, UsageError
from checker.core.request import Origin, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome
from checker.transport.http import HttpLanes, HttpSettings

_MASKED = re.compile(r"\[Filtered\]|%5BFiltered%5D|secret(?:-quoted)?:[A-Za-z]+:", re.IGNORECASE)
_MASKED_BYTES = re.compile(_MASKED.pattern.encode(), re.IGNORECASE)
"""In place of a sensitive value, or of a secret that was never written down."""
NO_RESPONSE = "none"
_URI = re.compile(r"(https?://[^/?#]*)(.*)\Z", re.DOTALL | re.IGNORECASE)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOT_CARRIED_OUT = frozenset({FailureKind.REFUSED, FailureKind.DNS, FailureKind.UNSENDABLE})

Echo = Callable[[str], object]
"""Prints one line."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Which interactions are sent again, and how. A filter that is empty lets everything pass."""

    base_url: str | None = None
    """Where they go instead of where they went."""
    headers: tuple[tuple[str, str], ...] = ()
    """Instead of recorded ones of the same name; the way to give masked values."""
    ids: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    """`SUCCESS`, `FAILURE`, `ERROR`, `SKIP`."""
    uri: str | None = None
    """Regular expression, found anywhere in the URI."""
    method: str | None = None
    """The same for the method, in any letter case."""
    http: HttpSettings = field(default_factory=HttpSettings)


@dataclass(frozen=True, slots=True)
class Recorded:
    """An interaction as it stands in a cassette."""

    id: str
    status: str
    method: str
    uri: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    """None when the request had no body, which is not the same as an empty one."""
    old_status: str
    """Of the response; a word when there was none."""


def replay(cassette: Path, options: ReplayOptions, echo: Echo) -> int:
    """Exit code: 0 when every chosen interaction was sent, 2 when one could not be, 130 when interrupted."""
    try:
        recorded = read_cassette(cassette)
        chosen = list(select(recorded, options))
        echo(f"Replaying cassette: {cassette}")
        echo(f"Total interactions: {len(recorded)}")
        echo("")
        return _Replay(options, masked_names(recorded), echo).run(chosen)
    except CheckerError as error:
        echo(f"Error: {error}")
        return 2
    except KeyboardInterrupt:
        echo("Interrupted")
        return 130


def read_cassette(path: Path) -> list[Recorded]:
    """Interactions of a cassette, in its order. Raises `UsageError` when it is not one."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        try:
            return _read_all(path, _pieces(text))
        except ComposerError:
            # An alias of something in another piece: general emitters write them.
            return _read_all(path, [text])
    except OSError as error:
        raise UsageError(f"{path}: the cassette cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = " ".join(str(error).split())
        raise UsageError(f"{path}: the cassette is not valid YAML: {where}") from error


def select(recorded: list[Recorded], options: ReplayOptions) -> Iterator[Recorded]:
    """Interactions that pass all filters. Raises `UsageError` for a bad regular expression."""
    uri = _pattern("--uri", options.uri or "", 0)
    method = _pattern("--method", options.method or "", re.IGNORECASE)
    statuses = {status.upper() for status in options.statuses}
    for interaction in recorded:
        if (
            (not options.ids or interaction.id in options.ids)
            and (not statuses or interaction.status in statuses)
            and uri.search(interaction.uri)
            and method.search(interaction.method)
        ):
            yield interaction


def masked_names(recorded: list[Recorded]) -> frozenset[str]:
    """Lower-case names of headers whose value was masked anywhere in the cassette."""
    return frozenset(
        name.lower()
        for interaction in recorded
        for name, value in interaction.headers
        if _is_masked(value)
    )


def request_of(
    interaction: Recorded, options: ReplayOptions, masked: frozenset[str]
) -> tuple[Origin, WireRequest]:
    """The request as it went out, and where it goes now. Raises `MissingSecret`, `UsageError`."""
    origin, target = _destination(interaction, options.base_url)
    given = {name.lower(): (name, value) for name, value in options.headers}
    headers: list[tuple[str, str]] = []
    replaced: set[str] = set()
    for name, value in interaction.headers:
        lowered = name.lower()
        if lowered in given:
            if lowered not in replaced:
                headers.append((name, given[lowered][1]))
            replaced.add(lowered)
        elif _is_masked(value):
            raise MissingSecret(
                f"interaction {interaction.id}: header {name} was masked when it was recorded; "
                f"give it with -H '{name}: ...'"
            )
        elif lowered != "host" or not options.base_url:
            headers.append((name, value))
    # Where a header that was masked elsewhere is absent, it was left out on purpose.
    headers += [given[name] for name in given if name not in replaced and name not in masked]
    wire = [(_header_bytes(name), _header_bytes(value)) for name, value in headers]
    return origin, WireRequest(interaction.method, target, wire, interaction.body)


class _Replay:
    """Sends one after the other; keeps a connection for each origin."""

    def __init__(self, options: ReplayOptions, masked: frozenset[str], echo: Echo) -> None:
        self._options = options
        self._masked = masked
        self._echo = echo
        self._lanes: dict[Origin, HttpLanes] = {}
        self._changed = 0
        self._failed = 0

    def run(self, chosen: list[Recorded]) -> int:
        try:
            for interaction in chosen:
                self._replay(interaction)
        finally:
            for lanes in self._lanes.values():
                lanes.close()
        sent = len(chosen) - self._failed
        self._echo(f"{sent} replayed, {self._changed} with another status")
        return 2 if self._failed else 0

    def _replay(self, interaction: Recorded) -> None:
        try:
            origin, request = request_of(interaction, self._options, self._masked)
        except CheckerError as error:
            self._failed += 1
            self._echo(f"Error: {error}")
            self._echo("")
            return
        outcome = self._send(origin, request)
        if isinstance(outcome, NetworkFailure) and outcome.kind in _NOT_CARRIED_OUT:
            self._failed += 1
        new_status = _new_status(outcome)
        was_none = interaction.old_status == NO_RESPONSE
        if isinstance(outcome, NetworkFailure):
            self._changed += not was_none
        else:
            self._changed += new_status != interaction.old_status
        self._echo(f"  ID              : {interaction.id}")
        self._echo(f"  URI             : {request.url(origin)}")
        self._echo(f"  Old status code : {interaction.old_status}")
        self._echo(f"  New status code : {new_status}")
        self._echo("")

    def _send(self, origin: Origin, request: WireRequest) -> Outcome:
        lanes = self._lanes.get(origin)
        if lanes is None:
            lanes = self._lanes[origin] = HttpLanes(origin, self._options.http, 1)
        # A kept connection that the server has closed meanwhile would read as its answer.
        return lanes.send(0, request, fresh=True)


def _new_status(outcome: Outcome) -> str:
    if isinstance(outcome, NetworkFailure):
        return f"{outcome.kind}: {outcome.message}"
    return str(outcome.status_code)


def _destination(interaction: Recorded, base_url: str | None) -> tuple[Origin, bytes]:
    if _MASKED.search(interaction.uri):
        raise _masked("a value in its URI", interaction)
    if interaction.body is not None and _MASKED_BYTES.search(interaction.body):
        raise _masked("a value in its body", interaction)
    match = _URI.match(interaction.uri)
    try:
        if match is None:
            raise ValueError(f"{interaction.uri!r} is not an absolute http(s) URL")
        origin = Origin.from_url(match.group(1))
        override = Origin.from_url(base_url) if base_url else None
    except ValueError as error:
        raise UsageError(f"interaction {interaction.id}: {error}") from error
    target = match.group(2)
    if not target.startswith("/"):
        target = f"/{target}"
    if override is not None:
        origin, base_path = override, override.base_path
        if not target.startswith((f"{base_path}/", f"{base_path}?")) and target != base_path:
            target = base_path + target
    place = Origin(origin.scheme, origin.host, origin.port, "")
    return place, target.encode("utf-8", "surrogateescape")


def _masked(what: str, interaction: Recorded) -> MissingSecret:
    return MissingSecret(
        f"interaction {interaction.id}: {what} was masked when it was recorded; "
        "record the cassette again with --output-sanitize false"
    )


def _header_bytes(text: str) -> bytes:
    """Headers are Latin-1 on the wire; a cassette from elsewhere may hold more."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def _is_masked(value: str) -> bool:
    return _MASKED.search(value) is not None


def _pattern(option: str, text: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(text, flags)
    except re.error as error:
        raise UsageError(f"{option}: {text!r} is not a regular expression: {error}") from error


def _pieces(text: str) -> Iterator[str]:
    """A cassette as small cassettes: the loader needs 50 times the size of what it is given.

    Cut before lines that begin with a dash. In block style only items of the outermost sequence can begin there.
    """
    head, mark, items = text.partition("\nhttp_interactions:\n- ")
    if not mark:
        yield text
        return
    yield f"{head}\nhttp_interactions: []\n"
    start = 0
    while start < len(items):
        end = items.find("\n- ", start)
        end = len(items) if end < 0 else end
        yield f"http_interactions:\n- {items[start:end]}\n"
        start = end + 3


def _read_all(path: Path, pieces: Iterable[str]) -> list[Recorded]:
    found: list[Recorded] = []
    for piece in pieces:
        document = yaml.load(piece, _LOADER)
        if not isinstance(document, dict) or "http_interactions" not in document:
            raise UsageError(f"{path}: not a cassette: it has no `http_interactions`")
        interactions = document["http_interactions"] or []
        if not isinstance(interactions, list):
            raise UsageError(f"{path}: not a cassette: `http_interactions` is not a list")
        for raw in interactions:
            found.append(_recorded(path, len(found) + 1, raw))
    return found


def _recorded(path: Path, number: int, raw: Any) -> Recorded:
    try:
        request, response = raw["request"], raw["response"]
        return Recorded(
            id=str(raw.get("id", number)),
            status=str(raw["status"]),
            method=str(request["method"]),
            uri=str(request["uri"]),
            headers=tuple(_headers(request.get("headers") or {})),
            body=_body(request.get("body")),
            old_status=str(response["status"]["code"]) if response else NO_RESPONSE,
        )
    except (KeyError, TypeError, AttributeError, ValueError, LookupError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{path}: interaction {number} cannot be read: {what}") from error


def _headers(raw: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, values in raw.items():
        for value in values if isinstance(values, list) else [values]:
            yield str(name), str(value)


def _body(raw: Any) -> bytes | None:
    if raw is None:
        return None
    if "base64_string" in raw:
        try:
            return base64.b64decode(raw["base64_string"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"its body is not base64: {error}") from error
    text = raw["string"]
    return str(text).encode(raw.get("encoding") or "utf-8")
