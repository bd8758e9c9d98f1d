"""Requests one after the other, by whatever answers them."""

from checker.config.operation_settings import HttpSettings
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.transport.applications import BlockingTransport


def request(name: str) -> WireRequest:
    return WireRequest("GET", name.encode(), [])


class Seen:
    def __init__(self) -> None:
        self.requests: list[tuple[bytes, float]] = []
        self.is_closed = False
        self.transport = BlockingTransport(self._answer, HttpSettings(timeout_s=5.0), close=self._close)

    def _answer(self, request: WireRequest, limit_s: float) -> Outcome:
        self.requests.append((request.target, limit_s))
        return Response(200, [], request.target)

    def _close(self) -> None:
        self.is_closed = True


def test_requests_are_answered_in_turn_one_for_each_look() -> None:
    seen = Seen()
    for lane, name in ((1, "/b"), (0, "/a")):
        seen.transport.start(lane, request(name))
    seen.transport.flush()
    assert seen.requests == []
    found = [
        (lane, outcome.content)
        for _ in range(3)
        for lane, outcome in seen.transport.poll(0.0)
        if isinstance(outcome, Response)
    ]
    assert found == [(1, b"/b"), (0, b"/a")]


def test_patience_is_never_longer_than_the_time_limit() -> None:
    seen = Seen()
    for patience_s in (None, 1.0, 9.0):
        seen.transport.start(0, request("/"), patience_s=patience_s)
        seen.transport.poll(0.0)
    assert [limit_s for _, limit_s in seen.requests] == [5.0, 1.0, 5.0]


def test_what_waits_is_dropped_at_the_end() -> None:
    seen = Seen()
    seen.transport.start(0, request("/a"))
    seen.transport.close()
    assert seen.is_closed
    assert seen.transport.poll(0.0) == []
