"""Redirects, retries and rates: over a transport that answers by script, and over the network."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.operation_settings import HttpSettings
from checker.core.request import LONGEST_TARGET, BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import send_alone
from checker.transport.factories import NETWORK, with_policies
from checker.transport.policies import PolicyTransport, RateLimits

from .conftest import RawServer

ORIGIN = BaseUrl("http", "127.0.0.1", 8080, "")


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Scripted:
    """Answers at once, by script; then with 200. Notes what it was asked, and when."""

    clock: Clock
    script: list[Callable[[WireRequest], Outcome]] = field(default_factory=list)
    asked: list[tuple[float, WireRequest]] = field(default_factory=list)
    started: list[tuple[int, WireRequest]] = field(default_factory=list)

    def start(self, lane: int, request: WireRequest, *, patience_s: float | None = None) -> None:
        self.started.append((lane, request))
        self.asked.append((self.clock.now, request))

    def flush(self) -> None:
        pass

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        found = [(lane, self._answer(request)) for lane, request in self.started]
        self.started.clear()
        return found

    def waited_s(self, lane: int) -> float:
        return 0.0

    def close(self) -> None:
        pass

    def _answer(self, request: WireRequest) -> Outcome:
        return self.script.pop(0)(request) if self.script else answer(200)(request)


def answer(status: int, **headers: str) -> Callable[[WireRequest], Outcome]:
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return lambda request: Response(status, named, b"", request=request)


def failing(kind: FailureKind) -> Callable[[WireRequest], Outcome]:
    return lambda request: NetworkFailure(kind, "nobody answered", 0.0)


def transport(
    *script: Callable[[WireRequest], Outcome], rates: RateLimits | None = None, **settings: object
) -> tuple[PolicyTransport, Scripted]:
    clock = rates.clock if rates is not None else Clock()
    assert isinstance(clock, Clock)
    inner = Scripted(clock, list(script))
    limits = rates or RateLimits(clock=clock)
    http = replace(HttpSettings(), **settings)
    return PolicyTransport(inner, ORIGIN, http, limits, sleep=clock.sleep), inner


def sent(policies: PolicyTransport, request: WireRequest) -> Any:
    return send_alone(policies, request)


POST = WireRequest("POST", b"/a?x=1", [(b"Content-Type", b"text/plain"), (b"X-Key", b"k")], b"body")


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [(301, "GET", None), (302, "GET", None), (303, "GET", None), (307, "POST", b"body"), (308, "POST", b"body")],
)  # fmt: skip
def test_a_redirect_of_the_same_site_is_followed(status, method, body) -> None:
    policies, inner = transport(answer(status, location="../b?y=2#part"))
    outcome = sent(policies, POST)
    assert outcome.status_code == 200
    assert outcome.redirects == 1
    assert outcome.request is POST
    (_, first), (_, second) = inner.asked
    assert first is POST
    assert (second.method, second.target, second.body) == (method, b"/b?y=2", body)
    assert second.header(b"x-key") == b"k"
    assert (second.header(b"content-type") is None) is (body is None)


@pytest.mark.parametrize(
    "place",
    ["http://elsewhere.test/", "http://127.0.0.1:8081/", "https://127.0.0.1:8080/", "//other.test/", "http://u:p@127.0.0.1:8080/", "http://[", "/\u00e9"],
)  # fmt: skip
def test_credentials_never_leave_their_site(place: str) -> None:
    policies, inner = transport(answer(302, location=place))
    assert sent(policies, POST).status_code == 302
    assert len(inner.asked) == 1


@pytest.mark.parametrize(("more", "asked"), [(0, 2), (1, 1)])
def test_what_is_longer_than_servers_take_is_not_followed(more: int, asked: int) -> None:
    policies, inner = transport(answer(302, location="/" + "a" * (LONGEST_TARGET - 1 + more)))
    sent(policies, POST)
    assert len(inner.asked) == asked


@pytest.mark.parametrize(("most", "hops"), [(0, 0), (2, 2), (30, 30)])
def test_no_more_redirects_than_are_allowed(most: int, hops: int) -> None:
    policies, inner = transport(*[answer(302, location="/again")] * 40, max_redirects=most)
    assert sent(policies, POST).status_code == 302
    assert len(inner.asked) == hops + 1


def test_a_documented_redirect_is_the_answer() -> None:
    policies, inner = transport(answer(302, location="/b"))
    assert sent(policies, dataclasses.replace(POST, is_kept=lambda: True)).status_code == 302
    assert len(inner.asked) == 1


def test_what_nobody_answered_is_sent_again_with_longer_and_longer_pauses() -> None:
    kinds = [FailureKind.REFUSED, FailureKind.TIMEOUT, FailureKind.DROPPED, FailureKind.DNS] * 2
    policies, inner = transport(*map(failing, kinds), retries=6)
    outcome = sent(policies, POST)
    assert outcome.kind is FailureKind.DROPPED
    times = [at for at, _ in inner.asked]
    assert [after - before for before, after in pairwise(times)] == (pytest.approx([1, 2, 4, 8, 10, 10]))


@pytest.mark.parametrize("kind", [FailureKind.UNSENDABLE, FailureKind.GIVEN_UP, FailureKind.OTHER])
def test_what_would_fail_again_is_not_sent_again(kind: FailureKind) -> None:
    policies, inner = transport(failing(kind), retries=3)
    assert sent(policies, POST).kind is kind
    assert len(inner.asked) == 1


@pytest.mark.parametrize(
    ("header", "pauses"),
    [({"retry_after": "7"}, [7, 7, 7]), ({}, [1, 2, 4]), ({"retry_after": "900"}, [60, 60, 60]), ({"retry_after": "soon"}, [1, 2, 4])],
)  # fmt: skip
def test_auto_waits_as_long_as_is_asked_for(header, pauses) -> None:
    policies, inner = transport(*[answer(429, **header)] * 5, rate="auto")
    assert sent(policies, POST).status_code == 429
    times = [at for at, _ in inner.asked]
    assert [after - before for before, after in pairwise(times)] == (pytest.approx(pauses))


def test_without_auto_429_is_an_answer() -> None:
    policies, inner = transport(answer(429, retry_after="7"))
    outcome = sent(policies, POST)
    assert isinstance(outcome, Response)
    assert outcome.status_code == 429
    assert len(inner.asked) == 1


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_workers_keep_to_one_rate_together(workers: int, tmp_path: Path) -> None:
    clock, lanes = Clock(), 8
    fleet = []
    for _ in range(workers):
        # Each with limits of its own, as in processes: what they share is the file.
        policies, inner = transport(rates=RateLimits(tmp_path, clock), rate="50/s")
        policies._sleep = lambda seconds: None
        fleet.append((policies, inner))
        for lane in range(lanes):
            policies.start(lane, POST)
    while clock.now < 10:
        clock.now += 0.001
        for policies, _ in fleet:
            for lane, _ in policies.poll(0.0):
                policies.start(lane, POST)
    times = sorted(at for _, inner in fleet for at, _ in inner.asked)
    most = max(sum(start <= at < start + 1 for at in times) for start in times)
    # What is granted is even; the time of the clock that it is noticed at is a thousandth late.
    assert most <= 51
    assert len(times) >= 0.95 * 50 * 10


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_grants_never_pass_the_rate_in_any_second(workers: int, tmp_path: Path) -> None:
    clock = Clock()
    limits = [RateLimits(tmp_path, clock).of("50/s") for _ in range(workers)]
    grants = []
    while clock.now < 20:
        grants += [limit.reserve() for limit in limits]
        clock.now = max(clock.now, grants[-1])
    assert grants == sorted(grants)
    assert max(sum(start <= at < start + 1 for at in grants) for start in grants) == 50
    assert len(grants) >= 0.95 * 50 * 20


def test_an_operation_has_a_rate_of_its_own() -> None:
    policies, inner = transport(rate="1/s")
    slow = dataclasses.replace(POST, via=replace(HttpSettings(), rate="1/m"))
    free = dataclasses.replace(POST, via=replace(HttpSettings(), rate=None))
    for request in (slow, slow, free, free, POST, POST):
        sent(policies, request)
    assert [round(at) for at, _ in inner.asked] == [0, 60, 60, 60, 60, 61]


@pytest.fixture
def network(server: RawServer) -> Iterator[PolicyTransport]:
    lanes = with_policies(NETWORK)(server.origin, HttpSettings(), 2)
    with closing(lanes):
        assert isinstance(lanes, PolicyTransport)
        yield lanes


def test_redirects_over_the_network(server: RawServer, network: PolicyTransport) -> None:
    server.answer(b"HTTP/1.1 303 See Other\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")
    outcome = sent(network, POST)
    assert isinstance(outcome, Response)
    assert (outcome.status_code, outcome.content, outcome.redirects) == (200, b"ok", 1)
    assert [one.head[0] for one in server.received] == [
        b"POST /a?x=1 HTTP/1.1", b"GET /there HTTP/1.1",
    ]  # fmt: skip
