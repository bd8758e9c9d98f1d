"""Writes that are accepted and lost, or refused and stored, and services that change values for a reason."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from checker.core.meta import Binding
from checker.core.operation import Label, Location
from checker.core.request import WireRequest
from checker.core.response import Response
from tests.apps.serving import serving
from tests.apps.stock import DOCUMENT, Stock
from tests.checks.asked import POSITIVE, Exchanges, Sent, operations_of
from tests.e2e.runner import Command

LOST, STORED = "read_your_writes", "refused_write"
CREATING, UPDATING = "POST /items", "PUT /items/{id}"


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("planted", "told"),
    [
        ("creation ignores is_fragile", {(CREATING, LOST, "is_fragile")}),
        ("update loses price", {(UPDATING, LOST, "price")}),
        ("update ignores name", {(UPDATING, LOST, "name")}),
        ("refused update stored", {(UPDATING, STORED, "price"), (UPDATING, STORED, "name")}),
        ("nothing", set()),
    ],
)
def test_a_write_has_the_effect_that_its_response_states(
    tmp_path: Path, planted: str, told: set[tuple[str, str, str]]
) -> None:
    with serving(Stock(planted), DOCUMENT) as app:
        chosen = ("--checks", f"{LOST},{STORED}", "--phases", "stateful", "--continue-on-failure", "-n", "60")
        done = Command(tmp_path).run_as_usual(app.document_url, *chosen, inline=True)
    found = {(one.label, one.check, one.unique_key) for one in done.findings}
    assert found <= told, done.shown
    assert bool(found) is bool(told), done.shown


MISSING, FOUND = Response(404, [], b""), Response(200, [], b"{}")
SENT: Final = {"name": "Green", "color": "red", "code": "abcdef", "status": "open", "password": "secret1", "size": 40}
_TEXT: Final = {"type": "string"}
_COLOR: Final = {**_TEXT, "enum": ["red", "blue", "open", "new"]}
_WRITTEN: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "code", "password"), _TEXT),
        **dict.fromkeys(("color", "status"), _COLOR),
        "size": {"type": "integer"},
        "tags": {"type": "array", "items": _TEXT},
        "note": _TEXT,
    },
}
_READ: Final[dict[str, Any]] = {**_WRITTEN, "properties": {**_WRITTEN["properties"], "id": _TEXT}}
_JSON: Final = (("Content-Type", "application/json"),)


def exchanges_with(read: dict[str, Any]) -> Exchanges:
    body = {"content": {"application/json": {"schema": _WRITTEN}}}
    shown = {"2XX": {"description": "", "content": {"application/json": {"schema": read}}}}
    one = {"parameters": [{"name": "id", "in": "path", "required": True, "schema": _TEXT}], "responses": shown}
    paths = {
        "/cars": {"post": {"requestBody": body, "responses": shown}},
        "/cars/{id}": {"get": one, "patch": {**one, "requestBody": body}, "put": {**one, "requestBody": body}},
    }
    return Exchanges(operations_of(paths))


def step(them: Exchanges, label: str, body: Any, shown: Any, status: int = 200) -> Sent:
    is_one = label.endswith("}")
    parts: dict[str, Any] = {} if body is None else {"body": body, "media_type": "application/json"}
    if is_one:
        parts["path_parameters"] = {"id": "7"}
        parts["bindings"] = (Binding(Location.PATH, "id", Label("POST /cars"), "/id", 0, "7"),)
    answer = b"" if shown is None else json.dumps(shown).encode()
    return them.sent(label, status, _JSON, answer=answer, mode=POSITIVE, phase="stateful", **parts)


def lost(
    label: str, shown: Any, read: dict[str, Any], *, schema: dict[str, Any] = _READ, unknown: Response = MISSING
) -> list[str]:
    """Fields that are lost where a car was made as `SENT`, changed by `label`, and read."""
    them = exchanges_with(schema)
    first = {"id": "7", **SENT, "name": "Old", "size": 3, "color": "blue"}
    steps = [step(them, "POST /cars", {**SENT, "name": "Old", "size": 3, "color": "blue"}, first, 201)]
    if label == "POST /cars":
        steps = []
    steps.append(step(them, label, SENT, shown, 201 if label == "POST /cars" else 200))
    reading = step(them, "GET /cars/{id}", None, {"id": "7", **read})
    return [one.unique_key for one in them.verdict(LOST, reading, steps, answers=lambda _: unknown).failures]


@pytest.mark.parametrize(
    ("label", "shown", "changed", "told"),
    [
        # The response to the write showed the value that was sent.
        ("POST /cars", {"id": "7", **SENT}, {"name": "Blue"}, ["name"]),
        ("POST /cars", {"id": "7", **SENT}, {"status": "new"}, []),
        ("PATCH /cars/{id}", {"id": "7", **SENT}, {"size": 3}, ["size"]),
        # A number moves a little by itself, and a far one was replaced.
        ("POST /cars", {"id": "7", **SENT}, {"size": 1_040}, []),
        ("POST /cars", {"id": "7", **SENT}, {"size": 1_041}, ["size"]),
        ("POST /cars", {"id": "7", **SENT, "size": 1_041}, {"size": 1_041}, []),
        ("POST /cars", {"id": "7"}, {"size": 1_041}, []),
        # It showed nothing.
        ("PUT /cars/{id}", None, {"color": "blue"}, ["color"]),
        # It showed the old value.
        ("PUT /cars/{id}", {"id": "7", **SENT, "size": 3}, {"size": 3}, ["size"]),
        # It showed a value of its own: a rule of the service, or a fault.
        ("PUT /cars/{id}", {"id": "7", **SENT, "size": 39}, {"size": 39}, []),
        ("POST /cars", {"id": "7", **SENT, "status": "new"}, {"status": "new"}, []),
        ("POST /cars", {"id": "7", **SENT, "color": "blue"}, {"color": "blue"}, ["color"]),
        # Another form of the same value, a derived one, or none.
        ("POST /cars", {"id": "7", **SENT}, {"name": "GREEN", "code": "abcdef2", "color": "RED"}, []),
        ("POST /cars", {"id": "7", **SENT}, {"name": "<b>Green</b>", "size": "40"}, []),
        ("POST /cars", {"id": "7", **SENT}, {"password": "hidden"}, []),
        ("POST /cars", {"id": "7", **SENT}, {"name": None}, []),
        # Nothing is stored, as in a mock.
        ("POST /cars", {"id": "7", **SENT}, dict.fromkeys(SENT, "other"), []),
    ],
)
def test_a_field_is_lost_under_these_conditions(
    label: str, shown: Any, changed: dict[str, Any], told: list[str]
) -> None:
    assert lost(label, shown, {**SENT, **changed}) == told


@pytest.mark.parametrize(
    ("shown", "read", "told"),
    [
        # A text with a blank is lost where the old one is back, and may be stored in another form.
        ("New note", "Old note", ["note"]),
        ("New note", "new-note", []),
        ("Old note", "Old note", []),
    ],
)
def test_an_old_text_that_comes_back_is_found(shown: str, read: str, told: list[str]) -> None:
    them = exchanges_with(_READ)
    first = {"id": "7", **SENT, "size": 3, "note": "Old note"}
    steps = [step(them, "POST /cars", first, first, 201)]
    sent = {**SENT, "note": "New note"}
    steps.append(step(them, "PATCH /cars/{id}", sent, {"id": "7", **sent, "note": shown}))
    reading = step(them, "GET /cars/{id}", None, {**first, **SENT, "note": read})
    found = them.verdict(LOST, reading, steps, answers=lambda _: MISSING).failures
    assert [one.unique_key for one in found] == told


@pytest.mark.parametrize(
    ("shown", "read", "told"),
    [
        (["a", "c"], ["a", "b"], ["tags"]),
        (["a", "b"], ["a", "b"], []),
        # Sorted, without what is twice, and added to the old ones.
        (["b", "a"], ["a", "b"], []),
        (["a", "b", "b"], ["a", "b"], []),
        (["a", "c"], ["a", "b", "a", "c"], []),
    ],
)
def test_an_old_list_that_comes_back_is_found(shown: list[str], read: list[str], told: list[str]) -> None:
    them = exchanges_with(_READ)
    first = {"id": "7", **SENT, "tags": ["a", "b"]}
    steps = [step(them, "POST /cars", first, first, 201)]
    steps.append(step(them, "PUT /cars/{id}", {"tags": shown}, {**first, "tags": shown}))
    reading = step(them, "GET /cars/{id}", None, {**first, "tags": read})
    found = them.verdict(LOST, reading, steps, answers=lambda _: MISSING).failures
    assert [one.unique_key for one in found] == told


def test_a_write_of_one_field_is_judged_by_what_was_stored_before() -> None:
    them = exchanges_with(_READ)
    first = {"id": "7", **SENT, "note": "Old note"}
    steps = [step(them, "POST /cars", first, first, 201)]
    steps.append(step(them, "PATCH /cars/{id}", {"note": "New note"}, {**first, "note": "New note"}))
    reading = step(them, "GET /cars/{id}", None, first)
    (failure,) = them.verdict(LOST, reading, steps, answers=lambda _: MISSING).failures
    assert failure.unique_key == "note"
    assert them.verdict(LOST, reading, steps, answers=lambda _: FOUND).failures == ()


def test_one_schema_for_both_directions_does_not_say_what_can_be_written() -> None:
    shown, read = {**SENT, "size": 3}, {**SENT, "size": 3}
    assert lost("PUT /cars/{id}", shown, read, schema=_WRITTEN) == []
    marked = {**_WRITTEN, "properties": {**_WRITTEN["properties"], "id": {"type": "string", "readOnly": True}}}
    assert lost("PUT /cars/{id}", shown, read, schema=marked) == ["size"]


def test_a_server_that_shows_any_name_stores_nothing() -> None:
    assert lost("POST /cars", SENT, {**SENT, "name": "Blue"}, unknown=FOUND) == []


def test_another_write_may_have_changed_the_field() -> None:
    them = exchanges_with(_READ)
    steps = [
        step(them, "POST /cars", SENT, {"id": "7", **SENT}, 201),
        step(them, "PATCH /cars/{id}", {"size": 5}, None),
        step(them, "GET /cars/{id}", None, {"id": "7", **SENT, "name": "Blue", "size": 5}),
    ]
    assert them.failures(LOST, steps[-1], *steps[:-1]) == []


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"size": 3, "name": "Old"}, {"size": 40}, ["size"]),
        ({"size": 3, "name": "Old"}, {"size": 3, "name": "Old"}, []),
        ({"size": 40, "name": "Green"}, {"size": 40, "name": "Green"}, []),
        # It cannot be read.
        ({"size": 3, "name": "Old"}, None, []),
    ],
)
def test_a_refused_update_has_no_effect(before: dict[str, Any], after: dict[str, Any] | None, told: list[str]) -> None:
    them = exchanges_with(_READ)
    made = step(them, "POST /cars", before, {"id": "7", **before}, 201)
    refused = step(them, "PUT /cars/{id}", {**SENT, "status": 5}, None, 422)
    held = dict(after or {})

    def answer(request: WireRequest) -> Response:
        if request.method == "PUT":
            held["size"] = json.loads(request.body or b"")["size"]
            return Response(422, [], b"")
        return MISSING if after is None else Response(200, list(_JSON), json.dumps(held).encode())

    found = them.verdict(STORED, refused, [made], answers=answer).failures
    assert [one.unique_key for one in found] == told
    control = ["PUT", "GET"] if told else []
    assert [one.method for one in them.asked] == (["GET", *control] if before["size"] == 3 else [])


@pytest.mark.parametrize("status", [422, 200])
def test_a_constant_that_was_sent_by_chance_is_not_stored(status: int) -> None:
    them = exchanges_with(_READ)
    made = step(them, "POST /cars", {**SENT, "size": 3}, {"id": "7", **SENT, "size": 3}, 201)
    refused = step(them, "PUT /cars/{id}", {**SENT, "status": 5}, None, 422)
    constant = Response(200, list(_JSON), json.dumps(SENT).encode())
    answers = {"GET": constant, "PUT": Response(status, [], b"")}
    assert them.verdict(STORED, refused, [made], answers=lambda request: answers[request.method]).failures == ()


def test_an_old_value_may_be_back_because_another_write_was_lost() -> None:
    them = exchanges_with(_READ)
    first = {"id": "7", **SENT, "name": "Old"}
    made = step(them, "POST /cars", first, first, 201)
    changed = step(them, "PUT /cars/{id}", {**SENT, "name": "New"}, {"id": "7", **SENT, "name": "New"})
    refused = step(them, "PUT /cars/{id}", {"name": "Old", "status": 5}, None, 422)
    answer = Response(200, list(_JSON), json.dumps(first).encode())
    assert them.verdict(STORED, refused, [made, changed], answers=lambda _: answer).failures == ()
