"""Listed cases reach services that take each name once, and what is wrong behind that is found and confirmed."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply
from tests.health.running import run
from tests.health.services import Service, operation

_NAMES = {"email", "name", "age", "city"}
_MEMBER = {
    "type": "object",
    "properties": {
        "email": {"type": "string", "format": "email"},
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "city": {"type": "string", "minLength": 2, "maxLength": 30},
    },
    "required": ["email", "name"],
    "additionalProperties": False,
}
_ADDRESS = re.compile(r"[a-z0-9.]+@[a-z0-9.]+")
_PATHS = {"/members": {"post": operation(201, 400, 409, body=_MEMBER)}}
_COVERAGE = {"phases": {name: {"enabled": False} for name in ("examples", "fuzzing", "stateful")}}


@dataclass
class Members(Service):
    """Takes each address once, and each name; any age is right to it."""

    taken: set[str] = field(default_factory=set)

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if path != "/members":
            return None
        try:
            body = json.loads(request.body)
        except ValueError:
            body = None
        if method != "POST" or request.headers.get("content-type") != "application/json":
            return json_reply({}, 400 if method == "POST" else 405)
        if not self._is_right(body):
            return json_reply({}, 400)
        names = {f"email {body['email']}", f"name {body['name']}"}
        if names & self.taken:
            return json_reply({}, 409)
        self.taken |= names
        return json_reply({}, 201)

    def _is_right(self, body: Any) -> bool:
        if not isinstance(body, dict) or not {"email", "name"} <= set(body) <= _NAMES:
            return False
        name, email, city = body["name"], body["email"], body.get("city", "xx")
        is_text = isinstance(name, str) and isinstance(email, str) and isinstance(city, str)
        return bool(is_text and 1 <= len(name) <= 20 and _ADDRESS.fullmatch(email) and 2 <= len(city) <= 30)


def test_edges_are_taken_though_each_name_is_taken_once(tmp_path: Path) -> None:
    service = Members(_PATHS, 401)
    said: dict[str, Any] = {**_COVERAGE, "continue-on-failure": True}
    ran = run(tmp_path, service, said)
    statuses = Counter(status for place, status in service.seen if place == "POST /members")
    assert statuses[201] >= 20
    assert statuses[409] <= 6
    accepted = [one for one in ran.view.findings.values() if one.check == "negative_data_rejection"]
    # A converted type, and all other wrong values.
    assert 1 <= len(accepted) <= 2
    for found in accepted:
        assert found.investigation.reproduced
        assert (found.investigation.hits, found.investigation.tries) == (2, 2)
        body = json.loads(found.interactions[-1].exchange.body or b"")
        assert body.keys() == {"email", "name", "age"}


_BORN = {
    "type": "object",
    "properties": {"email": {"type": "string", "format": "email"}, "born": {"type": "string", "format": "date"}},
    "required": ["email"],
    "additionalProperties": False,
}
_BIRTHS = {"/births": {"post": operation(201, 400, 409, body=_BORN)}}


@dataclass
class Births(Service):
    """Takes each address once, and no dates to come."""

    taken: set[str] = field(default_factory=set)

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if (method, path) != ("POST", "/births"):
            return None
        body = json.loads(request.body)
        if body["email"] in self.taken:
            return json_reply({"detail": "taken"}, 409)
        if body.get("born", "").startswith("9999"):
            return json_reply({"detail": "born must be in the past"}, 400)
        self.taken.add(body["email"])
        return json_reply({}, 201)


def test_a_smaller_case_that_is_served_takes_no_name_from_the_one_that_fails(tmp_path: Path) -> None:
    generation = {"database": "none", "max-examples": 6, "mode": "positive"}
    ran = run(tmp_path, Births(_BIRTHS, 401), {**_COVERAGE, "generation": generation})
    (found,) = ran.view.findings.values()
    assert found.check == "positive_data_acceptance"
    assert json.loads(found.interactions[-1].exchange.body or b"")["born"].startswith("9999")
    assert found.investigation.reproduced
    assert found.investigation.hits == found.investigation.tries


_LABEL = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "minLength": 2, "example": "simple"},
        "value": {"type": "string", "minLength": 2, "example": "a-value"},
    },
    "required": ["kind", "value"],
}
_LABELS = {"/labels": {"post": operation(201, 400, 401, 409, 500, body=_LABEL)}}


@dataclass
class Labels(Service):
    """Takes each value once and serves without the credentials that it describes. A kind that does not exist is a server error."""

    taken: set[str] = field(default_factory=set)

    @property
    def document(self) -> dict[str, Any]:
        bearer = {"type": "http", "scheme": "bearer"}
        return super().document | {"security": [{"B": []}], "components": {"securitySchemes": {"B": bearer}}}

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if (method, path) != ("POST", "/labels"):
            return None
        body = json.loads(request.body)
        if body["kind"] != "simple":
            return json_reply({}, 500)
        if body["value"] in self.taken:
            return json_reply({}, 409)
        self.taken.add(body["value"])
        return json_reply({}, 201)


def test_the_name_that_was_taken_is_changed_and_no_reference_beside_it(tmp_path: Path) -> None:
    auth = {"openapi": {"B": {"bearer": "t"}}}
    phases = {name: {"enabled": False} for name in ("coverage", "fuzzing", "stateful")}
    ran = run(tmp_path, Labels(_LABELS, 401), {"auth": auth, "phases": phases})
    served = (one for one in ran.view.findings.values() if one.check == "ignored_auth")
    (found,) = (one for one in served if one.label == "POST /labels")
    assert found.investigation.reproduced
    assert "got `201" in found.message
    assert found.interactions[-1].exchange.status == 201
    assert '"kind":"simple"' in found.investigation.reproduction
