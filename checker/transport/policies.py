"""Policies that concern more than one request: redirects, retries, rates."""

import dataclasses
import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final
from urllib.parse import urljoin, urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.operation_settings import HttpSettings
from checker.core.operation import Operation
from checker.core.request import LONGEST_TARGET, BaseUrl, WireRequest
from checker.core.response import Earlier, FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Transport
from checker.core.system import Clock
from checker.transport.settings import travelling

UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}  # Unit of a rate -> seconds.
AUTO: Final = "auto"  # The adaptive rate has no limit of its own, but requests wait if the target asks for it.
_MARGIN: Final = 1 + 1e-6  # Rounding errors must not make a thousand intervals shorter than a second.
_TIME: Final = struct.Struct("<d")


def interval_s(rate: str) -> float:
    """Return the seconds between two requests at a rate such as `50/s`."""
    count, _, unit = rate.partition("/")
    return UNITS[unit] / int(count) * _MARGIN


class RateLimit(Struct):
    """Assigns send times at a fixed interval, never in the past.

    If requests were counted per second, two bursts could follow each other at the boundary of two seconds. Evenly
    spaced times respect the rate in any second.
    """

    interval_s: float
    path: Path | None = None  # The file that processes share; None for a limit of this process.
    clock: Clock = time.monotonic  # Clock in seconds that all processes share.
    _last: float = field(default=float("-inf"))

    def reserve(self) -> float:
        """Reserve the next free time on the clock and return it."""
        if self.path is None:
            self._last = max(self.clock(), self._last + self.interval_s)
            return self._last
        with _locked(self.path) as descriptor:
            written = os.pread(descriptor, _TIME.size, 0)
            # A new file is empty.
            last = _TIME.unpack(written)[0] if len(written) == _TIME.size else float("-inf")
            due = max(self.clock(), last + self.interval_s)
            os.pwrite(descriptor, _TIME.pack(due), 0)
        return due


class RateLimits(Struct):
    """The rate limits of one process, by rate."""

    folder: Path | None = None  # Folder for the limits of all workers of a run; None for this process alone.
    clock: Clock = time.monotonic
    sharers: int = 1  # Number of folders among which each rate is divided.
    _known: dict[str, RateLimit] = field(default_factory=dict)

    def of(self, rate: str) -> RateLimit:
        found = self._known.get(rate)
        if found is None:
            path = None if self.folder is None else self.folder / rate.replace("/", "-per-")
            found = self._known[rate] = RateLimit(interval_s(rate) * self.sharers, path, self.clock)
        return found


def forget_rates(folder: Path) -> None:
    """Delete the times of an earlier run, because its clock may have been different."""
    for path in folder.iterdir() if folder.is_dir() else ():
        path.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    # The system releases the lock when its holder dies.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


_STATUSES = frozenset({301, 302, 303, 307, 308})
_OF_BODIES = frozenset({b"content-type", b"content-length", b"content-encoding", b"transfer-encoding"})


def documents_redirects(operation: Operation) -> bool:
    """Whether an operation documents a redirect. Then the redirect itself is judged."""
    return any(status.startswith("3") for status in operation.contract.plan(100, None).documented_statuses)


def following(origin: BaseUrl, request: WireRequest, response: Response) -> WireRequest | None:
    """Return the request that follows a redirect; None if it must not be followed, because credentials never leave their site."""
    if response.status_code not in _STATUSES:
        return None
    places = response.headers.get("location", [])
    if len(places) != 1 or len(places[0]) > LONGEST_TARGET:
        return None
    try:
        url = urljoin(request.url_at(origin), places[0])
        there, parts = BaseUrl.from_url(url), urlsplit(url)
    except ValueError:
        return None
    # A server behind a socket knows itself by the host name in the requests.
    if there.site not in (origin.site, origin.plain.site) or there.userinfo:
        return None
    text = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not (text.isascii() and text.isprintable()):
        return None
    target = text.encode("ascii")
    if not becomes_get(request.method, response.status_code):
        return dataclasses.replace(request, target=target, is_twice=False)
    headers = [one for one in request.headers if one[0].lower() not in _OF_BODIES]
    return dataclasses.replace(request, method="GET", target=target, headers=headers, body=None, is_twice=False)


def becomes_get(method: str, status: int) -> bool:
    """Whether a request becomes a GET after this redirect. All clients change POST after 301 or 302 (RFC 9110, 15.4.2), and any method after 303."""
    return (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST")


LONGEST_BACKOFF_S = 10.0
MOST_WAITS = 3  # How often a request waits for an overloaded target (`rate-limit = "auto"`).
LONGEST_WAIT_S = 60.0
_TOO_MANY = 429
_AGAIN = frozenset({FailureKind.REFUSED, FailureKind.DNS, FailureKind.TIMEOUT, FailureKind.DROPPED})


class _RequestChain(Struct):
    """One request of a caller, and all requests that were sent in its place."""

    first: WireRequest
    request: WireRequest
    patience_s: float | None
    redirects: int = 0
    retries: int = 0
    waits: int = 0
    earlier: Earlier = ()  # Earlier requests of the chain with their outcomes.
    due: float = 0.0  # When a waiting request is sent.


class PolicyTransport:
    """Implements `checker.core.send.Transport` over a transport that sends each request once."""

    def __init__(
        self,
        inner: Transport,
        origin: BaseUrl,
        settings: HttpSettings,
        rates: RateLimits | None = None,
        *,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """`settings` apply to requests without their own."""
        self._inner = inner
        self._origin = origin
        self._usual = settings
        self._rates = rates or RateLimits()
        self._clock = self._rates.clock
        self._sleep = sleep
        self._flying: dict[int, tuple[WireRequest, float | None]] = {}
        """Lane -> (request, patience) of requests in the inner transport."""
        self._chains: dict[int, _RequestChain] = {}
        """Chains of the lanes whose request waits, or is not the first of its chain."""
        self._waiting: set[int] = set()

    def start(self, lane: int, request: WireRequest, *, patience_s: float | None = None) -> None:
        """Accept a request on an idle lane. With a rate or a delay, it is sent later."""
        # The usual case first: most requests have the settings of the lane and no rate.
        rate = self._usual.rate if request.via is None else self._policy(request).rate
        if (rate is None or rate == AUTO) and not request.delay_s:
            self._send_now(lane, request, patience_s)
        else:
            self._chains[lane] = _RequestChain(request, request, patience_s)
            self._launch(lane, request.delay_s)

    def flush(self) -> None:
        self._inner.flush()

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        if self._waiting:
            timeout_s = self._send_due(timeout_s)
        finished = self._inner.poll(timeout_s)
        ended: list[tuple[int, Outcome]] = []
        sent_on = False
        for one in finished:
            lane, outcome = one
            request, patience_s = self._flying.pop(lane)
            # The usual case first: without a redirect, a retry or a report, no chain is needed.
            if type(outcome) is Response and outcome.status_code < 300 and not self._chains:
                ended.append(one)
                continue
            chain = self._chains.pop(lane, None) or _RequestChain(request, request, patience_s)
            sent, pause_s = chain.request, self._next(chain, outcome)
            if pause_s is not None:
                chain.earlier += (*outcome.earlier, (sent, outcome, time.time()))
                self._chains[lane] = chain
                self._launch(lane, pause_s)
                sent_on = True
            else:
                ended.append((lane, _told(chain, outcome)))
        if sent_on:
            self._inner.flush()
        return ended

    def waited_s(self, lane: int) -> float:
        """Return the seconds since the request on a lane was sent; 0 if none is in flight."""
        return 0.0 if lane in self._waiting else self._inner.waited_s(lane)

    def close(self) -> None:
        for state in (self._flying, self._chains, self._waiting):
            state.clear()
        self._inner.close()

    def _policy(self, request: WireRequest) -> HttpSettings:
        return travelling(request, self._usual)

    def _launch(self, lane: int, pause_s: float) -> None:
        chain = self._chains[lane]
        rate = self._policy(chain.request).rate
        earliest = self._clock() + pause_s
        chain.due = earliest
        if rate is not None and rate != AUTO:
            # A request that is sent twice at once takes two send times.
            chain.due = max(earliest, *(self._rates.of(rate).reserve() for _ in range(1 + chain.request.is_twice)))
        if chain.due <= self._clock():
            self._send_now(lane, chain.request, chain.patience_s)
        else:
            self._waiting.add(lane)

    def _send_now(self, lane: int, request: WireRequest, patience_s: float | None) -> None:
        self._flying[lane] = (request, patience_s)
        self._inner.start(lane, request, patience_s=patience_s)

    def _send_due(self, timeout_s: float) -> float:
        """Start the requests that are due, and return the time until the next one. Sleeps until then if none is in flight."""
        for lane in sorted(self._waiting, key=lambda one: self._chains[one].due):
            chain = self._chains[lane]
            pause_s = chain.due - self._clock()
            if pause_s > 0:
                timeout_s = min(timeout_s, pause_s)
                break
            self._waiting.discard(lane)
            self._send_now(lane, chain.request, chain.patience_s)
        if not self._flying:
            self._sleep(timeout_s)
            return 0.0
        self._inner.flush()
        return timeout_s

    def _next(self, chain: _RequestChain, outcome: Outcome) -> float | None:
        """Continue a chain and return the pause before its next request in seconds; None if the outcome ends the chain."""
        policy = self._policy(chain.first)
        if isinstance(outcome, NetworkFailure):
            # An outcome with `may_be_late` is left to the worker, which repeats the request on a new connection without
            # counting it.
            if outcome.kind not in _AGAIN or outcome.may_be_late or chain.retries >= policy.retries:
                return None
            chain.retries += 1
            return min(2.0 ** (chain.retries - 1), LONGEST_BACKOFF_S)
        status = outcome.status_code
        if status == _TOO_MANY and policy.rate == AUTO and chain.waits < MOST_WAITS:
            chain.waits += 1
            # `Retry-After` is in seconds or a date (RFC 9110, 10.2.3). It is limited, because a target may ask for a day.
            otherwise_s = 2.0 ** (chain.waits - 1)
            text = next(iter(outcome.headers.get("retry-after", [])), "").strip()
            seconds: float | None = None
            if text.isdigit() and len(text) < 10:
                seconds = float(text)
            else:
                with suppress(ValueError):
                    then = parsedate_to_datetime(text)
                    seconds = (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
            return min(max(otherwise_s if seconds is None else seconds, 0.0), LONGEST_WAIT_S)
        if 300 <= status < 400 and chain.redirects < policy.max_redirects:
            is_kept = chain.first.is_kept
            request = None
            if is_kept is None or not is_kept():
                request = following(self._origin, chain.request, outcome)
            if request is not None:
                chain.redirects += 1
                chain.request = request
                return 0.0
        return None


def _told(chain: _RequestChain, outcome: Outcome) -> Outcome:
    """Return the last outcome of a chain, with the earlier requests."""
    if not chain.earlier:
        return outcome
    earlier = (*chain.earlier, *outcome.earlier)
    if isinstance(outcome, NetworkFailure):
        return replace(outcome, earlier=earlier)
    outcome.earlier = earlier
    if chain.redirects:
        # The response belongs to the first request. The number of redirects shows that it was redirected.
        outcome.request, outcome.redirects = chain.first, chain.redirects
    return outcome
