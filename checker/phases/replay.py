"""Send the interactions of a cassette again, byte for byte, and compare the statuses."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import Struct, field, structs

from checker.config.operation_settings import HttpSettings
from checker.core.errors import CheckerError, MissingSecret, UsageError
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure
from checker.core.send import ON_THE_WAY, Purpose, Transport, send_alone
from checker.core.system import Clock
from checker.phases.recordings import NO_RESPONSE, Recorded, read_cassette
from checker.transport.factories import NETWORK, with_policies

_MASKED = re.compile(
    r"\[Filtered\]|%5[Bb]Filtered%5[Dd]|secret(?:-[a-z]+)?:"
    r"(?:header|credentials|env|auth|location|base|proxy|server|parameter|query|cookie|path|body):"
)
_MASKED_BYTES = re.compile(_MASKED.pattern.encode())
"""Placeholder of a sensitive value, or of a secret that is never written to disk."""
_CONNECT = with_policies(NETWORK)
_OF_THEMSELVES = [purpose for purpose in Purpose if purpose not in ON_THE_WAY]
"""Purposes of requests that are sent again. Requests with other purposes, such as redirects, follow from these."""
_URI = re.compile(r"(https?://[^/?#]*)(.*)\Z", re.DOTALL | re.IGNORECASE)
_NOT_CARRIED_OUT = frozenset({FailureKind.REFUSED, FailureKind.DNS, FailureKind.UNSENDABLE})

_MANY = 5  # Interactions listed by their number.

Echo = Callable[[str], object]  # Prints a line.


class ReplayOptions(Struct, frozen=True):
    """The interactions that are sent again, and the way of sending. An empty filter lets everything pass."""

    base_url: str | None = None  # Target in place of the recorded one.
    headers: tuple[
        tuple[str, str], ...
    ] = ()  # Headers that replace recorded headers of the same name, including masked ones.
    configured: tuple[tuple[str, str], ...] = ()  # Headers that only replace masked headers.
    fetched: Callable[[], Mapping[str, str]] = dict
    """Return the headers of a login, by name in lower case; called for a masked header without another value."""
    ids: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()  # `SUCCESS`, `FAILURE`, `ERROR`, `SKIP`.
    purposes: tuple[str, ...] = ()
    """Values of `Purpose`. By default all requests are sent, because each of them may have changed the target."""
    uri: str | None = None  # Regular expression, found anywhere in the URI.
    method: str | None = None  # Regular expression, found anywhere in the method, in any letter case.
    http: HttpSettings = field(default_factory=HttpSettings)
    keeps_pace: bool = False
    """Whether the recorded times between requests are kept; otherwise they are sent without pauses."""
    wait: Callable[[float], object] = time.sleep  # Waits for a number of seconds.
    clock: Clock = time.monotonic


def replay(cassette: Path, options: ReplayOptions, echo: Echo) -> int:
    """Return the exit code: 0 if every chosen interaction was sent, 2 if one could not be, 130 after an interrupt."""
    try:
        recorded = read_cassette(cassette)
        chosen = list(select(recorded, options))
        echo(f"Replaying cassette: {cassette}")
        echo(f"Total interactions: {len(recorded)}")
        echo("")
        masked = frozenset(name.lower() for one in recorded for name, value in one.headers if _is_masked(value))
        return _Replay(options, masked, echo).run(chosen)
    except CheckerError as error:
        echo(f"Error: {error}")
        return 2
    except KeyboardInterrupt:
        echo("Interrupted")
        return 130


def select(recorded: list[Recorded], options: ReplayOptions) -> Iterator[Recorded]:
    """Yield the interactions that pass all filters. Raises `UsageError` for a bad regular expression or an unknown id."""
    uri = _pattern("--uri", options.uri or "", 0)
    method = _pattern("--method", options.method or "", re.IGNORECASE)
    statuses = {status.upper() for status in options.statuses}
    unknown = set(options.ids) - {interaction.id for interaction in recorded}
    if unknown:
        named = ", ".join(map(repr, sorted(unknown)))
        raise UsageError(f"no interaction of the cassette has the id {named}")
    for interaction in recorded:
        if (
            (not options.ids or interaction.id in options.ids)
            and (not statuses or interaction.status in statuses)
            and (interaction.purpose in (options.purposes or _OF_THEMSELVES))
            and uri.search(interaction.uri)
            and method.search(interaction.method)
        ):
            yield interaction


def request_of(interaction: Recorded, options: ReplayOptions, masked: frozenset[str]) -> tuple[BaseUrl, WireRequest]:
    """Return the target and the recorded request. Raises `MissingSecret`, `UsageError`."""
    if interaction.is_cut:
        raise UsageError(
            "its body was cut when it was recorded; record the cassette again with "
            "`output.truncation.max-recorded-payload-size = 0`"
        )
    origin, target = _destination(interaction, options.base_url)
    given = {name.lower(): (name, value) for name, value in options.headers}
    known = {name.lower(): value for name, value in options.configured}
    headers: list[tuple[str, str]] = []
    replaced: set[str] = set()
    for name, value in interaction.headers:
        lowered = name.lower()
        if lowered in given:
            if lowered not in replaced:
                headers.append((name, given[lowered][1]))
            replaced.add(lowered)
        elif _is_masked(value) and lowered in known:
            headers.append((name, known[lowered]))
        elif _is_masked(value) and lowered in options.fetched():
            headers.append((name, options.fetched()[lowered]))
        elif _is_masked(value):
            raise MissingSecret(
                f"header {name} was masked when it was recorded; give it with -H '{name}: ...', or in the configuration"
            )
        elif lowered != "host" or not options.base_url:
            headers.append((name, value))
    # A request without a header that is masked in other requests lacks it on purpose.
    headers += [given[name] for name in given if name not in replaced and name not in masked]
    wire = [(_header_bytes(name), _header_bytes(value)) for name, value in headers]
    return origin, WireRequest(interaction.method, target, wire, interaction.body)


class _Replay:
    """Sends interactions one after the other; keeps a connection for each origin."""

    def __init__(self, options: ReplayOptions, masked: frozenset[str], echo: Echo) -> None:
        self._options = options
        self._masked = masked
        self._echo = echo
        self._lanes: dict[BaseUrl, Transport] = {}
        self._changed = 0
        self._failed = 0
        self._refused: dict[str, list[str]] = {}

    def run(self, chosen: list[Recorded]) -> int:
        first = next((one.at for one in chosen if one.at is not None), 0.0)
        began = self._options.clock()
        try:
            for interaction in chosen:
                if self._options.keeps_pace and interaction.at is not None:
                    # Wait until a time of the clock; a slower target shortens the waits.
                    when = began + interaction.at - first
                    if (left_s := when - self._options.clock()) > 0:
                        self._options.wait(left_s)
                self._replay(interaction)
        finally:
            for lanes in self._lanes.values():
                lanes.close()
        for reason, ids in self._refused.items():
            shown = ", ".join(ids[:_MANY]) + (f" and {len(ids) - _MANY} more" if len(ids) > _MANY else "")
            self._echo(f"Error: interaction{'s'[: len(ids) > 1]} {shown}: {reason}")
        sent = len(chosen) - self._failed
        self._echo(f"{sent} replayed, {self._changed} with another status")
        return 2 if self._failed else 0

    def _replay(self, interaction: Recorded) -> None:
        try:
            origin, request = request_of(interaction, self._options, self._masked)
        except CheckerError as error:
            self._failed += 1
            self._refused.setdefault(str(error), []).append(interaction.id)
            return
        if interaction.old_status.startswith("3"):
            # The recorded response is the redirect itself.
            request.is_kept = lambda: True
        lanes = self._lanes.get(origin)
        if lanes is None:
            lanes = self._lanes[origin] = _CONNECT(origin, self._options.http, 1)
        # A kept connection that the server has closed would be reported as the response.
        outcome = send_alone(lanes, replace(request, fresh=True))
        if isinstance(outcome, NetworkFailure):
            new_status = f"{outcome.kind}: {outcome.message}"
            self._failed += outcome.kind in _NOT_CARRIED_OUT
            self._changed += interaction.old_status != NO_RESPONSE
        else:
            new_status = str(outcome.status_code)
            self._changed += new_status != interaction.old_status
        self._echo(f"  ID              : {interaction.id}")
        self._echo(f"  URI             : {Redaction().url(request.url_at(origin))}")
        self._echo(f"  Old status code : {interaction.old_status}")
        self._echo(f"  New status code : {new_status}")
        self._echo("")


def _destination(interaction: Recorded, base_url: str | None) -> tuple[BaseUrl, bytes]:
    if _MASKED.search(interaction.uri):
        raise _masked("a value in its URI")
    if interaction.body is not None and _MASKED_BYTES.search(interaction.body):
        raise _masked("a value in its body")
    match = _URI.match(interaction.uri)
    try:
        if match is None:
            raise ValueError(f"{interaction.uri!r} is not an absolute http(s) URL")
        origin = BaseUrl.from_url(match.group(1))
        override = BaseUrl.from_url(base_url) if base_url else None
    except ValueError as error:
        raise UsageError(str(error)) from error
    target = match.group(2)
    if not target.startswith("/"):
        target = f"/{target}"
    if override is not None:
        origin, base_path = override, override.base_path
        if not target.startswith((f"{base_path}/", f"{base_path}?")) and target != base_path:
            target = base_path + target
    place = structs.replace(origin, base_path="", userinfo="")
    return place, target.encode("utf-8", "surrogateescape")


def _masked(what: str) -> MissingSecret:
    return MissingSecret(
        f"{what} was masked when it was recorded; record the cassette again with --output-sanitize false"
    )


def _header_bytes(text: str) -> bytes:
    """Return a header as Latin-1, or as UTF-8 where a foreign cassette holds other characters."""
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
