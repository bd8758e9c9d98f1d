import ssl
from pathlib import Path

import pytest

from checker.config.operation_settings import HttpSettings
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import send_alone
from checker.transport.http import HttpLanes
from checker.transport.settings import HttpChanges

from .conftest import RawServer

CERT = Path(__file__).parent.parent / "data" / "tls" / "cert.pem"


@pytest.fixture
def tls_server(server: RawServer) -> RawServer:
    server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.tls.load_cert_chain(CERT, CERT.with_name("key.pem"))
    return server


def exchange(server, count: int, verify: bool | str) -> list[Outcome]:
    lanes = HttpLanes(server.origin, HttpSettings(verify=verify), 1)
    try:
        return [send_alone(lanes, WireRequest("GET", b"/", [])) for _ in range(count)]
    finally:
        lanes.close()


@pytest.mark.parametrize("verify", [False, str(CERT)])
def test_connections_are_kept_over_tls(tls_server, verify) -> None:
    outcomes = exchange(tls_server, 3, verify)
    assert [one.content for one in outcomes if isinstance(one, Response)] == [b"ok"] * 3
    assert [received.connection for received in tls_server.received] == [0, 0, 0]


def test_responses_say_whether_the_certificate_was_verified(tls_server) -> None:
    [outcome] = exchange(tls_server, 1, verify=False)
    assert isinstance(outcome, Response)
    assert not outcome.verify


def test_one_request_may_want_no_look_at_the_certificate(tls_server) -> None:
    lanes = HttpLanes(tls_server.origin, HttpSettings(), 1)
    changed = WireRequest("GET", b"/", [], via=HttpChanges(verify=False))
    try:
        outcomes = [send_alone(lanes, one) for one in (changed, WireRequest("GET", b"/", []))]
    finally:
        lanes.close()
    assert [type(one) for one in outcomes] == [Response, NetworkFailure]


def test_an_unknown_authority_is_refused(tls_server) -> None:
    [outcome] = exchange(tls_server, 1, verify=True)
    assert isinstance(outcome, NetworkFailure)
    assert outcome.kind is FailureKind.OTHER
    assert "certificate" in outcome.message
    assert not tls_server.received


def test_one_lane_serves_operations_of_different_trust(tls_server) -> None:
    """A connection that was opened without a look at its certificate serves nobody who wants one."""
    lax = HttpSettings(verify=False)
    lanes = HttpLanes(tls_server.origin, HttpSettings(), 1)
    try:
        outcomes = [send_alone(lanes, WireRequest("GET", b"/", [], via=via)) for via in (lax, None, lax, None)]
    finally:
        lanes.close()
    assert [isinstance(one, Response) for one in outcomes] == [True, False, True, False]
    assert len(tls_server.received) == 2
