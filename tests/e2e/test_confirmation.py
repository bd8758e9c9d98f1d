"""Each failure says if it shows always, now and then, or after others; and its commands do what they say."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from checker.demo.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command, Ran

OK = {"description": ""}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
NUMBER = {"name": "number", "in": "query", "required": True, "schema": {"type": "integer"}}
THING = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
BASIC = {"scheme": {"type": "http", "scheme": "basic"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Moods", "version": "1"},
    "components": {"securitySchemes": BASIC},
    "paths": {
        "/always": {"get": {"responses": {"200": OK}}},
        "/third": {"get": {"parameters": [NUMBER], "responses": {"200": OK}}},
        "/clock": {"get": {"parameters": [NUMBER], "responses": {"200": OK}}},
        "/vault": {"get": {"security": [{"scheme": []}], "responses": {"200": OK, "401": OK}}},
        "/things": {
            "post": {
                "responses": {
                    "201": {
                        **OK,
                        "content": {"application/json": {"schema": THING}},
                        "links": {
                            "close": {
                                "operationId": "close",
                                "parameters": {"id": "$response.body#/id"},
                            },
                            "read": {
                                "operationId": "read",
                                "parameters": {"id": "$response.body#/id"},
                            },
                        },
                    }
                }
            }
        },
        "/things/{id}": {
            "get": {"operationId": "read", "parameters": [ID], "responses": {"200": OK, "404": OK}}
        },
        "/things/{id}/close": {
            "post": {
                "operationId": "close",
                "parameters": [ID],
                "responses": {"200": OK, "404": OK},
            }
        },
    },
}
CLASSES = {
    "GET /always": "stable",
    "GET /third": "intermittent",
    "GET /clock": "intermittent",
    "GET /vault": "stable",
    "GET /things/{id}": "needs its sequence",
}


@dataclass
class Moods:
    """A fresh instance numbers its things from one."""

    count: int = 0
    hour: int = 0
    """Of the clock, which every request to it moves on; only in one it fails."""
    closed: dict[str, bool] = field(default_factory=dict)

    def answer(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        match path.strip("/").split("/"):
            case ["always"]:
                return json_reply({}, 500)
            case ["third"]:
                self.count += 1
                return json_reply({}, 500 if self.count % 3 == 0 else 200)
            case ["clock"]:
                self.hour += 1
                return json_reply({}, 500 if self.hour == 4 else 200)
            case ["vault"]:
                return json_reply({})
            case ["things"]:
                name = f"t{len(self.closed) + 1}"
                self.closed[name] = False
                return json_reply({"id": name}, 201)
            case ["things", name, *rest] if name in self.closed:
                if rest:
                    self.closed[name] = True
                    return json_reply({})
                return json_reply({}, 500 if self.closed[name] else 200)
        return json_reply({}, 404)


@contextmanager
def fresh() -> Iterator[App]:
    with serving(Moods().answer, DOCUMENT) as app:
        yield app


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    command = Command(tmp_path_factory.mktemp("run"))
    (command.directory / "checker.toml").write_text(
        "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n"
        "[checks.ignored_auth]\nenabled = true\n"
        "[phases.examples]\nenabled = false\n[phases.coverage]\nenabled = false\n"
        # Found there, it would take things that other requests made.
        "[[operations]]\ninclude-path-regex = '^/things'\nphases.fuzzing.enabled = false\n"
    )
    with fresh() as app:
        return command(
            *("run", app.document_url, "--inline", "--seed", "1", "--mode", "positive"),
            *("-n", "15", "--auth", "ann:secret"),
            *("--report", "json,ndjson,sarif,markdown,html,junit,allure", "--report-dir", "out"),
        )


def failures(ran: Ran) -> list[dict[str, Any]]:
    (path,) = (ran.directory / "out").glob("*.json")
    found: list[dict[str, Any]] = json.loads(path.read_text())["failures"]
    return found


def test_each_failure_has_its_class(ran: Ran) -> None:
    found = {one["operation"]: one["stability"].partition(" (")[0] for one in failures(ran)}
    assert found == CLASSES, ran.shown


@pytest.mark.parametrize(
    "name", ["console", "json", "ndjson", "sarif", "md", "html", "xml", "allure"]
)
def test_every_output_tells_it(ran: Ran, name: str) -> None:
    if name == "console":
        text = ran.stdout
    else:
        paths = [path for path in (ran.directory / "out").rglob("*") if path.is_file()]
        wanted = [path for path in paths if path.suffix == f".{name}" and "allure" not in str(path)]
        if name == "allure":
            wanted = [path for path in paths if "allure" in str(path)]
        text = "".join(path.read_text() for path in wanted)
    assert "needs its sequence" in text
    counts = re.findall(r"intermittent \((\d+) of (\d+)\)", text)
    assert {(int(hits), int(tries)) for hits, tries in counts} >= {(1, 8)}


def test_commands_fail_as_told_on_a_fresh_instance(ran: Ran) -> None:
    tried = 0
    for one in failures(ran):
        if one["stability"] != "stable":
            continue
        with fresh() as app:
            port = app.url.rpartition(":")[2]
            statuses = [
                pasted(re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", command))
                for command in one["reproduce"]
            ]
        assert statuses[-1] == one["answer"].partition(" ")[0], one
        tried += 1
    assert tried == 2


def pasted(command: str) -> str:
    """Status that a printed command gets from bash."""
    more = f"{command} --silent --output /dev/null --write-out '%{{http_code}}'"
    return subprocess.run(
        ["bash", "-c", more], capture_output=True, text=True, check=True, timeout=60
    ).stdout


def test_what_is_taken_without_credentials_is_printed_without(ran: Ran) -> None:
    (found,) = [one for one in failures(ran) if one["check"] == "ignored_auth"]
    (command,) = found["reproduce"]
    assert "Authorization" not in command


def test_a_sequence_says_whose_answers_its_values_are(ran: Ran) -> None:
    (found,) = [one for one in failures(ran) if one["stability"] == "needs its sequence"]
    assert len(found["reproduce"]) == 3
    block = ran.stdout[ran.stdout.index("GET /things/{id} _") :]
    assert "put in what is answered there:" in block
    assert re.search(r"path id of request [23]: .*to request 1$", block, re.MULTILINE)
    names = {}
    with fresh() as app:
        port = app.url.rpartition(":")[2]
        # As somebody would who reads it: what the first command answers stands in the others.
        for command in found["reproduce"]:
            here = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", command)
            status = pasted(re.sub(r"/things/t\d+", "/things/t1", here))
            names[command] = status
    assert list(names.values()) == ["201", "200", "500"]
