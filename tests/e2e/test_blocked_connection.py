"""A connection that does not come about is one sentence before anything is tested: what is wrong, and which option mends it."""

import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.e2e.runner import Command

CERT = Path(__file__).parent.parent / "data" / "tls" / "cert.pem"
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {f"/{one}": {"get": {"responses": {"200": {"description": ""}}}} for one in "ab"},
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_CONNECT(self) -> None:
        self.send_error(403)

    def log_message(self, *_: object) -> None:
        return


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Whoever breaks off a handshake is what is tested."""


def _served(*, tls: bool) -> Iterator[int]:
    server = _Server(("127.0.0.1", 0), _Handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERT, CERT.with_name("key.pem"))
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def secure() -> Iterator[int]:
    """Port of a server that speaks TLS, with a certificate that nobody knows."""
    yield from _served(tls=True)


@pytest.fixture(scope="module")
def plain() -> Iterator[int]:
    """Port of a server without TLS, which lets nobody through as a proxy."""
    yield from _served(tls=False)


def _sentence(command: Command, *arguments: str) -> str:
    """What a run says that cannot be carried out."""
    (command.directory / "api.json").write_text(json.dumps(DOCUMENT))
    ran = command.run("api.json", *arguments, inline=True)
    assert ran.code == 2, ran.shown
    assert ran.stderr.count("nothing was tested") == 1, ran.shown
    assert "Network Error" not in ran.stdout, ran.shown
    return ran.stderr.strip().splitlines()[-1]


def test_a_certificate_that_nobody_knows(command: Command, secure: int) -> None:
    said = _sentence(command, "--url", f"https://127.0.0.1:{secure}/v1")
    start = f"Error: nothing was tested: the certificate of the API at https://127.0.0.1:{secure}/v1 is not trusted ("
    assert said.startswith(start)
    assert said.endswith(
        "; give the file of its authority with `--tls-verify FILE`, or accept any certificate with `--tls-verify false`"
    )


def test_tls_where_nobody_speaks_it(command: Command, plain: int) -> None:
    said = _sentence(command, "--url", f"https://127.0.0.1:{plain}")
    assert f"no TLS connection to https://127.0.0.1:{plain} can be made (" in said
    assert "write `http://` in its address (`--url`)" in said


def test_no_tls_where_nothing_else_is_spoken(command: Command, secure: int) -> None:
    said = _sentence(command, "--url", f"http://127.0.0.1:{secure}/v1")
    assert said == (
        f"Error: nothing was tested: the API at http://127.0.0.1:{secure}/v1 accepts only TLS; "
        f"write `https://127.0.0.1:{secure}/v1` as its address (`--url`)"
    )


def test_a_proxy_that_lets_nobody_through(command: Command, secure: int, plain: int) -> None:
    proxy = f"http://127.0.0.1:{plain}"
    said = _sentence(command, "--url", f"https://127.0.0.1:{secure}", "--proxy", proxy)
    there = f"https://127.0.0.1:{secure}"
    assert f"the proxy at {proxy} does not let requests through to {there} (" in said
    assert "`--proxy http://USER:PASSWORD@HOST:PORT`" in said


def test_operations_with_settings_of_their_own_are_tested_all_the_same(command: Command, secure: int) -> None:
    (command.directory / "checker.toml").write_text('[[operations]]\ninclude-path = "/a"\ntls-verify = false\n')
    (command.directory / "api.json").write_text(json.dumps(DOCUMENT))
    url = f"https://127.0.0.1:{secure}"
    asked = ("--url", url, "-n", "1", "--phases", "fuzzing", "-c", "not_a_server_error")
    ran = command.run("api.json", *asked, inline=True)
    assert ran.code == 1, ran.shown
    assert {error.label for error in ran.view.errors.values()} == {"GET /b"}
