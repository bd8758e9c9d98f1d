"""Updates that are repeated, that leave something out, and that are about an old version."""

import json
from typing import Any

import pytest

from checker.core.meta import Binding
from checker.core.operation import Label, Location
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from tests.checks.asked import POSITIVE, Exchanges, operations_of

NAME = "update_conformance"
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_NOTE = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "text": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer"},
        "kind": {"enum": ["plain", "rich"]},
    },
    "required": ["title"],
    "additionalProperties": False,
}
_CHANGE = {name: value for name, value in _NOTE.items() if name != "required"}
_SHOWN = {"content": {"application/json": {"schema": {**_NOTE, "additionalProperties": True}}}}
_OK: dict[str, Any] = {"responses": {"200": {"description": "", **_SHOWN}}}
_WRITE = {**_OK, "requestBody": {"content": {"application/json": {"schema": _NOTE}}}}
_PATCH = {**_OK, "requestBody": {"content": {"application/json": {"schema": _CHANGE}}}}
PATHS = {"/notes/{id}": {"parameters": [_ID], "get": _OK, "put": _WRITE, "patch": _PATCH}}
BODY = {"title": "New", "text": "abc", "tags": ["a"]}


class Notes:
    """One note with a version. `faults` are its mistakes."""

    def __init__(self, *faults: str) -> None:
        self.faults, self.version = faults, 1
        self.note: dict[str, Any] = {**BODY}
        self.unread = 0
        """Reads that still show the title as it was before the update."""
        if "loses" in faults or "shows late" in faults:
            self.note["title"] = "Old"
            self.unread = 9 if "loses" in faults else 2
        if "stores anything" in faults:
            self.note["tags"] = 1.5

    def __call__(self, request: WireRequest) -> Outcome:
        head = {name.decode().lower(): value.decode() for name, value in request.headers}
        tag, old = f'"{self.version}"', f'"{self.version - 1}"'
        if not request.target.endswith(b"/n1"):
            return self._response(404, b"")
        if request.method == "GET":
            self.unread -= 1
            known = (tag, old) if "304" in self.faults else (tag,)
            is_known = head.get("if-none-match") in known
            note = {**self.note, "title": "Old"} if self.unread >= 0 else self.note
            return self._response(304 if is_known else 200, b"" if is_known else json.dumps(note).encode())
        accepted = (tag, old) if "412" in self.faults else (tag,)
        if "if-match" in head and head["if-match"] not in accepted and "conditions" not in self.faults:
            return self._response(412, b"")
        sent: dict[str, Any] = json.loads(request.body or b"")
        changed = {**self.note, **sent} if request.method == "PATCH" else dict(sent)
        if "empties" in self.faults and "count" not in sent:
            changed["count"] = 0
        if "counts" in self.faults and "count" not in sent:
            changed["count"] = len(changed["title"])
        if "of kind" in self.faults and sent.get("kind") == "plain":
            changed["count"] = 0
        if "fixed" in self.faults:
            changed["count"] = 0
        shown = dict(changed)
        if "adds" in self.faults:
            changed["tags"] = [*self.note.get("tags", []), *sent.get("tags", [])]
        if "keeps" in self.faults or "merges" in self.faults:
            changed = {**self.note, **changed}
        if "late" not in self.faults:
            self.note = changed
        self.version += 1
        return self._response(200, json.dumps(changed if "merges" in self.faults else shown).encode())

    def _response(self, status: int, body: bytes) -> Response:
        tags = [] if "untagged" in self.faults else [("ETag", f'"{self.version}"')]
        return Response(status, [("Content-Type", "application/json"), *tags], body)


def _keys(
    notes: Notes,
    label: str = "PUT /notes/{id}",
    *,
    confirms: str = "",
    patience_s: float | None = None,
    body: dict[str, Any] = BODY,
) -> tuple[list[str], int]:
    """Return the keys of the failures of the first case that is chosen, and the number of requests for it."""
    bound = (Binding(Location.PATH, "id", Label("POST /notes"), "", 0, "n1"),)
    for index in range(100):
        them = Exchanges(operations_of(PATHS))
        sent = them.sent(
            label,
            200,
            [("Content-Type", "application/json")],
            answer=json.dumps({**BODY, "count": 3}).encode(),
            index=index,
            mode=POSITIVE,
            phase="exploration",
            bindings=bound,
            path_parameters={"id": "n1"},
            body=dict(body),
            media_type="application/json",
        )
        assert isinstance(sent.outcome, Response)
        assert sent.outcome.request is not None
        sent.outcome.request.confirms, sent.outcome.request.patience_s = confirms, patience_s
        found = them.verdict(NAME, sent, [sent], answers=notes)
        assert not found.errors
        if them.asked:
            return [one.unique_key for one in found.failures], len(them.asked)
    raise AssertionError("no case was chosen")


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        ((), []),
        (("adds",), ["tags"]),
        # A service that does not validate what it stores.
        (("stores anything", "untagged"), []),
        (("keeps", "untagged"), ["text"]),
        # The response says that it merges, or nothing of the request is stored yet.
        (("merges",), []),
        (("late", "untagged"), []),
        (("304",), ["If-None-Match"]),
        (("412",), ["If-Match"]),
        # A server without conditions.
        (("conditions",), []),
    ],
    ids=lambda one: "-".join(one) if isinstance(one, tuple) else "",
)
def test_an_update_is_judged_by_what_reads_show(faults: tuple[str, ...], expected: list[str]) -> None:
    assert _keys(Notes(*faults))[0] == expected


@pytest.mark.parametrize(("fault", "confirmed"), [("loses", ["title"]), ("shows late", [])])
def test_an_update_that_is_not_stored_is_read_later_when_it_is_repeated(fault: str, confirmed: list[str]) -> None:
    assert _keys(Notes(fault, "untagged"))[0] == ["title"]
    assert _keys(Notes(fault, "untagged"), confirms=NAME)[0] == confirmed
    # A candidate of a shrink does not wait.
    assert _keys(Notes(fault, "untagged"), confirms=NAME, patience_s=1.0)[0] == ["title"]


def test_a_patch_may_leave_out_and_add() -> None:
    assert _keys(Notes("adds", "keeps", "untagged"), "PATCH /notes/{id}") == ([], 3)


@pytest.mark.parametrize(
    ("fault", "expected"),
    # A number that follows from others, one that the kind of the note decides, and one that nobody can set.
    [("empties", ["count"]), ("", []), ("counts", []), ("of kind", []), ("fixed", [])],
)
def test_a_patch_that_changes_nothing_empties_no_number(fault: str, expected: list[str]) -> None:
    notes = Notes(fault, "untagged")
    body = {"title": "New", "kind": "plain"}
    count = 0 if fault in ("empties", "of kind", "fixed") else 3
    notes.note = {**BODY, **body, "count": count}
    assert _keys(notes, "PATCH /notes/{id}", body=body)[0] == expected
