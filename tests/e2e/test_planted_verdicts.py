"""Each service of `tests/data/verdicts` shows one kind of verdict that was wrong once: missed, false, doubled or wrongly marked.

All findings of a default run are compared, and each has to show again on a fresh server.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection, socket

import pytest

from tests.e2e.runner import Command
from tests.waiting import wait_until

SERVICES = Path(__file__).parents[1] / "data" / "verdicts"
SECRET = "*:*.964a287eCANARY"
USERS = {
    "auth": [
        {"name": name, "fixedHeaders": [{"name": "X-API-Key", "value": f"key-{name}"}]} for name in ("alice", "bob")
    ]
}
PEERS = '[auth.wfc]\npath = "users.json"\npeers = ["alice", "bob"]\n'
Found = set[tuple[str, str]]


@dataclass(frozen=True)
class Service:
    """A service, and what a run has to tell about it."""

    name: str
    found: Found
    causes: int
    arguments: tuple[str, ...] = ()
    config: str = ""
    also: Found = frozenset()  # type: ignore[assignment]
    """Findings about the framework, which chance may show."""
    path: str = "/openapi.json"


def unreadable(*labels: str) -> Found:
    """FastAPI answers 400, which its description does not name, to a body that is not UTF-8."""
    return {(label, "status_code_conformance") for label in labels}


FRUIT = ("apples", "dates", "figs", "kiwis", "limes", "nuts", "pears", "plums")
STATS = ("GET /servers/{server_id}/stats", "response_schema_conformance")
TABLE = (
    Service("bin", {(f"GET /{name}", "not_a_server_error") for name in ("c1", "del", "esc", "fffe", "long", "nul")}, 6),
    Service("blame", set(), 0, ("-H", "Authorization: Token abc")),
    Service(
        "bola_mini",
        {("GET /notes/{note_id}", "object_level_authorization")},
        1,
        config=PEERS,
        also=unreadable("POST /notes"),
    ),
    Service("consumed_parent", set(), 0, also=unreadable("POST /carts/{cart_id}/items")),
    Service("domain_403", set(), 0, config=PEERS, also=unreadable("POST /bookings/{booking_id}/confirm")),
    Service("drop", {("POST /things", "not_a_server_error")}, 1),
    Service("gone", set(), 0),
    Service(
        "group",
        {(f"POST /r{number}/filter", "positive_data_acceptance") for number in range(5)} | {STATS},
        2,
        ("limit must be <= 200.",),
    ),
    Service("int64", {(f"GET /{name}/{{id}}", "not_a_server_error") for name in FRUIT}, 1),
    Service("leak", {("GET /me", "response_schema_conformance")}, 1, ("-H", f"Authorization: {SECRET}")),
    Service("logout", set(), 0, ("-H", "Authorization: Bearer abc")),
    Service("mini409", {("POST /labels", "ensure_resource_availability")}, 1, also=unreadable("POST /labels")),
    Service(
        "noauth",
        {("POST /labels", check) for check in ("ignored_auth", "not_a_server_error", "error_disclosure")},
        3,
        ("-H", "Authorization: Bearer abc"),
    ),
    Service(
        "once",
        {("PUT /files/{name}", check) for check in ("response_schema_conformance", "status_code_conformance")},
        2,
    ),
    Service("oneof", set(), 0, path="/graphql"),
    # FastAPI names one of the two methods of a path in `Allow`.
    Service(
        "shared_paged",
        {("POST /products", "allow_header_conformance")},
        1,
        config=PEERS,
        also=unreadable("POST /products"),
    ),
    Service(
        "tiny",
        {("PUT /items/{item_id}", "not_a_server_error")},
        1,
        also=unreadable("PUT /items/{item_id}", "POST /items"),
    ),
    Service("words", set(), 0, path="/graphql"),
)


@contextmanager
def started(service: Service, port: int) -> Iterator[None]:
    """Serve it on a port of loopback, as it is at its start, until left."""
    more = [one for one in service.arguments if service.name == "group"]
    process = subprocess.Popen(
        [sys.executable, str(SERVICES / f"{service.name}.py"), str(port), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def is_listening() -> bool:
        assert process.poll() is None
        try:
            create_connection(("127.0.0.1", port)).close()
        except OSError:
            return False
        return True

    try:
        wait_until(is_listening)
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("service", TABLE, ids=[service.name for service in TABLE])
@pytest.mark.thorough
def test_each_verdict_is_right_and_shows_again(command: Command, service: Service) -> None:
    (command.directory / "users.json").write_text(json.dumps(USERS))
    (command.directory / "checker.toml").write_text(service.config)
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url, given = f"http://127.0.0.1:{port}", service.arguments if service.name != "group" else ()
    with started(service, port):
        ran = command.run_as_usual(f"{url}{service.path}", "-n", "10", *given, inline=True)
    findings = [one for one in ran.findings if (one.label, one.check) not in service.also]
    assert {(one.label, one.check) for one in findings} == service.found, ran.shown
    assert len({one.cause or one.fingerprint for one in findings}) == service.causes, ran.shown
    assert all(one.investigation.reproduced for one in ran.findings), ran.shown
    assert "Access" not in ran.stdout, ran.shown
    for path in command.directory.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    if ran.findings:
        with started(service, port):
            again = command.here("replay", "all", *given)
        assert again.code == 1, again.shown
        assert "FIXED" not in again.stdout, again.shown
