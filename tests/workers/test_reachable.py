"""Whether a target can be reached, and the sentence when not."""

import socket

import pytest

from checker.core.request import BaseUrl
from checker.workers.reachable import unreachable, unreachable_proxy

ORIGIN = BaseUrl.from_url("http://api.example/v1")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "the name api.example is not known"),
        (TimeoutError("timed out"), "no connection within 2 s"),
        (OSError(113, "No route to host"), "no route to host"),
    ],
)
def test_the_reason_and_the_advice_are_one_sentence(error: OSError, reason: str) -> None:
    def connect(origin: BaseUrl, timeout_s: float) -> socket.socket:
        assert (origin, timeout_s) == (ORIGIN, 2.0)
        raise error

    assert unreachable(ORIGIN, 2.0, connect) == (
        f"nothing was tested: the API at http://api.example/v1 cannot be reached ({reason}); "
        "check that it runs there, or give its address with `--url`"
    )


def test_a_target_that_listens_is_reached_and_sent_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not unreachable(BaseUrl.from_url(f"http://127.0.0.1:{port}"), 2.0)
        link, _ = server.accept()
        with link:
            assert link.recv(1) == b""


@pytest.mark.parametrize(
    ("proxy", "place"),
    [
        ("http://user:pass@proxy.example:3128", "http://proxy.example:3128"),
        ("http://proxy.example", "http://proxy.example:1080"),
        ("https://proxy.example", "https://proxy.example"),
    ],
)
def test_a_proxy_that_is_not_there_is_named_without_its_password(proxy: str, place: str) -> None:
    def connect(origin: BaseUrl, timeout_s: float) -> socket.socket:
        assert origin.url == place
        raise ConnectionRefusedError(111, "Connection refused")

    assert unreachable_proxy(proxy, 2.0, connect) == (
        f"nothing was tested: the proxy at {place} cannot be reached (connection refused); "
        "check that it runs there, or give another one with `--proxy` (`HTTP_PROXY`, `NO_PROXY`)"
    )


def test_this_machine_by_name_is_looked_for_at_both_of_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def connected(address: tuple[str, int], timeout_s: float) -> socket.socket:
        asked.append(address)
        if address[0] == "127.0.0.1":
            raise ConnectionRefusedError(111, "Connection refused")
        return socket.socket()

    monkeypatch.setattr(socket, "create_connection", connected)
    assert not unreachable(BaseUrl.from_url("http://localhost:8080"), 2.0)
    assert asked == [("127.0.0.1", 8080), ("::1", 8080)]
