"""Answers that libcurl takes, or gives up, and that a reader could stumble over."""

import socket
import threading

import pytest

from checker.config.operation_settings import HttpSettings
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import send_alone
from checker.transport.http import HttpLanes
from tests.transport.conftest import RawServer

CLOSING = b"Connection: close\r\n\r\n"


def sent(server: RawServer, settings: HttpSettings | None = None) -> Outcome:
    lanes = HttpLanes(server.origin, settings or HttpSettings(), 1)
    try:
        return send_alone(lanes, WireRequest("GET", b"/", []))
    finally:
        lanes.close()


@pytest.mark.parametrize("status", [b"9" * 5000, b"20\xb2", b"2000", b"99", b"-200", b"ok", b""])
def test_a_status_that_is_none_is_malformed(server: RawServer, status: bytes) -> None:
    server.answer(b"HTTP/1.1 %b Odd\r\n%b" % (status, CLOSING))
    outcome = sent(server)
    assert isinstance(outcome, NetworkFailure)
    assert outcome.kind is FailureKind.MALFORMED
    assert outcome.message


@pytest.mark.parametrize("digits", [19, 5000])
def test_a_length_beyond_numbers_says_nothing_of_the_size(server: RawServer, digits: int) -> None:
    server.answer(b"HTTP/1.1 200 OK\r\nContent-Length: %b\r\n\r\n0123456789" % (b"9" * digits))
    outcome = sent(server, HttpSettings(max_response_bytes=5))
    assert isinstance(outcome, Response)
    assert outcome.is_truncated
    assert outcome.content == b"01234"
    assert outcome.content_size == 10


def test_an_answer_that_ends_in_its_headers_is_no_answer(server: RawServer) -> None:
    start = b"HTTP/1.1 200 OK\r\nContent-Type: application/js"
    server.answer(lambda connection, stopped: connection.sendall(start))
    outcome = sent(server)
    assert isinstance(outcome, NetworkFailure)
    assert outcome.kind is FailureKind.DROPPED
    assert outcome.message == "the connection was closed in the middle of the response"
    assert outcome.partial is not None
    assert outcome.partial.status_code == 200


def test_interim_answers_have_a_limit(server: RawServer) -> None:
    def flood(connection: socket.socket, stopped: threading.Event) -> None:
        while not stopped.is_set():
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)

    server.answer(flood)
    outcome = sent(server)
    assert isinstance(outcome, NetworkFailure)
    assert outcome.kind is FailureKind.TOO_LARGE
    assert "at most 300 KB" in outcome.message


def test_of_a_long_reason_phrase_the_beginning_is_kept(server: RawServer) -> None:
    server.answer(b"HTTP/1.1 200 %b\r\n%b" % (b"R" * 9000, CLOSING))
    outcome = sent(server)
    assert isinstance(outcome, Response)
    assert set(outcome.message) == {"R"}
    assert len(outcome.message) <= 4096
