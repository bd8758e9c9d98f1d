"""One vector for each trap of libcurl that would change what is sent or what is seen."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.config.operation_settings import HttpSettings
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import send_alone
from checker.transport.http import HttpLanes


def head(*lines: bytes) -> bytes:
    return b"".join(line + b"\r\n" for line in (*lines, b""))


def request(method="GET", target=b"/", headers=(), body=None) -> WireRequest:
    return WireRequest(method, target, list(headers), body)


@pytest.fixture
def lanes(server):
    opened = HttpLanes(server.origin, HttpSettings(timeout_s=2.0), 1)
    yield opened
    opened.close()


def ok(outcome: Outcome) -> Response:
    assert isinstance(outcome, Response), outcome
    return outcome


def failed(outcome: Outcome) -> NetworkFailure:
    assert isinstance(outcome, NetworkFailure), outcome
    return outcome


# 1, 2: what would raise in setopt, or break the message apart


@pytest.mark.parametrize(
    "wanted",
    [
        request(target=b"/\0"),
        request(target=b"/a\r\nX-Evil: 1"),
        request(headers=[(b"X-A", b"1\n2")]),
        request(headers=[(b"X-A\r", b"1")]),
        request(headers=[(b"X-A", b"\0")]),
        request(method="GET\r\n"),
        request(headers=[(b"", b"1")]),
        request(headers=[(b"a:b", b"")]),
        request(headers=[(b"a;b", b" ")]),
        request(method="HEAD", body=b"{}"),
    ],
)
def test_what_cannot_be_sent_is_an_outcome_and_harms_nobody(server, lanes, wanted) -> None:
    outcome = failed(send_alone(lanes, wanted))
    assert outcome.kind is FailureKind.UNSENDABLE
    assert not server.received
    assert ok(send_alone(lanes, request())).content == b"ok"


def test_an_unsendable_request_comes_back_from_poll(lanes) -> None:
    lanes.start(0, request(target=b"/\0"))
    assert lanes.busy() == 1
    [(lane, outcome)] = lanes.poll(0)
    assert (lane, failed(outcome).kind) == (0, FailureKind.UNSENDABLE)
    assert lanes.busy() == 0


def test_bodies_may_hold_any_byte(server, lanes) -> None:
    body = bytes(range(256))
    send_alone(lanes, request("POST", body=body))
    assert server.received[0].body == body


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(target=st.binary(max_size=20).filter(lambda raw: not set(raw) & {0, 10, 13}))
def test_any_target_travels_untouched(shared_server, target) -> None:
    lanes = HttpLanes(shared_server.origin, HttpSettings(), 1)
    try:
        send_alone(lanes, request(target=target))
    finally:
        lanes.close()
    assert shared_server.received[-1].head[0] == b"GET " + target + b" HTTP/1.1"


@pytest.mark.parametrize("target", [b"/a/../b/./c", b"//x", b"/%2e%2e/%zz", b"/\\#?#", b"/\xff \x7f"])
def test_odd_targets_travel_untouched(server, lanes, target) -> None:
    send_alone(lanes, request(target=target))
    assert server.received[0].head[0] == b"GET " + target + b" HTTP/1.1"


# 3, 4: headers


def test_headers_are_sent_as_given(server, lanes) -> None:
    send_alone(
        lanes,
        request(
            headers=[
                (b"X-Dup", b"1"),
                (b"x-dup", b"2"),
                (b"X-Empty", b""),
                (b"X-Blank", b"  "),
                (b"X-Bytes", bytes(set(range(1, 256)) - {10, 13})),
                (b"odd name", b"; , :"),
            ]
        ),
    )
    assert server.received[0].head[2:] == [
        b"X-Dup: 1",
        b"x-dup: 2",
        b"X-Empty:",
        b"X-Blank:",
        b"X-Bytes: " + bytes(set(range(1, 256)) - {10, 13}),
        b"odd name: ; , :",
    ]


def test_nothing_is_added_but_the_host(server, lanes) -> None:
    send_alone(lanes, request())
    port = server.origin.port
    assert server.received[0].head == [b"GET / HTTP/1.1", b"Host: 127.0.0.1:%d" % port]


def test_headers_of_the_last_request_are_gone(server, lanes) -> None:
    send_alone(lanes, request(headers=[(b"X-A", b"1")]))
    send_alone(lanes, request())
    assert server.received[1].values(b"X-A") == []


def test_a_host_of_the_case_replaces_ours(server, lanes) -> None:
    send_alone(lanes, request(headers=[(b"Host", b"elsewhere")]))
    assert server.received[0].values(b"Host") == [b"elsewhere"]


# 5, 6, 7, 8: methods and bodies on a reused handle


def test_a_body_does_not_outlive_its_request(server, lanes) -> None:
    for method, body in [
        ("POST", b"one"),
        ("GET", None),
        ("DELETE", None),
        ("HEAD", None),
        ("PATCH", b"two"),
        ("HEAD", None),
        ("GET", None),
        ("GET", b"three"),
        ("POST", None),
        ("QUERY", b""),
    ]:
        if method == "HEAD":
            server.scripts = [[head(b"HTTP/1.1 200 OK", b"Content-Length: 5")] * 20]
        else:
            server.scripts = [[b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"] * 20]
        response = ok(send_alone(lanes, request(method, body=body)))
        received = server.received[-1]
        assert received.head[0] == f"{method} / HTTP/1.1".encode()
        assert received.body == (body or b"")
        assert response.content == (b"" if method == "HEAD" else b"ok")
        length = [] if body is None else [b"%d" % len(body)]
        assert received.values(b"Content-Length") == length
        assert received.values(b"Content-Type") == []
    assert {received.connection for received in server.received} == {0}


def test_a_large_body_waits_for_no_permission(server, lanes) -> None:
    body = b"x" * 1_200_000
    ok(send_alone(lanes, request("POST", body=body)))
    assert server.received[0].values(b"Expect") == []
    assert server.received[0].body == body


# 9: lengths of the case's own


def test_a_length_of_the_case_s_own_costs_the_connection(server, lanes) -> None:
    send_alone(lanes, request("POST", headers=[(b"Content-Length", b"2")], body=b"ok"))
    send_alone(lanes, request())
    send_alone(lanes, request())
    assert [received.connection for received in server.received] == [0, 1, 1]
    assert server.received[0].values(b"Content-Length") == [b"2"]


# 10: the silent resend


@pytest.mark.parametrize(("method", "body"), [("POST", b"pay"), ("GET", None), ("DELETE", None)])
def test_a_request_on_a_dying_connection_is_sent_once(server, lanes, method, body) -> None:
    server.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"")
    assert ok(send_alone(lanes, request())).content == b"ok"
    outcome = failed(send_alone(lanes, request(method, b"/second", body=body)))
    assert outcome.kind is FailureKind.DROPPED
    assert outcome.message.endswith("(a connection that had been used before)")
    assert [received.head[0].split()[1] for received in server.received] == [b"/", b"/second"]
    assert ok(send_alone(lanes, request(target=b"/third"))).content == b"ok"
    assert len(server.received) == 3


def test_a_connection_that_was_closed_while_idle_is_no_drop(server, lanes) -> None:
    def reply(connection, _stopped) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    server.answer(reply)
    ok(send_alone(lanes, request()))
    server.join_connection(0)
    assert ok(send_alone(lanes, request("POST", body=b"x"))).content == b"ok"
    assert [received.connection for received in server.received] == [0, 1]


def test_fresh_means_a_new_connection(server, lanes) -> None:
    for fresh in (False, False, True, False):
        send_alone(lanes, replace(request(), fresh=fresh))
    assert [received.connection for received in server.received][:3] == [0, 0, 1]


# 11: several header blocks


def test_the_last_header_block_is_the_response(server, lanes) -> None:
    server.answer(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        b"HTTP/1.1 201 Created\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n"
    )
    response = ok(send_alone(lanes, request()))
    assert (response.status_code, response.message, response.content) == (201, "Created", b"ok")
    assert response.raw_headers == [("X-A", "1"), ("Transfer-Encoding", "chunked")]
    assert response.header_lines is not None
    assert b"X-Trailer: 1\r\n" in response.header_lines


# 12: malformed answers


@pytest.mark.parametrize(
    ("reply", "kind", "status"),
    [
        (b"garbage\r\n\r\n", FailureKind.MALFORMED, None),
        (b"HTTP/1.1 abc\r\n\r\n", FailureKind.MALFORMED, None),
        (b"HTTP/9.9 200 OK\r\n\r\n", FailureKind.MALFORMED, None),
        (head(b"HTTP/1.1 200 OK", b"X: a\0b"), FailureKind.MALFORMED, 200),
        (head(b"HTTP/1.1 200 OK", b"Content-Length: -1"), FailureKind.MALFORMED, 200),
        (head(b"HTTP/1.1 200 OK", b"Content-Length: 1", b"Content-Length: 2"), FailureKind.MALFORMED, 200),
        (head(b"HTTP/1.1 200 OK", b"X: " + b"a" * 400_000), FailureKind.TOO_LARGE, 200),
        (head(b"HTTP/1.1 200 OK", b"Transfer-Encoding: odd") + b"x", FailureKind.MALFORMED, 200),
        (head(b"HTTP/1.1 200 OK", b"Transfer-Encoding: chunked") + b"zz\r\n", FailureKind.MALFORMED, 200),
        (b"", FailureKind.DROPPED, None),
    ],
)
def test_malformed_answers_are_outcomes_that_keep_what_arrived(server, lanes, reply, kind, status) -> None:
    server.answer(reply)
    outcome = failed(send_alone(lanes, request()))
    assert outcome.kind is kind, outcome
    assert (outcome.partial.status_code if outcome.partial else None) == status
    assert ok(send_alone(lanes, request())).content == b"ok"


def test_a_body_that_is_cut_short_is_a_drop_with_its_beginning(server, lanes) -> None:
    def reply(connection, _stopped) -> None:
        connection.sendall(head(b"HTTP/1.1 200 OK", b"Content-Length: 10") + b"half")

    server.answer(reply)
    outcome = failed(send_alone(lanes, request()))
    assert outcome.kind is FailureKind.DROPPED
    assert outcome.partial is not None
    assert (outcome.partial.content, outcome.partial.content_size) == (b"half", 10)


def test_nobody_listens(server) -> None:
    origin = server.origin
    server.stop()
    lanes = HttpLanes(origin, HttpSettings(), 1)
    assert failed(send_alone(lanes, request())).kind is FailureKind.REFUSED
    lanes.close()


# 13: odd answers that libcurl takes


@pytest.mark.parametrize(
    ("reply", "status", "content"),
    [
        (head(b"HTTP/1.1 999 Odd", b"Content-Length: 0"), 999, b""),
        (head(b"HTTP/1.1 200", b"Content-Length: 0"), 200, b""),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, b"ok"),
        (head(b"HTTP/1.1 200 OK", b"Connection: close") + b"rest", 200, b"rest"),
        (head(b"HTTP/1.1 200 OK", b"Content-Length: 2", b"Connection: close") + b"okmore", 200, b"ok"),
        (head(b"HTTP/1.0 200 OK", b"Content-Length: 2") + b"ok", 200, b"ok"),
    ],
)
def test_odd_answers_are_responses(server, lanes, reply, status, content) -> None:
    server.answer(reply)
    response = ok(send_alone(lanes, request()))
    assert (response.status_code, response.content) == (status, content)
    assert response.header_lines is not None
    assert response.header_lines[0].strip() == reply.split(b"\n")[0].strip()


def test_folded_and_odd_headers_are_read(server, lanes) -> None:
    server.answer(
        head(b"HTTP/1.1 200 OK", b"X-Folded: a", b"  b", b"x-dup:1", b"X-Dup: \xe9", b"X-Empty:", b"Content-Length: 0")
    )
    response = ok(send_alone(lanes, request()))
    assert response.headers["x-folded"] == ["a b"]
    assert response.headers["x-dup"] == ["1", "é"]
    assert response.headers["x-empty"] == [""]
