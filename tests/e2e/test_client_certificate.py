"""Mutual TLS: who shows no certificate is not served, neither with the description nor with the API."""

import http.server
import json
import ssl
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.runner import Command

CERT = Path(__file__).parent.parent / "data" / "tls" / "cert.pem"
KEY = CERT.with_name("key.pem")
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
}


@contextmanager
def mutual_tls(seen: "Counter[str]") -> Iterator[str]:
    """A server that asks for a certificate of the one authority it knows."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            seen[path] += 1
            body = json.dumps(DOCUMENT if path == "/openapi.json" else {}).encode()
            # What is broken shows how its requests are printed.
            self.send_response(200 if path == "/openapi.json" else 500)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERT, KEY)
    context.load_verify_locations(CERT)
    context.verify_mode = ssl.CERT_REQUIRED
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/openapi.json"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("given", ["options", "file"])
def test_a_certificate_is_shown_to_the_api_and_its_description(command: Command, given: str) -> None:
    seen: Counter[str] = Counter()
    options: list[str] = []
    if given == "options":
        options += ["--tls-verify", str(CERT), "--request-cert", str(CERT), "--request-cert-key", str(KEY)]
    else:
        text = f"tls-verify = '{CERT}'\nrequest-cert = '{CERT}'\nrequest-cert-key = '{KEY}'"
        (command.directory / "checker.toml").write_text(text)
    with mutual_tls(seen) as location:
        ran = command.run(
            location, *options, "-n", "5", "--phases", "fuzzing", "--checks", "not_a_server_error", inline=True
        )
    assert ran.code == 1, ran.shown
    assert seen["/openapi.json"] == 1
    (finding,) = ran.findings
    assert finding.investigation.reproduced, ran.shown
    assert f"curl --cacert {CERT} --cert {CERT} --key {KEY} " in finding.investigation.reproduction


def test_reproductions_show_it_as_well(command: Command) -> None:
    text = f"tls-verify = '{CERT}'\nrequest-cert = '{CERT}'\nrequest-cert-key = '{KEY}'"
    (command.directory / "checker.toml").write_text(text)
    paths = [f"--report-{name}-path={name}_test.{end}" for name, end in (("sh", "sh"), ("pytest", "py"))]
    with mutual_tls(Counter()) as location:
        ran = command.run(
            location, "-n", "2", "--phases", "fuzzing", "--checks", "not_a_server_error", *paths, inline=True
        )
        again = command.here("replay")
        programs = ["bash", "sh_test.sh"], [sys.executable, "-m", "pytest", "-q", "pytest_test.py"]
        codes = [
            subprocess.run(one, cwd=ran.directory, check=False, stdout=subprocess.DEVNULL).returncode
            for one in programs
        ]
    assert again.code == 1, again.shown
    # The script fails as long as the defect exists, and the tests pass.
    assert codes == [1, 0]


def test_without_one_nothing_is_served(command: Command) -> None:
    seen: Counter[str] = Counter()
    with mutual_tls(seen) as location:
        ran = command.run(location, "--tls-verify", str(CERT), inline=True)
    assert ran.code == 2, ran.shown
    assert not seen


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--request-cert", "nowhere.pem"], "it: Must be an existing file, but got 'nowhere.pem'"),
        (["--request-cert", str(KEY.with_name("cert.pem"))], "the client certificate in"),
    ],
)
def test_a_certificate_that_cannot_be_used_is_one_sentence(command: Command, options: list[str], expected: str) -> None:
    ran = command.here("run", "https://127.0.0.1:9/openapi.json", *options)
    assert ran.code == 2
    assert expected.removeprefix("it: ") in ran.stdout + ran.stderr, ran.shown
