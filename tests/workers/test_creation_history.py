"""Which requests made what other cases may hit by chance."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.checks.judge import CLEAN
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.resources import ResourceModel, ResourceUse
from checker.core.response import Response
from checker.corpus.records import Component, ResourceMade
from checker.phases.attempt import Verdict
from checker.workers.observers.creations import CreationHistory
from checker.workers.recording.traffic import Components
from tests.checks.asked import POSITIVE, Exchanges, operations_of

KEY = {"name": "box", "in": "path", "required": True, "schema": {"type": "string"}}
NAMED = {"content": {"application/json": {"schema": {"type": "object"}}}}
DONE = {"responses": {"200": {"description": ""}}}
PATHS: dict[str, Any] = {
    "/boxes": {"post": {"requestBody": NAMED, **DONE}},
    "/boxes/{box}": {method: {"parameters": [KEY], **DONE} for method in ("get", "put", "post", "delete")},
    "/box": {"get": DONE},
    "/stock": {"get": DONE},
    "/stock/{item}": {"get": {"parameters": [{**KEY, "name": "item"}], **DONE}},
    "/tags/{tag}": {"put": {"parameters": [{**KEY, "name": "tag"}], **DONE}},
    "/boxes/{box}/open": {"put": {"parameters": [KEY], **DONE}},
    "/boxes/": {"post": {"requestBody": NAMED, **DONE}, "put": {"requestBody": NAMED, **DONE}},
}


@pytest.fixture
def creations() -> CreationHistory:
    uses = [ResourceUse.of(Label(f"{m.upper()} {path}"), m.upper(), path) for path, item in PATHS.items() for m in item]
    return CreationHistory(
        ResourceModel(uses),
        {"/boxes": ("box",), "/stock": ("item",)},
        lambda request, *, is_timed=False: f"curl -X {request.method} {request.target.decode()}",
        Components(),
    )


def made(
    creations: CreationHistory, label: str, answer: Response, index: int = 0, phase: str = "coverage", **parts: Any
) -> list[ResourceMade]:
    sent = Exchanges(operations_of(PATHS)).sent(label, answer.status_code, mode=POSITIVE, **parts)
    assert sent.request is not None
    return list(creations.observe(sent.case, sent.request, answer, (phase, index)))


def put(creations: CreationHistory, name: str, status: int = 201, index: int = 0) -> list[ResourceMade]:
    parts: dict[str, Any] = {"path_parameters": {"box": name}}
    return made(creations, "PUT /boxes/{box}", Response(status, [], b""), index, **parts)


def look(creations: CreationHistory, method: str, name: str, status: int) -> None:
    """Let a request find a box, or none."""
    parts: dict[str, Any] = {"path_parameters": {"box": name}}
    sent = Exchanges(operations_of(PATHS)).sent(f"{method} /boxes/{{box}}", status, mode=POSITIVE, **parts)
    no_flight = cast("Any", None)
    assert list(creations.saw(no_flight, Verdict(sent.case, sent.request, sent.outcome, CLEAN))) == []


def test_what_is_put_stands_where_it_was_put(creations: CreationHistory) -> None:
    command = "curl -X PUT /v1/boxes/0"
    parts = (Component("path", "positive", ()),)
    wanted = ResourceMade("/v1/boxes/0", "PUT /boxes/{box}", "coverage", 0, 201, command, parts)
    assert put(creations, "0") == [wanted]


def test_a_resource_that_clients_name_is_where_it_was_posted(creations: CreationHistory) -> None:
    parts: dict[str, Any] = {"path_parameters": {"box": "0"}}
    (found,) = made(creations, "POST /boxes/{box}", Response(201, [], b'{"data": {"id": 7}}'), **parts)
    assert (found.path, found.pointer) == ("/v1/boxes/0", "")
    # Other statuses may mean that the resource was changed.
    parts = {"path_parameters": {"box": "1"}}
    assert made(creations, "POST /boxes/{box}", Response(200, [], b"{}"), **parts) == []


def test_a_collection_may_end_with_a_slash_and_be_put_to(creations: CreationHistory) -> None:
    for number, method in enumerate(("POST", "PUT")):
        answer = Response(200, [], b'{"id": %d}' % number)
        (found,) = made(creations, f"{method} /boxes/", answer, body={})
        assert (found.path, found.pointer) == (f"/v1/boxes/{number}", "/id")


def test_a_server_error_may_have_made_something_of_any_name(creations: CreationHistory) -> None:
    (found,) = made(creations, "POST /boxes", Response(500, [], b'{"box": "0"}'), body={})
    assert (found.path, found.status, found.is_gone) == ("/v1/boxes/*", 500, False)
    assert made(creations, "POST /boxes", Response(500, [], b""), 1, body={}) == []
    assert put(creations, "0", status=500) == []


def test_what_is_deleted_is_gone(creations: CreationHistory) -> None:
    parts: dict[str, Any] = {"path_parameters": {"box": "0"}}
    (found,) = made(creations, "DELETE /boxes/{box}", Response(204, [], b""), **parts)
    assert (found.path, found.is_gone) == ("/v1/boxes/0", True)
    assert [one.is_gone for one in put(creations, "0")] == [False]


def test_names_that_nobody_hits_by_chance_are_left_out(creations: CreationHistory) -> None:
    assert put(creations, "a" * 257) == []
    # A list may show a long name.
    assert len(put(creations, "8bd1a9c3-1f5e")) == 1
    long: dict[str, Any] = {"name": "a" * 257}
    assert made(creations, "POST /boxes", Response(422, [], b""), body=long) == []
    action: dict[str, Any] = {"path_parameters": {"box": "0"}}
    assert made(creations, "PUT /boxes/{box}/open", Response(200, [], b""), **action) == []


def test_the_successes_of_each_phase_are_read_up_to_a_limit(creations: CreationHistory) -> None:
    def shown(number: int, phase: str) -> int:
        answer = Response(201, [], f'{{"box": "8bd1a9c3-1f5e-{number}"}}'.encode())
        return len(made(creations, "POST /boxes", answer, number, phase, body={}))

    assert [shown(number, "coverage") for number in range(201)] == [*[1] * 200, 0]
    assert shown(201, "fuzzing") == 1


def test_a_creation_by_put_is_told_from_an_update(creations: CreationHistory) -> None:
    # Other requests create boxes: this one may have been there.
    assert put(creations, "0", status=200) == []
    look(creations, "PUT", "0", 404)
    assert put(creations, "0", status=200) == []
    look(creations, "GET", "0", 404)
    assert [one.path for one in put(creations, "0", status=200)] == ["/v1/boxes/0"]
    # No other request creates tags.
    parts: dict[str, Any] = {"path_parameters": {"tag": "0"}}
    (found,) = made(creations, "PUT /tags/{tag}", Response(200, [], b""), **parts)
    assert found.path == "/v1/tags/0"


def test_what_made_it_more_surely_is_told_once_more(creations: CreationHistory) -> None:
    look(creations, "GET", "0", 404)
    assert len(put(creations, "0", status=200, index=5)) == 1
    assert put(creations, "0", status=200, index=7) == []
    named: dict[str, Any] = {"body": {"name": "0"}}
    assert [one.path for one in made(creations, "POST /boxes", Response(200, [], b"{}"), 8, **named)][:1] == [
        "/v1/boxes/0"
    ]
    assert len(put(creations, "0", status=201, index=9)) == 1
    assert len(put(creations, "0", status=201, index=2)) == 1
    assert put(creations, "0", status=200, index=0) == []


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (Response(201, [("Location", "/v1/boxes/7")], b""), {}),
        (Response(200, [], b'{"box": 7}'), {"box": "other"}),
        (Response(200, [], b"{}"), {"name": "7"}),
    ],
)
def test_what_is_posted_stands_where_the_answer_or_the_request_says(
    creations: CreationHistory, answer: Response, body: dict[str, str]
) -> None:
    parts: dict[str, Any] = {"media_type": "application/json", "body": body}
    found, *_ = made(creations, "POST /boxes", answer, **parts)
    assert (found.path, found.status) == ("/v1/boxes/7", answer.status_code)


def test_no_command_is_written_for_what_is_known_to_be_made_already(creations: CreationHistory) -> None:
    rendered: list[bytes] = []

    def render(request: WireRequest, *, is_timed: bool = False) -> str:
        rendered.append(request.target)
        return "curl"

    creations.render = render
    for index in range(50):
        put(creations, "0", index=index)
    put(creations, "1", index=50)
    assert rendered == [b"/v1/boxes/0", b"/v1/boxes/1"]


def test_what_was_created_takes_the_names_that_were_given(creations: CreationHistory) -> None:
    body, said = {"name": "a", "size": 3}, b'{"box": 7}'
    found = made(creations, "POST /boxes", Response(201, [], said), body=body)
    assert [one.path for one in found] == ["/v1/boxes/7", "/v1/boxes with name a"]
    # The examples of a description are sent in each phase, and are longer than what cases hit by chance.
    found = made(creations, "POST /boxes", Response(200, [], b'{"box": 8}'), body={"name": "my-first-box"})
    assert [one.path for one in found] == ["/v1/boxes/8", "/v1/boxes with name my-first-box"]
    assert made(creations, "POST /boxes", Response(200, [], b"{}"), body={"email": "a"}) == []
    assert made(creations, "POST /boxes", Response(201, [], b""), body={"email": "a" * 257}) == []


def test_a_refusal_may_have_taken_the_names_that_were_given(creations: CreationHistory) -> None:
    def names(status: int, body: bytes = b"", name: str = "a") -> list[tuple[str, int]]:
        found = made(creations, "POST /boxes", Response(status, [], body), body={"name": name, "age": -1})
        return [(one.path, one.status) for one in found]

    taken = "/v1/boxes with name a"
    assert names(422, b"the name is already taken") == []
    assert names(422, b"the age is too small") == [(taken, 422)]
    assert (taken, 201) in names(201, b'{"box": 7}')
    assert names(422, b"the age is too small") == []


def test_the_requests_of_checks_create_as_well(creations: CreationHistory) -> None:
    sent = Exchanges(operations_of(PATHS)).sent("POST /boxes", 409, mode=POSITIVE, body={"name": "a"})
    assert sent.request is not None
    assert sent.outcome is not None
    probe = replace(sent.request, body=b'{"name": "b"}', is_of_check=True)
    look = replace(sent.request, method="GET", is_of_check=True)
    answers = [
        (sent.request, sent.outcome, 0.0),
        (probe, Response(201, [], b'{"box": "8bd1a9c3-1f5e"}'), 0.0),
        (look, Response(201, [], b'{"box": "5"}'), 0.0),
    ]
    flight = cast("Any", SimpleNamespace(index=4, task=SimpleNamespace(lease=SimpleNamespace(phase="coverage"))))
    found = creations.saw(flight, Verdict(sent.case, sent.request, sent.outcome, CLEAN, answers=answers))
    assert [one.path for one in found] == ["/v1/boxes/8bd1a9c3-1f5e", "/v1/boxes with name b"]


def test_a_look_at_the_one_of_the_caller_may_create_it(creations: CreationHistory) -> None:
    answer = Response(200, [], b'{"box": "5"}')
    (found,) = made(creations, "GET /box", answer)
    assert (found.path, found.pointer) == ("/v1/boxes/5", "/box")
    # A creation is surer, whenever it came.
    (found,) = made(creations, "POST /boxes", answer, 9, body={})
    assert found.label == "POST /boxes"
    assert made(creations, "GET /box", answer) == []


def test_a_look_at_a_collection_whose_name_is_no_plural_creates_nothing(creations: CreationHistory) -> None:
    flight = cast("Any", SimpleNamespace(index=4, task=SimpleNamespace(lease=SimpleNamespace(phase="coverage"))))
    sent = Exchanges(operations_of(PATHS)).sent("GET /stock", 200, mode=POSITIVE)
    shown = Response(200, [], b'{"item": "5"}')
    assert list(creations.saw(flight, Verdict(sent.case, sent.request, shown, CLEAN))) == []
