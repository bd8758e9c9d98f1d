"""Sequences remove what they have created, and not what other tasks of the run use."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from checker.corpus.journal import JournalReader
from checker.corpus.records import ValueGone
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply
from tests.health.running import run
from tests.health.services import Service, operation

FLOW = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}
NAMED = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "minLength": 1, "example": "my-flow"}},
}


@dataclass
class Flows(Service):
    """A creation with a name that is taken returns the flow that has it."""

    flows: dict[str, str] = field(default_factory=dict)
    """Id -> name."""

    @property
    def document(self) -> dict[str, Any]:
        shown = {"200": {"description": "", "content": {"application/json": {"schema": FLOW}}}}
        member = {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]}
        return {
            "openapi": "3.0.3",
            "info": {"title": "Flows", "version": "1"},
            "paths": {
                "/flows": {"post": operation(400, body=NAMED) | {"responses": shown | {"400": {"description": ""}}}},
                "/flows/{id}": member | {"get": operation(200, 404), "delete": operation(204, 404)},
            },
        }

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        flow = path.removeprefix("/flows/")
        if path == "/flows" and method == "POST":
            return self._made(request)
        if method not in ("GET", "DELETE"):
            return json_reply({}, 405)
        if flow not in self.flows:
            return json_reply({}, 404)
        if method == "DELETE":
            del self.flows[flow]
            return Reply(204)
        return json_reply({"id": flow, "name": self.flows[flow]})

    def _made(self, request: Request) -> Reply:
        try:
            name = json.loads(request.body)["name"]
            assert isinstance(name, str)
            assert name
        except (ValueError, TypeError, KeyError, AssertionError):
            return json_reply({}, 400)
        known = [flow for flow, one in self.flows.items() if one == name]
        self.made += not known
        flow = known[0] if known else f"flow-{self.made:06}-{len(name)}"
        self.flows[flow] = name
        return json_reply({"id": flow, "name": name}, 200 if known else 201)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_resource_of_earlier_phases_that_a_sequence_is_given_again_stays(tmp_path: Path, workers: int) -> None:
    service = Flows({}, 404)
    said = {
        "operations": [{"include-method": "DELETE", "phases": {"examples": {"enabled": False}}}],
        "generation": {"database": "none", "max-examples": 60},
    }
    run(tmp_path, service, said, phases=("examples", "stateful"), workers=workers)
    first = "flow-000001-7"
    removed = Counter(what for what, status in service.seen if what.startswith("DELETE /flows/") and status == 204)
    assert removed, "sequences remove flows of their own"
    assert sum(what == f"GET /flows/{first}" for what, _ in service.seen) > 1
    assert f"DELETE /flows/{first}" not in removed
    # Tasks that go on later do not take them.
    journals = (tmp_path / "corpus").rglob("*.journal")
    records = [one for path in journals for one in JournalReader(path, kinds=(ValueGone,)).read_new()]
    gone = {f"DELETE /flows/{one.value}" for one in records if isinstance(one, ValueGone) and one.succeeded}
    assert gone
    assert gone <= removed.keys()
