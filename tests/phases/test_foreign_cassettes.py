"""Cassettes of every generation and format that people have: a row each, all of them the same three requests."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.settings import Sanitization
from checker.corpus.records import CheckOutcome, Interaction
from checker.phases.recordings import read_cassette
from checker.phases.replay import ReplayOptions, replay
from checker.reporting.formats.har import Archive
from checker.reporting.formats.ndjson import EventLines
from checker.reporting.formats.vcr import Cassette
from checker.reporting.shown import ReportContext
from tests.phases.raw_server import RawServer
from tests.phases.test_replay import recorded

GET = "GET /users?limit=0 HTTP/1.1"
POST = "POST /users HTTP/1.1"
DELETE = "DELETE /users/%00 HTTP/1.1"
ENCODED = {"text": "eyJhIjogMX0=", "json": '{"a": 1}'}

OLDEST = """
command: checker run --base-url {url} -c all schema.yaml
recorded_with: checker 3.1.0
http_interactions:
- id: '0'
  status: FAILURE
  seed: '1'
  elapsed: '0.00123'
  recorded_at: '2021-04-22T17:00:51.657190'
  checks:
  - name: not_a_server_error
    status: FAILURE
    message: Received a response with 5xx status code
  data_generation_method: positive
  thread_id: 140735
  correlation_id: 8ba0ee
  request:
    uri: '{url}/users?limit=0'
    method: GET
    headers:
      User-Agent: [python-requests/2.22.0]
      X-A: ['1']
    body:
      encoding: utf-8
      string: ''
  response:
    status:
      code: '500'
      message: Internal Server Error
    headers:
      Content-Length: ['15']
    body:
      encoding: utf-8
      string: '500: Internal Server Error'
    http_version: '1.1'
- id: '1'
  status: SUCCESS
  seed: '1'
  elapsed: '0.00123'
  recorded_at: '2021-04-22T17:00:52'
  checks: []
  request:
    uri: '{url}/users'
    method: POST
    headers:
      Content-Type: [application/json]
    body:
      encoding: utf-8
      base64_string: eyJhIjogMX0=
  response:
    status: {{code: '200', message: OK}}
    headers: {{}}
    body: {{encoding: utf-8, base64_string: ''}}
    http_version: '1.1'
- id: '2'
  status: ERROR
  seed: '1'
  elapsed: '10'
  recorded_at: '2021-04-22T17:00:53'
  checks: []
  request:
    uri: '{url}/users/%00'
    method: DELETE
    headers: {{}}
    body: null
  response: null
"""
CURRENT = """
command: 'st run {url}/openapi.json'
recorded_with: 'Checker 4.32.5'
seed: 1
http_interactions:
- id: 'hJzTqk'
  status: 'FAILURE'
  generation:
    time: 0.01
    mode: positive
  components:
    query:
      mode: 'positive'
  phase:
    name: 'coverage'
    data:
      description: 'Minimum value'
      location: '/minimum'
      parameter: 'limit'
      parameter_location: 'query'
  recorded_at: '2025-07-01T10:00:00.000000+00:00'
  checks:
    - name: 'not_a_server_error'
      status: 'FAILURE'
      message: 'Server error'
    - name: 'status_code_conformance'
      status: 'SUCCESS'
      message: ~
  request:
    uri: '{url}/users?limit=0'
    method: 'GET'
    headers:
      X-A:
        - '1'
  response:
    status:
      code: '500'
      message: 'Internal Server Error'
    elapsed: '0.01'
    headers: {{}}
    body:
      encoding: 'utf-8'
      string: ''
    http_version: '1.1'
- id: 'b2'
  status: 'SUCCESS'
  generation: null
  recorded_at: '2025-07-01T10:00:01+00:00'
  checks: []
  request:
    uri: '{url}/users'
    method: 'POST'
    headers:
      Content-Type:
        - 'application/json'
    body:
      encoding: 'utf-8'
      string: '{{"a": 1}}'
  response:
    status: {{code: '200', message: 'OK'}}
    elapsed: '0.01'
    headers: {{}}
    http_version: '1.1'
- id: 'c3'
  status: 'ERROR'
  recorded_at: '2025-07-01T10:00:02+00:00'
  checks: []
  request:
    uri: '{url}/users/%00'
    method: 'DELETE'
    headers: {{}}
  response: null
"""


def browser(url: str) -> str:
    """What the tools of a browser export: names of HTTP/2, a form, an answer that never came."""

    def entry(request: dict[str, Any], status: int) -> dict[str, Any]:
        times = {"startedDateTime": "2025-07-01T10:00:00.000Z", "time": 1, "cache": {}, "timings": {}}
        return {**times, "request": request, "response": {"status": status, "content": {}}}

    first = {"method": "GET", "url": f"{url}/users?limit=0", "bodySize": 0, "queryString": []}
    first["headers"] = [{"name": ":authority", "value": "h"}, {"name": "x-a", "value": "1"}]
    second = {"method": "POST", "url": f"{url}/users", "bodySize": 8, "headers": [
        {"name": "Content-Length", "value": "8"}, {"name": "Content-Type", "value": "application/json"},
    ], "postData": {"mimeType": "application/json", "text": ENCODED["json"]}}  # fmt: skip
    third = {"method": "DELETE", "url": f"{url}/users/%00", "headers": [], "bodySize": -1}
    entries = [entry(first, 500), entry(second, 200), entry(third, 0)]
    return json.dumps({"log": {"version": "1.2", "pages": [], "entries": entries}}, indent=2)


def events(url: str) -> str:
    """Event lines of the current generation, the last of which was not finished."""

    def request(method: str, path: str, **more: Any) -> dict[str, Any]:
        return {"method": method, "uri": url + path, "headers": {}, **more}

    answer = {"status_code": 500, "headers": {}, "content": {"$base64": ""}, "elapsed": 0.1}
    post = request("POST", "/users", body={"$base64": ENCODED["text"]})
    post["headers"] = {"Content-Type": ["application/json"]}
    recorder = {
        "label": "GET /users",
        "cases": {},
        "checks": {"a1": [{"name": "not_a_server_error", "status": "failure"}]},
        "interactions": {
            "a1": {
                "request": {**request("GET", "/users?limit=0"), "headers": {"X-A": ["1"]}},
                "response": answer, "timestamp": 1.5,
            },
            "b2": {"request": post, "response": {**answer, "status_code": 200}, "timestamp": 2.5},
            "c3": {"request": request("DELETE", "/users/%00"), "response": None},
        },
    }  # fmt: skip
    whole = {"ScenarioFinished": {"id": "7", "phase": "fuzzing", "recorder": recorder}}
    lines = [{"Initialize": {"command": "st run"}}, {"EngineStarted": {"id": "1"}}, whole]
    return "\n".join([*map(json.dumps, lines), '{"EngineFin'])


def ours(make: Callable[[ReportContext], Any]) -> Callable[[str], str]:
    def text(url: str) -> str:
        writer = make(ReportContext("c", 1, url, sanitization=Sanitization(enabled=False)))
        return "".join((writer.head(), *map(writer.event, interactions()), writer.end()))

    return text


def interactions() -> Iterable[Interaction]:
    first = recorded(headers=((b"X-A", b"1"),))
    yield replace(first, checks=(CheckOutcome("not_a_server_error", "FAILURE", "Server error"),))
    json_header = ((b"Content-Type", b"application/json"),)
    body = ENCODED["json"].encode()
    yield replace(
        recorded(method="POST", target=b"/users", headers=json_header, body=body, status=200),
        status="SUCCESS",
        case="b2",
    )
    last = recorded(method="DELETE", target=b"/users/%00", headers=(), status=None, failure="TIMEOUT")
    yield replace(last, status="ERROR", case="c3")


ROWS: dict[str, tuple[str, Callable[[str], str]]] = {
    "vcr of the oldest generation": ("c.yaml", lambda url: OLDEST.format(url=url)),
    "vcr of the current generation": ("c.yaml", lambda url: CURRENT.format(url=url)),
    "har of a browser": ("c.har", browser),
    "events of the current generation": ("c.ndjson", events),
    "our vcr": ("c.yaml", ours(Cassette)),
    "our har": ("c.json", ours(Archive)),
    "our events": ("c.ndjson", ours(EventLines)),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_requests_of_a_cassette_are_sent_again(tmp_path: Path, name: str) -> None:
    file, text = ROWS[name]
    server = RawServer()
    try:
        path = tmp_path / file
        path.write_text(text(server.url))
        lines: list[str] = []
        code = replay(path, ReplayOptions(), lines.append)
        first, second, third = (one.decode() for one in server.seen)
    finally:
        server.close()
    assert code == 0, lines
    assert [one.splitlines()[0] for one in (first, second, third)] == [GET, POST, DELETE]
    assert "x-a: 1" in first.lower()
    assert second.lower().count("content-type: application/json") == 1
    assert second.endswith(f"\r\n\r\n{ENCODED['json']}")
    old = [one.rpartition(": ")[2] for one in lines if one.startswith("  Old")]
    assert old == ["500", "200", "none"]
    statuses = [one.status for one in read_cassette(path)]
    # Archives of HTTP know of no checks.
    assert statuses[:2] == (["", ""] if "har" in name else ["FAILURE", "SUCCESS"])


def test_files_of_failures_are_read_one_by_one_or_as_a_folder(tmp_path: Path) -> None:
    step: dict[str, Any] = {
        "method": "POST", "url": "http://127.0.0.1:1/users", "url_template": "/users", "operation": "POST /users",
        "headers": {"Content-Type": "application/json"}, "parent_index": None,
        "case_body": {"encoding": "json", "value": {"a": 1}},
        "response": {"status_code": 201, "headers": {}, "body": ""}, "checks": [],
    }  # fmt: skip
    last = {**step, "method": "GET", "case_body": None, "checks": [{"name": "x", "status": "failure"}]}
    failure = {"operation": "GET /users", "method": "GET", "case_id": "Ab12Cd", "sequence": [step, last]}
    file = tmp_path / "GET_users_x_0a1b2c3d.json"
    file.write_text(json.dumps(failure))
    (tmp_path / "manifest.json").write_text('{"format_version": 1}')
    for path in (file, tmp_path):
        first, second = read_cassette(path)
        assert (first.id, first.method, first.body) == ("Ab12Cd-1", "POST", b'{"a": 1}')
        assert (first.status, second.status, second.body) == ("SUCCESS", "FAILURE", None)
        assert (first.old_status, first.headers) == ("201", (("Content-Type", "application/json"),))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"log": {"entries": [{"request": {}}]}}', "missing required field `method`"),
        ('{"log": 1}', "Expected `object`"),
        ('{"Initialize": {}}\n{"ScenarioFinished": {"recorder": 1}}\n', "Expected `object"),
        ('{"case_id": "a", "sequence": [{"method": "GET"}]}', "missing required field `url`"),
        ('{"log": ' + '{"a": ' * 5000 + "1" + "}" * 5001, "cannot be read"),
    ],
)
def test_what_is_no_cassette_is_one_sentence(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    lines: list[str] = []
    assert replay(path, ReplayOptions(), lines.append) == 2
    (line,) = lines
    assert reason in line
    assert str(path) in line


def test_a_body_that_was_cut_is_not_sent_as_if_it_were_whole(tmp_path: Path) -> None:
    cut = recorded(method="POST", body=b"12345", body_size=9)
    for make in (Archive, EventLines, Cassette):
        writer = make(ReportContext("c", 1, "http://127.0.0.1:1"))
        path = tmp_path / "c"
        path.write_text("".join((writer.head(), writer.event(cut), writer.end())))
        (found,) = read_cassette(path)
        assert found.is_cut, make
