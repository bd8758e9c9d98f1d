"""The `.http` file as a client of such files sends it: httpyac, from npm; `make test-browser` runs it."""

import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from checker.core.reports import REPORT_FORMATS
from checker.reporting.shown import ReportContext
from tests.apps.bank import bank
from tests.apps.depot import depot
from tests.apps.restartable import Restartable
from tests.e2e.reproducing import HTTPYAC, by_httpyac, recorded
from tests.reporting.formats import written
from tests.reporting.samples import exchange, finding, interaction, records, settings

BODIES = (
    b'{"a": "</script> ]]> $(x)"}',
    b'"{{process.exit(7)}}"',
    b"a\n### b\nGET http://127.0.0.1:1/",
    b"< /etc/passwd",
    b"@x = 1\n// gone\nleft",
    "\u2028\U0001f600 \u00e9".encode(),
    b"\x00\x1b[2J\xff",
)


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.path, body))  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as found:
        found.seen = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def test_it_sends_each_request_and_nothing_else(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    base = f"http://127.0.0.1:{server.server_port}"
    found = [
        finding(
            fingerprint=f"f{number}",
            label="POST /{{1+1}}",
            interactions=(
                interaction(
                    exchange=exchange(
                        method="POST",
                        target=b"/%d?q={{1+1}}" % number,
                        headers=((b"Content-Type", b"text/plain"), (b"X-Odd", b"{{1+1}}")),
                        body=body,
                    )
                ),
            ),
        )
        for number, body in enumerate(BODIES)
    ]
    row = REPORT_FORMATS.get("http")
    assert row is not None
    base_records = [one for one in records() if type(one) is not type(found[0])]
    path = tmp_path / "failures.http"
    context = ReportContext("checker run", 1, base)
    path.write_bytes(written(row, [*base_records, *found], (), settings(), context)[""])
    ran = subprocess.run(
        ["node", str(HTTPYAC), "send", path.name, "--all", "--output", "none"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    # Bodies that clients of these files would interpret are written in base64, and no verdict is given.
    assert ran.stdout.count("editors would interpret a part of a request") == len(BODIES), ran.stdout + ran.stderr
    seen = dict(server.seen)  # type: ignore[attr-defined]
    assert sorted(seen) == [f"/{number}?q=%7B%7B1+1}}}}" for number in range(len(BODIES))]
    assert seen["/0?q=%7B%7B1+1}}"] == BODIES[0]


@pytest.mark.parametrize("service", [depot(), bank()], ids=["depot", "bank"])
def test_each_failure_reproduces_on_a_fresh_server(service: Restartable, tmp_path: Path) -> None:
    with service.serving():
        ran = recorded(tmp_path, service, "-n", "40")
        outcomes = dict(by_httpyac(tmp_path, service))
    assert len(outcomes) == len(ran.defects)
    others = {name: codes for name, codes in outcomes.items() if not codes[0] or codes[1]}
    assert len(others) <= len(outcomes) // 10, others
