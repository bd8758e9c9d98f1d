import dataclasses
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from checker.config.operation_settings import HttpSettings
from checker.config.settings import Sanitization
from checker.core.request import BaseUrl, WireRequest
from checker.core.send import ON_THE_WAY, Purpose, send_alone
from checker.corpus.records import Exchange, Interaction
from checker.phases.recordings import read_cassette
from checker.phases.replay import ReplayOptions, replay
from checker.reporting.shown import ReportContext
from checker.transport.http import HttpLanes
from tests.reporting.writing import write_cassette

from .raw_server import RawServer


@pytest.fixture(scope="module")
def running() -> Iterator[RawServer]:
    server = RawServer()
    yield server
    server.close()


@pytest.fixture
def server(running: RawServer) -> RawServer:
    running.seen.clear()
    running.status = 200
    return running


def recorded(**changes: Any) -> Interaction:
    """An interaction that got a 500."""
    exchange = {
        "method": "GET",
        "target": b"/users?limit=0",
        "headers": ((b"User-Agent", b"checker/0.1.0"), (b"X-Checker-TestCaseId", b"c1")),
        "body": None,
        "status": 500,
        **changes,
    }
    return Interaction(
        *("c1", "GET /users", "fuzzing", (), "positive", (), "FAILURE", 1.0, 0.0),
        Exchange(**exchange, reason="", response_head=b"", response_body=b"", response_size=0, elapsed_s=0.1),
        (),
        1,
    )


def cassette(folder: Path, url: str, *interactions: Interaction, sanitize: bool = True) -> Path:
    path = folder / "cassette.yaml"
    sanitization = Sanitization(enabled=sanitize)
    write_cassette(path, ReportContext("c", 1, url, sanitization=sanitization), interactions)
    return path


def replayed(path: Path, **options: Any) -> tuple[int, list[str]]:
    lines: list[str] = []
    code = replay(path, ReplayOptions(**options), lines.append)
    return code, lines


def test_each_interaction_shows_old_and_new_status(tmp_path: Path, server: RawServer) -> None:
    path = cassette(tmp_path, server.url, recorded())
    assert replayed(path) == (
        0,
        [
            f"Replaying cassette: {path}",
            "Total interactions: 1",
            "",
            "  ID              : 1",
            f"  URI             : {server.url}/users?limit=0",
            "  Old status code : 500",
            "  New status code : 200",
            "",
            "1 replayed, 1 with another status",
        ],
    )


def sent_bytes(server: RawServer, request: WireRequest) -> bytes:
    lanes = HttpLanes(BaseUrl.from_url(server.url), HttpSettings(), 1)
    send_alone(lanes, dataclasses.replace(request, fresh=True))
    lanes.close()
    return server.seen.pop()


_VALUES = st.binary(min_size=1, max_size=9).map(
    lambda raw: b"v" + raw.translate(None, bytes(range(32)) + b"\x7f ") + b"v"
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["POST", "PUT", "DELETE", "PATCH", "GET"]),
    headers=st.lists(st.tuples(st.sampled_from([b"X-A", b"x-b"]), _VALUES), max_size=3),
    target=st.binary(max_size=9).map(lambda raw: b"/" + raw.hex().encode() + b"?q=%FF"),
    body=st.none() | st.binary(max_size=40),
)
@pytest.mark.thorough
def test_request_goes_out_byte_for_byte(
    tmp_path: Path,
    server: RawServer,
    method: str,
    headers: list[tuple[bytes, bytes]],
    target: bytes,
    body: bytes | None,
) -> None:
    # Values of one name stand together in a cassette, as they do for every reader of HTTP.
    headers.sort(key=lambda header: header[0])
    headers.insert(0, (b"Content-Type", b"application/octet-stream"))
    wanted = sent_bytes(server, WireRequest(method, target, headers, body))
    interaction = recorded(method=method, target=target, headers=tuple(headers), body=body)
    code, _ = replayed(cassette(tmp_path, server.url, interaction))
    assert code == 0
    assert server.seen.pop() == wanted


def test_empty_body_and_no_body_stay_apart(tmp_path: Path, server: RawServer) -> None:
    empty, absent = recorded(method="POST", body=b""), recorded(method="POST", body=None)
    replayed(cassette(tmp_path, server.url, empty))
    replayed(cassette(tmp_path, server.url, absent))
    assert b"content-length: 0" in server.seen[0].lower()
    assert b"content-length" not in server.seen[1].lower()


def test_masked_header_is_asked_for_by_name(tmp_path: Path, server: RawServer) -> None:
    masked = recorded(headers=((b"Authorization", b"Bearer 1"),))
    path = cassette(tmp_path, server.url, masked)
    code, lines = replayed(path)
    assert code == 2
    assert (
        "Error: interaction 1: header Authorization was masked when it was recorded; "
        "give it with -H 'Authorization: ...', or in the configuration"
    ) in lines
    assert server.seen == []


def test_masked_header_can_be_given(tmp_path: Path, server: RawServer) -> None:
    masked = recorded(headers=((b"Authorization", b"Bearer 1"), (b"X-Last", b"1")))
    path = cassette(tmp_path, server.url, masked)
    code, _ = replayed(path, headers=(("authorization", "Bearer 2"),))
    assert code == 0
    assert b"Authorization: Bearer 2\r\nX-Last: 1\r\n" in server.seen[0]


def test_masked_header_is_taken_from_the_configuration(tmp_path: Path, server: RawServer) -> None:
    path = cassette(tmp_path, server.url, recorded(headers=((b"Authorization", b"Bearer x"),)))
    known = (("authorization", "Bearer of today"), ("X-Other", "never recorded"))
    code, _ = replayed(path, configured=known)
    assert code == 0
    assert b"Authorization: Bearer of today\r\n" in server.seen[0]
    assert b"X-Other" not in server.seen[0]


def test_recorded_pace_waits_for_what_is_left_of_each_pause(tmp_path: Path, server: RawServer) -> None:
    at = [100.0, 100.5, 104.0, 104.0]
    path = cassette(tmp_path, server.url, *(replace(recorded(), at=one) for one in at))
    now, waited = [0.0], []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        now[0] += seconds

    def clock() -> float:
        now[0] += 0.25
        return now[0]

    replayed(path, keeps_pace=True, wait=wait, clock=clock)
    assert len(server.seen) == 4
    assert waited == [3.25]
    server.seen.clear()
    waited.clear()
    replayed(path, wait=wait, clock=clock)
    assert (len(server.seen), waited) == (4, [])


def test_given_header_is_not_added_where_it_was_left_out(tmp_path: Path, server: RawServer) -> None:
    masked, without = recorded(headers=((b"Authorization", b"x"),)), recorded(headers=())
    path = cassette(tmp_path, server.url, masked, without)
    replayed(path, headers=(("Authorization", "Bearer 2"), ("X-Debug", "1")))
    assert sorted(b"Authorization" in seen for seen in server.seen) == [False, True]
    assert all(b"X-Debug: 1\r\n" in seen for seen in server.seen)


def test_value_masked_in_the_uri_is_named(tmp_path: Path, server: RawServer) -> None:
    path = cassette(tmp_path, server.url, recorded(target=b"/x?token=1"))
    code, lines = replayed(path)
    assert code == 2
    assert any("a value in its URI was masked" in line for line in lines)


def test_cassette_without_sanitisation_needs_nothing(tmp_path: Path, server: RawServer) -> None:
    masked = recorded(target=b"/x?token=1", headers=((b"Authorization", b"Bearer 1"),))
    code, _ = replayed(cassette(tmp_path, server.url, masked, sanitize=False))
    assert code == 0
    assert server.seen[0].startswith(b"GET /x?token=1 HTTP/1.1\r\n")


@pytest.mark.parametrize("base", ["", "/api", "/api/"])
def test_url_sends_elsewhere(tmp_path: Path, server: RawServer, base: str) -> None:
    host = recorded(headers=((b"Host", b"old.example"),))
    path = cassette(tmp_path, "http://old.example/", host)
    code, _ = replayed(path, base_url=server.url + base)
    assert code == 0
    prefix = base.rstrip("/").encode()
    assert server.seen[0].startswith(b"GET " + prefix + b"/users?limit=0 HTTP/1.1\r\nHost: 127")


def test_url_with_the_recorded_path_does_not_repeat_it(tmp_path: Path, server: RawServer) -> None:
    path = cassette(tmp_path, "http://old.example", recorded(target=b"/api/users"))
    replayed(path, base_url=f"{server.url}/api")
    assert server.seen[0].startswith(b"GET /api/users HTTP")


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"ids": ("2",)}, ["2"]),
        ({"ids": ("1", "3")}, ["1", "3"]),
        ({"statuses": ("success",)}, ["2"]),
        ({"uri": r"/b\?"}, ["2"]),
        ({"method": "^p"}, ["3"]),
        ({"ids": ("2",), "method": "POST"}, []),
    ],
)
def test_filters_choose_interactions(
    tmp_path: Path, server: RawServer, options: dict[str, Any], ids: list[str]
) -> None:
    path = tmp_path / "cassette.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "http_interactions": [
                    raw(server, "1", "GET", "/a"),
                    {**raw(server, "2", "GET", "/b?x=1"), "status": "SUCCESS"},
                    raw(server, "3", "POST", "/c"),
                ]
            }
        )
    )
    code, lines = replayed(path, **options)
    assert code == 0
    assert lines[1] == "Total interactions: 3"
    assert [line.split(": ")[1] for line in lines if line.startswith("  ID")] == ids


def raw(server: RawServer, id: str, method: str, path: str) -> dict[str, Any]:
    request = {"uri": server.url + path, "method": method, "headers": {}}
    response = {"status": {"code": 200, "message": "OK"}}
    return {"id": id, "status": "FAILURE", "request": request, "response": response}


def test_cassette_of_a_general_emitter_is_read(tmp_path: Path, server: RawServer) -> None:
    shared = {"X-Shared": ["1"]}
    interactions = [raw(server, id, "GET", f"/{id}") for id in "ab"]
    for interaction in interactions:
        interaction["request"]["headers"] = shared
    path = tmp_path / "cassette.yaml"
    path.write_text(yaml.safe_dump({"command": "c", "http_interactions": interactions, "x": 1}))
    assert "&id" in path.read_text()
    assert replayed(path)[0] == 0
    assert [seen.count(b"X-Shared: 1") for seen in server.seen] == [1, 1]


def test_bodies_that_stand_once_are_sent_each_time(tmp_path: Path, server: RawServer) -> None:
    long = [letter * 3000 for letter in (b"a", b"b")]
    bodies = [long[0], long[1], b"short", long[0], long[1], long[0]]
    found = [
        replace(recorded(method="POST", body=body), case=f"c{number}", at=float(number))
        for number, body in enumerate(bodies)
    ]
    path = cassette(tmp_path, server.url, *found)
    assert path.stat().st_size < 12_000
    assert ["*body" in piece for piece in path.read_text().split("\n- ")[1:]].count(True) == 3
    assert [one.body for one in read_cassette(path)] == bodies
    assert replayed(path)[0] == 0
    assert [seen.rpartition(b"\r\n\r\n")[2] for seen in server.seen] == bodies


def test_a_request_that_was_cut_is_not_sent(tmp_path: Path, server: RawServer) -> None:
    path = cassette(tmp_path, server.url, recorded(method="POST", body=b"abc", body_size=5))
    code, lines = replayed(path)
    assert code == 2
    assert server.seen == []
    assert any("max-recorded-payload-size = 0" in line for line in lines)


def test_whatever_it_was_sent_for_it_is_sent_again(tmp_path: Path, server: RawServer) -> None:
    found = [
        replace(recorded(target=f"/{purpose}".encode()), purpose=purpose, at=float(number))
        for number, purpose in enumerate(Purpose)
    ]
    path = cassette(tmp_path, server.url, *found)
    replayed(path)
    targets = [seen.split()[1].decode() for seen in server.seen]
    # What was sent for the sake of others comes with them.
    assert targets == [f"/{purpose}" for purpose in Purpose if purpose not in ON_THE_WAY]
    server.seen.clear()
    replayed(path, purposes=("shrink", "saved"))
    assert [seen.split()[1] for seen in server.seen] == [b"/saved", b"/shrink"]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=12), max_size=4))
def test_cassette_is_cut_only_between_interactions(tmp_path: Path, bodies: list[bytes]) -> None:
    found = [recorded(body=b"\n- " + body) for body in bodies]
    path = tmp_path / "cassette.yaml"
    head = ReportContext("c", 1, "http://h", preserve_bytes=False)
    write_cassette(path, head, found)
    kept = read_cassette(path)
    assert len(kept) == len(found)
    assert {one.body for one in kept} == {b"\n- " + body for body in bodies}


def test_server_that_is_gone_ends_with_two(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    code, lines = replayed(cassette(tmp_path, url, recorded()))
    assert code == 2
    assert any(line.startswith("  New status code : connection refused") for line in lines)


def test_cassette_without_interactions_is_carried_out(tmp_path: Path) -> None:
    assert replayed(cassette(tmp_path, "http://127.0.0.1"))[0] == 0


@pytest.mark.parametrize("option", ["uri", "method"])
def test_bad_regular_expression_is_one_sentence(tmp_path: Path, option: str) -> None:
    code, lines = replayed(cassette(tmp_path, "http://127.0.0.1"), **{option: "("})
    assert code == 2
    assert f"--{option}: '(' is not a regular expression" in lines[0]


def test_an_id_that_nothing_has_is_one_sentence(tmp_path: Path, server: RawServer) -> None:
    code, lines = replayed(cassette(tmp_path, server.url, recorded()), ids=("1", "no", "none"))
    assert code == 2
    assert lines == ["Error: no interaction of the cassette has the id 'no', 'none'"]
    assert not server.seen


def test_interrupt_ends_with_130(tmp_path: Path, server: RawServer) -> None:
    def interrupted(line: str) -> None:
        if line.startswith("  ID"):
            raise KeyboardInterrupt

    lines: list[str] = []

    def echo(line: str) -> None:
        lines.append(line)
        interrupted(line)

    assert replay(cassette(tmp_path, server.url, recorded()), ReplayOptions(), echo) == 130
    assert lines[-1] == "Interrupted"
