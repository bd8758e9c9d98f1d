"""Lanes: many requests at once, limits of size and time, honest clocks."""

import os
import resource
import threading
import time
from contextlib import closing
from dataclasses import replace

import psutil
import pytest

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import send_alone
from checker.transport.http import HttpLanes

from .conftest import OK

CHUNK = b"x" * 1000


def request(target=b"/", method="GET", headers=(), body=None) -> WireRequest:
    return WireRequest(method, target, list(headers), body)


@pytest.fixture
def open_lanes(server):
    opened = []

    def build(lanes=1, **settings) -> HttpLanes:
        opened.append(HttpLanes(server.origin, HttpSettings(**settings), lanes))
        return opened[-1]

    yield build
    for lanes in opened:
        lanes.close()


def ok(outcome: Outcome) -> Response:
    assert isinstance(outcome, Response), outcome
    return outcome


def endless(start: bytes, chunk: bytes, pause_s: float):
    """Reply that never ends by itself."""

    def reply(connection, stopped) -> None:
        connection.sendall(start)
        while not stopped.wait(pause_s):
            connection.sendall(chunk)

    return reply


# several lanes


def collect(lanes: HttpLanes, count: int) -> dict[int, Outcome]:
    found: dict[int, Outcome] = {}
    while len(found) < count:
        for lane, outcome in lanes.poll(1.0):
            assert lane not in found
            found[lane] = outcome
    return found


def test_every_lane_gets_its_own_answer(server, open_lanes) -> None:
    server.scripts = [[b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number] * 20 for number in range(8)]
    lanes = open_lanes(8)
    for turn in range(5):
        for lane in range(8):
            lanes.start(lane, request(b"/%d/%d" % (turn, lane)))
        assert lanes.busy() == 8
        lanes.flush()
        found = collect(lanes, 8)
        for lane, outcome in found.items():
            response = ok(outcome)
            assert response.request is not None
            assert response.request.target == b"/%d/%d" % (turn, lane)
            connection = int(response.content)
            assert any(
                received.connection == connection and received.head[0] == b"GET /%d/%d HTTP/1.1" % (turn, lane)
                for received in server.received
            )
    assert lanes.busy() == 0
    assert len(server.received) == 40


class Enough(Exception):
    pass


def test_a_request_can_be_abandoned(server, open_lanes) -> None:
    lanes = open_lanes(1)
    server.scripts += [[lambda _, stopped: stopped.wait()]]
    asked = []

    def meanwhile() -> None:
        asked.append(lanes.busy())
        if len(asked) == 2:
            raise Enough

    with pytest.raises(Enough):
        send_alone(lanes, request(target=b"/hangs"), meanwhile=meanwhile)
    assert asked == [1, 1]


def test_a_busy_lane_takes_nothing(open_lanes) -> None:
    lanes = open_lanes(1)
    lanes.start(0, request())
    with pytest.raises(ValueError, match="busy"):
        lanes.start(0, request())


def test_poll_sends_what_was_not_flushed(open_lanes) -> None:
    lanes = open_lanes(1)
    lanes.start(0, request())
    assert ok(collect(lanes, 1)[0]).content == b"ok"


def test_poll_without_work_does_not_wait(open_lanes) -> None:
    assert open_lanes(2).poll(1e6) == []


def test_closing_drops_what_is_in_flight(server, open_lanes) -> None:
    server.answer(endless(b"", b"", 5))
    lanes = open_lanes(2)
    lanes.start(0, request())
    lanes.flush()
    lanes.start(1, request())
    lanes.close()
    assert len(server.received) <= 1


# limits


def test_a_dripping_server_cannot_outlive_the_time_limit(server, open_lanes) -> None:
    server.answer(endless(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", b"x", 0.02))
    lanes = open_lanes(timeout_s=1.5)
    outcome = send_alone(lanes, request())
    assert isinstance(outcome, NetworkFailure)
    assert outcome.kind is FailureKind.TIMEOUT
    assert outcome.message == "no complete response within 1.5 s"
    assert outcome.elapsed > 1.4
    assert outcome.partial is not None
    assert outcome.partial.content.startswith(b"x")
    assert outcome.partial.is_truncated


def test_dripping_headers_cannot_either(server, open_lanes) -> None:
    server.answer(endless(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n", 0.02))
    outcome = send_alone(open_lanes(timeout_s=0.2), request())
    assert isinstance(outcome, NetworkFailure)
    assert outcome.kind is FailureKind.TIMEOUT


def test_a_request_can_be_given_up_sooner_than_the_others(server, open_lanes) -> None:
    server.answer(endless(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", b"x", 0.02))
    lanes = open_lanes(timeout_s=1.5)
    lanes.start(0, request(), patience_s=0.1)
    outcome = collect(lanes, 1)[0]
    assert isinstance(outcome, NetworkFailure)
    assert outcome.kind is FailureKind.GIVEN_UP
    server.answer(endless(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", b"x", 0.02))
    patient = send_alone(lanes, request())
    assert isinstance(patient, NetworkFailure)
    assert patient.kind is FailureKind.TIMEOUT


def test_each_request_has_the_time_of_its_own_settings(server, open_lanes) -> None:
    server.answer(endless(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", b"x", 0.02))
    lanes = open_lanes()
    hasty = send_alone(lanes, replace(request(), via=HttpSettings(timeout_s=0.05)))
    assert isinstance(hasty, NetworkFailure)
    assert hasty.message == "no complete response within 0.05 s"
    assert ok(send_alone(lanes, request())).status_code == 200


def test_nothing_of_a_request_is_left_for_one_that_travels_otherwise(server, open_lanes) -> None:
    server.answer(OK, b"HTTP/1.1 200 OK\r\n\r\n")
    lanes, other = open_lanes(), HttpSettings(timeout_s=7.0)
    ok(send_alone(lanes, request(method="PUT", body=b"body")))
    ok(send_alone(lanes, replace(request(method="HEAD"), via=other)))
    ok(send_alone(lanes, replace(request(), via=other)))
    ok(send_alone(lanes, request()))
    sent = [(one.head[0].split()[0], one.body) for one in server.received]
    assert sent == [(b"PUT", b"body"), (b"HEAD", b""), (b"GET", b""), (b"GET", b"")]
    assert {one.connection for one in server.received} == {0}


def test_an_endless_body_is_cut(server, open_lanes) -> None:
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    server.answer(endless(start, b"3e8\r\n" + CHUNK + b"\r\n", 0))
    response = ok(send_alone(open_lanes(max_response_bytes=10_500), request()))
    assert response.content == (CHUNK * 11)[:10_500]
    assert response.is_truncated


def test_a_long_body_is_cut_and_says_how_long_it_was(server, open_lanes) -> None:
    server.answer(endless(b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n", CHUNK, 0))
    lanes = open_lanes(max_response_bytes=2500)
    response = ok(send_alone(lanes, request()))
    assert (len(response.content), response.content_size) == (2500, 5_000_000)
    assert not ok(send_alone(lanes, request())).is_truncated


def test_a_body_of_exactly_the_limit_is_whole(server, open_lanes) -> None:
    server.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + CHUNK)
    response = ok(send_alone(open_lanes(max_response_bytes=1000), request()))
    assert response.content == CHUNK
    assert not response.is_truncated


@pytest.mark.parametrize("limits", [{"stream_time_s": 1.0}, {"timeout_s": 1.5}])
def test_an_endless_event_stream_is_sampled(server, open_lanes, limits) -> None:
    start = b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream\r\n\r\n"
    server.answer(endless(start, b"data: 1\n\n", 0.05))
    response = ok(send_alone(open_lanes(**limits), request()))
    assert response.content.startswith(b"data: 1\n\n")
    assert response.is_truncated


# clocks


class Clock:
    """Stands still but for what is said to have taken time."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.looks = 0
        self.is_waiting = threading.Event()

    def __call__(self) -> float:
        self.looks += 1
        if self.looks == LOOKS_BEFORE_WAITING:
            self.is_waiting.set()
        return self.now_s


LOOKS_BEFORE_WAITING = 3
"""At the clock by `poll`: for its deadline, on arriving, in its first round."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed_lanes(server, clock):
    with closing(HttpLanes(server.origin, HttpSettings(), 1, clock)) as lanes:
        yield lanes


def test_our_own_stalls_are_not_the_server_s(timed_lanes, clock) -> None:
    ok(send_alone(timed_lanes, request()))
    timed_lanes.start(0, request())
    timed_lanes.flush()
    clock.now_s += 0.5
    response = ok(collect(timed_lanes, 1)[0])
    assert response.elapsed == 0
    assert timed_lanes.stalled_s == 0.5


def test_what_the_server_takes_is_its_own(server, timed_lanes, clock) -> None:
    def reply(connection, stopped) -> None:
        clock.is_waiting.wait()
        clock.now_s += 0.5
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    server.answer(reply)
    timed_lanes.start(0, request())
    timed_lanes.flush()
    clock.looks = 0
    clock.is_waiting.clear()
    assert ok(collect(timed_lanes, 1)[0]).elapsed == 0.5
    assert timed_lanes.stalled_s == 0


def test_a_redirect_is_the_response(server, open_lanes) -> None:
    server.answer(b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n")
    assert ok(send_alone(open_lanes(1), request())).headers["location"] == ["/next"]
    assert len(server.received) == 1


def test_cookies_of_a_response_are_not_sent_back(server, open_lanes) -> None:
    server.answer(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n")
    lanes = open_lanes(1)
    for _ in range(2):
        ok(send_alone(lanes, request()))
    assert server.received[1].values(b"Cookie") == []


def test_all_lanes_recover_when_the_server_has_hung_up(server, open_lanes) -> None:
    def reply(connection, _stopped) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    for _ in range(4):
        server.answer(reply)
    lanes = open_lanes(4)
    for turn in range(2):
        for lane in range(4):
            lanes.start(lane, request(method="POST", body=b"%d" % turn))
        assert all(ok(outcome).content == b"ok" for outcome in collect(lanes, 4).values())
        if turn == 0:
            for connection in range(4):
                server.join_connection(connection)
    assert len(server.received) == 8


def test_proxy_of_the_environment_is_not_used(monkeypatch, open_lanes) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert ok(send_alone(open_lanes(1), request())).content == b"ok"


def test_an_http_proxy_gets_an_absolute_target(server, open_lanes) -> None:
    origin = server.origin
    lanes = open_lanes(proxy=origin.url)
    assert ok(send_alone(lanes, request(b"/a?b"))).content == b"ok"
    assert server.received[0].head[0] == f"GET {origin.url}/a?b HTTP/1.1".encode()


def test_descriptors_beyond_select_neither_stop_nor_spin(server) -> None:
    looks = 0

    def now() -> float:
        nonlocal looks
        looks += 1
        return time.perf_counter()

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("the system lets this process open fewer than 2048 files, and this test needs more than 1024")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]

    def reply(connection, stopped) -> None:
        stopped.wait(0.3)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    try:
        server.answer(reply)
        with closing(HttpLanes(server.origin, HttpSettings(), 1, now)) as lanes:
            assert ok(send_alone(lanes, request())).content == b"ok"
        # Spinning would look at the clock 100,000 times.
        assert looks < 5_000
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_request_that_nobody_can_send_costs_itself() -> None:
    lanes = HttpLanes(BaseUrl("http", "127.0.0.1", 9, ""), HttpSettings(), 1)
    try:
        lanes.start(0, WireRequest("GET", 5, []))  # type: ignore[arg-type]
        ((lane, outcome),) = lanes.poll(0.0)
    finally:
        lanes.close()
    assert lane == 0
    assert isinstance(outcome, NetworkFailure)
    assert isinstance(outcome.cause, AttributeError | TypeError)
    assert "the request could not be sent" in outcome.message


def test_a_stream_is_not_listened_to_beyond_its_events(server) -> None:
    start = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    server.answer(endless(start, b"data: 1\r\n\r\n", 0.01))
    settings = HttpSettings(max_stream_events=3, stream_time_s=30.0)
    with closing(HttpLanes(server.origin, settings, 1)) as lanes:
        outcome = ok(send_alone(lanes, request()))
    assert outcome.is_truncated
    assert outcome.content.count(b"data") >= 3
    # Whoever listened on would have heard thousands of them until the limit of 30 s.
    assert outcome.content.count(b"data") < 1000


@pytest.mark.thorough
def test_new_connections_do_not_add_up(server, open_lanes) -> None:
    process, lanes = psutil.Process(), open_lanes()
    opened = []
    for _ in range(60):
        wanted = request()
        wanted.fresh = True
        ok(send_alone(lanes, wanted))
        opened.append(sum(one.raddr[1:] == (server.origin.port,) for one in process.net_connections("tcp")))
    assert max(opened[30:]) == max(opened[:30]) < 20
