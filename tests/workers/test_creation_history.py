"""Which requests made what other cases may hit by chance."""

from typing import Any

import pytest

from checker.core.request import WireRequest
from checker.core.response import Response
from checker.corpus.records import ResourceMade
from checker.workers.observers.creations import CreationHistory
from tests.checks.asked import POSITIVE, Exchanges, operations_of

KEY = {"name": "box", "in": "path", "required": True, "schema": {"type": "string"}}
NAMED = {"content": {"application/json": {"schema": {"type": "object"}}}}
DONE = {"responses": {"200": {"description": ""}}}
PATHS = {
    "/boxes": {"post": {"requestBody": NAMED, **DONE}},
    "/boxes/{box}": {method: {"parameters": [KEY], **DONE} for method in ("put", "post", "delete")},
    "/boxes/{box}/open": {"put": {"parameters": [KEY], **DONE}},
    "/boxes/": {"post": {"requestBody": NAMED, **DONE}, "put": {"requestBody": NAMED, **DONE}},
}


@pytest.fixture
def creations() -> CreationHistory:
    return CreationHistory(
        {"/boxes": ("box",)},
        lambda request: f"curl -X {request.method} {request.target.decode()}",
        lambda case, outcome: (),
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


def test_what_is_put_stands_where_it_was_put(creations: CreationHistory) -> None:
    command = "curl -X PUT /v1/boxes/0"
    wanted = ResourceMade("/v1/boxes/0", "PUT /boxes/{box}", "coverage", 0, 201, command)
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
    assert put(creations, "a" * 65) == []
    # A list may show a long name.
    assert len(put(creations, "8bd1a9c3-1f5e")) == 1
    action: dict[str, Any] = {"path_parameters": {"box": "0"}}
    assert made(creations, "PUT /boxes/{box}/open", Response(200, [], b""), **action) == []


def test_each_phase_shows_long_names_anew(creations: CreationHistory) -> None:
    def shown(number: int, phase: str) -> int:
        answer = Response(201, [], f'{{"box": "8bd1a9c3-1f5e-{number}"}}'.encode())
        return len(made(creations, "POST /boxes", answer, number, phase, body={}))

    assert [shown(number, "coverage") for number in range(65)] == [*[1] * 64, 0]
    assert shown(65, "fuzzing") == 1


def test_only_what_made_it_more_surely_is_told_once_more(creations: CreationHistory) -> None:
    assert len(put(creations, "0", status=200, index=5)) == 1
    assert put(creations, "0", status=200, index=7) == []
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
    (found,) = made(creations, "POST /boxes", answer, **parts)
    assert (found.path, found.status) == ("/v1/boxes/7", answer.status_code)


def test_no_command_is_written_for_what_is_known_to_be_made_already(creations: CreationHistory) -> None:
    rendered: list[bytes] = []

    def render(request: WireRequest) -> str:
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
    found = made(creations, "POST /boxes", Response(200, [], said), body={"name": "b"})
    assert "/v1/boxes with name b" not in [one.path for one in found]
    assert made(creations, "POST /boxes", Response(201, [], b""), body={"email": "a" * 9}) == []


def test_a_refusal_may_have_taken_the_names_that_were_given(creations: CreationHistory) -> None:
    def names(status: int, body: bytes = b"", name: str = "a") -> list[tuple[str, int]]:
        found = made(creations, "POST /boxes", Response(status, [], body), body={"name": name, "age": -1})
        return [(one.path, one.status) for one in found]

    taken = "/v1/boxes with name a"
    assert names(422, b"the name is already taken") == []
    assert names(422, b"the age is too small") == [(taken, 422)]
    assert (taken, 201) in names(201, b'{"box": 7}')
    assert names(422, b"the age is too small") == []
