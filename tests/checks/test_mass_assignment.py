"""Read-only fields that a request sets."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.checks.asked import POSITIVE, Exchanges, operations_of
from tests.e2e.runner import Command

NAME = "mass_assignment"
ROLE: dict[str, Any] = {"enum": ["agent", "admin"], "readOnly": True}
FIELDS = {
    "id": {"type": "string", "readOnly": True},
    "name": {"type": "string"},
    "role": ROLE,
    "slug": {"type": "string", "readOnly": True},
}
AGENT = {"type": "object", "properties": {**FIELDS, "level": {"type": "integer", "readOnly": True, "maximum": 5_000}}}
NEW = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def _operation(status: int, *, body: Any = None) -> dict[str, Any]:
    told = {"responses": {f"{status}": {"description": "", "content": {"application/json": {"schema": AGENT}}}}}
    return told | ({} if body is None else {"requestBody": {"content": {"application/json": {"schema": body}}}})


PATHS = {
    "/agents": {"post": _operation(201, body=NEW)},
    "/agents/{id}": {"parameters": [ID], "get": _operation(200), "put": _operation(200, body=NEW)},
    "/notes": {"post": _operation(201, body=NEW)},
}
SERVED = {"id": "a1", "name": "Ann", "role": "agent", "level": 1, "slug": "ann"}
ID_A1 = {"id": "a1"}


class Agents:
    """Answers what the check sends: a write with what it takes over, a read with what is stored."""

    def __init__(self, taken: set[str], stored: set[str], status: int = 201) -> None:
        self.taken, self.stored, self.status = taken, stored, status
        self.kept: dict[str, Any] = {}

    def __call__(self, request: WireRequest) -> Outcome:
        if request.method == "GET":
            return Response(200, [("Content-Type", "application/json")], json.dumps(self.kept).encode())
        sent = json.loads(request.body or b"")
        self.kept = SERVED | {name: value for name, value in sent.items() if name in self.stored | {"name"}}
        shown = SERVED | {name: value for name, value in sent.items() if name in self.taken | {"name"}}
        return Response(self.status, [("Content-Type", "application/json")], json.dumps(shown).encode())


def _failed(label: str, agents: Agents, **parts: Any) -> tuple[list[str], list[str]]:
    them = Exchanges(operations_of(PATHS))
    told: dict[str, Any] = {"mode": POSITIVE, "phase": "exploration", "media_type": "application/json"}
    head = [("Content-Type", "application/json")]
    # A sixteenth of the cases is repeated.
    for index in range(200):
        sent = them.sent(
            label,
            200 if label.startswith("PUT") else 201,
            head,
            answer=json.dumps(SERVED).encode(),
            index=index,
            body={"name": "Ann"},
            **told,
            **parts,
        )
        found = them.verdict(NAME, sent, answers=agents)
        if them.asked:
            return [one.unique_key for one in found.failures], [one.method for one in them.asked]
    return [], []


@pytest.mark.parametrize(
    ("label", "parts", "agents", "expected"),
    [
        ("POST /agents", {}, Agents({"role"}, {"role"}), (["role"], ["POST", "GET", "POST"])),
        ("POST /agents", {}, Agents({"level"}, {"level"}), (["level"], ["POST", "GET"])),
        ("PUT /agents/{id}", {"path_parameters": ID_A1}, Agents({"role"}, {"role"}), (["role"], ["PUT", "GET", "PUT"])),
        # Ignored, refused, only repeated in the response, or without a way to read it.
        ("POST /agents", {}, Agents(set(), set()), ([], ["POST"])),
        ("POST /agents", {}, Agents({"role"}, {"role"}, 422), ([], ["POST"])),
        ("POST /agents", {}, Agents({"role"}, set()), ([], ["POST", "GET"])),
        ("POST /notes", {}, Agents({"role"}, {"role"}), ([], ["POST"])),
    ],
    ids=["created", "number", "updated", "ignored", "refused", "echoed", "unreadable"],
)
def test_a_read_only_field_that_is_stored_is_told(
    label: str, parts: dict[str, Any], agents: Agents, expected: tuple[list[str], list[str]]
) -> None:
    assert _failed(label, agents, **parts) == expected


class Deciding(Agents):
    """Ignores what is sent: it shows other values at each write but the first, as of a flag that tells whether a resource is the first one."""

    def __call__(self, request: WireRequest) -> Outcome:
        self.kept = SERVED | {"role": "admin", "slug": "ann-2"}
        return Response(200, [("Content-Type", "application/json")], json.dumps(self.kept).encode())


@pytest.mark.parametrize(("label", "parts"), [("POST /agents", {}), ("PUT /agents/{id}", {"path_parameters": ID_A1})])
def test_a_value_that_the_server_chooses_by_itself_is_not_told(label: str, parts: dict[str, Any]) -> None:
    verb = label.partition(" ")[0]
    assert _failed(label, Deciding(set(), set()), **parts) == ([], [verb, "GET", verb])


@pytest.mark.parametrize("is_planted", [True, False], ids=["planted", "fixed"])
def test_fuzz_reports_a_role_that_anybody_can_take(tmp_path: Path, *, is_planted: bool) -> None:
    agents: dict[str, dict[str, Any]] = {}

    def answer(request: Request) -> Reply:
        path, _, name = request.target.partition(b"?")[0].decode("latin-1").rpartition("/")
        if path == "/agents":
            return json_reply(agents[name]) if name in agents else json_reply({}, 404)
        try:
            body = json.loads(request.body)
        except ValueError:
            return json_reply({}, 422)
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            return json_reply({}, 422)
        role = body.get("role") if is_planted and body.get("role") in ROLE["enum"] else "agent"
        agent = {"id": f"a{len(agents)}", "name": body["name"], "role": role, "level": 1}
        agents[agent["id"]] = agent
        return json_reply(agent, 201)

    read = {"parameters": [ID], "get": _operation(200)}
    paths = {"/agents": PATHS["/agents"], "/agents/{id}": read}
    document = {"openapi": "3.0.3", "info": {"title": "Agents", "version": "1"}, "paths": paths}
    with serving(answer, document) as app:
        done = Command(tmp_path).until(
            lambda: len(agents) > 150, "fuzz", app.document_url, "--checks", NAME, "--seed", "1", "--max-time", "60"
        )
    assert done.defects == ([("POST /agents", NAME)] if is_planted else []), done.shown
