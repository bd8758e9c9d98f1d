"""What was deleted is gone, what was created is there."""

import json
from typing import Any

import pytest

from checker.core.meta import Binding
from checker.core.operation import Label, Location
from checker.core.response import Response
from checker.values.producers import request_pointer
from tests.checks.asked import POSITIVE, Exchanges, Sent, operations_of

FREE, THERE = "use_after_free", "ensure_resource_availability"
NOWHERE = Response(404, [], b"")
OK = {"200": {"description": "fine"}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
WITH_ID = {"parameters": [ID], "responses": OK, "security": [{"unknown": []}, {}]}
TENANT = [
    {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
    for name in ("X-Tenant", "X-Request-Id")
]
ROOM = {"parameters": [ID, *TENANT], "requestBody": {"content": {"application/json": {"schema": {}}}}, "responses": OK}
PATHS: dict[str, Any] = {
    "/users": {"get": {"responses": OK}, "post": {"responses": OK}, "delete": {"responses": OK}},
    "/users/{id}": dict.fromkeys(("get", "put", "patch", "delete", "options"), WITH_ID),
    "/users/{id}/posts": {"get": WITH_ID, "delete": WITH_ID},
    "/user/{id}": {"get": WITH_ID},
    "/carts/{id}/items": {"post": WITH_ID},
    "/carts/{id}/checkout": {"post": WITH_ID},
    "/orders": {"post": {"requestBody": {"content": {"application/json": {"schema": {}}}}, "responses": OK}},
    "/orders/export": {"post": {"responses": OK}},
    "/carts/{id}/items/{product}": {"delete": {"parameters": [ID, {**ID, "name": "product"}], "responses": OK}},
    "/users/{id}:activate": {"post": WITH_ID},
    "/rooms": {"post": {"parameters": TENANT, "responses": OK}},
    "/rooms/{id}": {"get": ROOM, "put": ROOM, "delete": ROOM},
}


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS))


def from_creator(value: str) -> tuple[Binding, ...]:
    return (Binding(Location.PATH, "id", Label("POST /users"), "/id", 0, value),)


def created(them: Exchanges, value: str = "7", status: int = 201, body: Any = None) -> Sent:
    answer = json.dumps({"id": value} if body is None else body).encode()
    return them.sent("POST /users", status, answer=answer, mode=POSITIVE, phase="stateful")


def member(them: Exchanges, label: str, status: int, value: str = "7", answer: bytes = b'{"id": "7"}') -> Sent:
    return them.sent(
        label,
        status,
        answer=answer,
        mode=POSITIVE,
        phase="stateful",
        path_parameters={"id": value},
        bindings=from_creator(value),
    )


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_an_echo_of_the_request_shows_nothing_of_a_deleted_resource(exchanges: Exchanges, method: str) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 200)]
    read = member(exchanges, f"{method} /users/{{id}}", 200, answer=b'{"url": "/users/7"}')
    assert exchanges.verdict(FREE, read, steps, answers=lambda _: Response(200, [], b"{}")).failures == ()
    assert [asked.method for asked in exchanges.asked] == ["GET"]


@pytest.mark.parametrize("label", ["GET /users/{id}", "PATCH /users/{id}", "GET /users/{id}/posts", "GET /user/{id}"])
def test_what_is_deleted_and_still_there_is_a_failure_of_the_deletion(exchanges: Exchanges, label: str) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 204)]
    read = member(exchanges, label, 200)
    (failure,) = exchanges.verdict(FREE, read, steps, answers=lambda _: NOWHERE).failures
    assert (failure.title, failure.code) == ("Use after free", "ST301")
    assert failure.operation == "DELETE /users/{id}"
    assert "after `DELETE /v1/users/7` was answered with 204" in failure.message
    assert failure.fingerprint("GET /a") == failure.fingerprint("GET /b")


@pytest.mark.parametrize(
    ("status", "answer", "is_told"),
    [
        (200, b'{"id": "7", "deletedAt": "2026-01-02T03:04:05Z"}', False),
        (200, b'{"id": "7", "deletedAt": null}', True),
        (410, b'{"id": "7", "deletedAt": "2026-01-02T03:04:05Z"}', True),
    ],
)
def test_below_what_is_kept_as_deleted_all_is_kept(
    exchanges: Exchanges, status: int, answer: bytes, *, is_told: bool
) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 204)]
    read, shown = member(exchanges, "GET /users/{id}/posts", 200), Response(status, [], answer)
    missing = Response(404, [], b"{}")
    verdict = exchanges.verdict(FREE, read, steps, answers=lambda asked: missing if b"posts" in asked.target else shown)
    assert bool(verdict.failures) is is_told
    asked = exchanges.asked[0]
    assert (asked.method, asked.target, asked.body) == ("GET", b"/v1/users/7", None)


@pytest.mark.parametrize("shown", [b'{"items": [], "total": 0}', b'{"name": "default"}'])
def test_what_is_answered_below_names_that_never_existed_shows_nothing_of_the_deleted(
    exchanges: Exchanges, shown: bytes
) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 204)]
    read = member(exchanges, "GET /users/{id}/posts", 200, answer=shown)
    missing, found = Response(404, [], b"{}"), Response(200, [], shown)
    verdict = exchanges.verdict(FREE, read, steps, answers=lambda one: found if b"posts" in one.target else missing)
    assert verdict.failures == ()
    other = exchanges.asked[-1].target
    assert other.startswith(b"/v1/users/")
    assert other != b"/v1/users/7/posts"


@pytest.mark.parametrize("name", ["zoo", "ping", "Johnny", "f0e1", "1234"])
def test_a_name_that_never_existed_differs_from_the_deleted_one_in_each_letter_and_digit(
    exchanges: Exchanges, name: str
) -> None:
    steps = [created(exchanges, name), member(exchanges, "DELETE /users/{id}", 204, name)]
    read = member(exchanges, "GET /users/{id}/posts", 200, name)
    found, missing = Response(200, [], b'{"id": "7"}'), Response(404, [], b"{}")
    own = f"/{name}/posts".encode()
    answer = exchanges.verdict(FREE, read, steps, lambda one: found if own in one.target else missing)
    assert answer.failures
    invented = exchanges.asked[-1].target.decode().split("/")[-2]
    assert len(invented) == len(name)
    assert all(one != other for one, other in zip(name, invented, strict=True))


def test_a_deleted_name_without_letters_and_digits_stays_a_failure(exchanges: Exchanges) -> None:
    steps = [created(exchanges, "日本"), member(exchanges, "DELETE /users/{id}", 204, "日本")]
    read = member(exchanges, "GET /users/{id}/posts", 200, "日本")
    found, missing = Response(200, [], b'{"id": "7"}'), Response(404, [], b"{}")
    answer = exchanges.verdict(FREE, read, steps, lambda one: found if b"posts" in one.target else missing)
    assert answer.failures


def test_what_is_gone_is_gone(exchanges: Exchanges) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 204)]
    gone = member(exchanges, "GET /users/{id}", 404)
    assert exchanges.failures(FREE, gone, *steps) == []


@pytest.mark.parametrize("status", [202, 404, 500])
def test_only_what_was_deleted_has_to_be_gone(exchanges: Exchanges, status: int) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", status)]
    assert exchanges.failures(FREE, member(exchanges, "GET /users/{id}", 200), *steps) == []


@pytest.mark.parametrize("label", ["PUT /users/{id}", "POST /users"])
def test_it_may_have_been_created_again(exchanges: Exchanges, label: str) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 204)]
    again = created(exchanges) if label == "POST /users" else member(exchanges, label, 200)
    read = member(exchanges, "GET /users/{id}", 200)
    assert exchanges.failures(FREE, read, *steps, again) == []
    if label != "POST /users":
        refused = member(exchanges, label, 404)
        assert exchanges.failures(FREE, read, *steps, refused, answers=lambda _: NOWHERE) == [""]


@pytest.mark.parametrize(
    ("label", "value", "answer"),
    [
        # Another resource, the collection, a second deletion, a route, what is empty.
        ("GET /users/{id}", "8", b"{}"),
        ("DELETE /users/{id}", "7", b"{}"),
        ("OPTIONS /users/{id}", "7", b"{}"),
        ("GET /users/{id}/posts", "7", b"[]"),
    ],
)
def test_what_shows_nothing_of_the_deleted_is_right(
    exchanges: Exchanges, label: str, value: str, answer: bytes
) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 204)]
    read = member(exchanges, label, 200, value, answer)
    assert exchanges.failures(FREE, read, *steps) == []


@pytest.mark.parametrize(
    "answer",
    [
        b'{"id": "7", "deleted": true}',
        b'{"data": {"id": "7", "deletedAt": "2026-01-02T03:04:05Z"}}',
        b'{"id": "7", "status": {"state": "expired"}}',
        b'{"id": "7", "metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}}',
        b'{"id": "7", "status": "PENDING_DELETION"}',
    ],
)
def test_what_says_that_it_was_deleted_is(exchanges: Exchanges, answer: bytes) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 200)]
    assert exchanges.failures(FREE, member(exchanges, "GET /users/{id}", 200, "7", answer), *steps) == []  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        b'{"id": "7", "deleted": false, "deleted_at": null, "status": "active"}',
        b'{"id": "7", "owner": {"deleted": true}}',
        b'[{"id": "7", "deleted": true}]',
    ],
)
def test_what_does_not_say_that_it_was_deleted_is_there(exchanges: Exchanges, answer: bytes) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 200)]
    read = member(exchanges, "GET /users/{id}", 200, "7", answer)
    assert exchanges.failures(FREE, read, *steps, answers=lambda _: NOWHERE) == [""]


def test_an_emptied_collection_is_still_a_collection(exchanges: Exchanges) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}/posts", 204)]
    assert exchanges.failures(FREE, member(exchanges, "GET /users/{id}/posts", 200), *steps) == []


def test_nobody_knows_that_something_was_there_without_a_step_that_shows_it(exchanges: Exchanges) -> None:
    deleted = member(exchanges, "DELETE /users/{id}", 204)
    assert exchanges.failures(FREE, member(exchanges, "GET /users/{id}", 200), deleted) == []


def test_a_cache_is_named(exchanges: Exchanges) -> None:
    steps = [created(exchanges), member(exchanges, "DELETE /users/{id}", 204)]
    parts: dict[str, Any] = {"path_parameters": {"id": "7"}, "phase": "stateful"}
    read = exchanges.sent("GET /users/{id}", 200, [("Age", "12")], **parts)
    (failure,) = exchanges.verdict(FREE, read, steps, lambda _: NOWHERE).failures
    assert "cache" in failure.message


# Availability


def unavailable(exchanges: Exchanges, sent: Sent, *steps: Sent) -> list[str]:
    """Keys of the failures of a sequence whose requests find nothing when they are sent again."""
    return exchanges.failures(THERE, sent, *steps, answers=lambda _: NOWHERE)


def test_what_was_created_and_is_not_there_is_a_failure_of_the_creator(exchanges: Exchanges) -> None:
    missing = member(exchanges, "GET /users/{id}", 404)
    (failure,) = exchanges.verdict(THERE, missing, [created(exchanges)], lambda _: NOWHERE).failures
    assert (failure.title, failure.code) == ("Resource is not available after creation", "ST302")
    assert failure.operation == "POST /users"
    assert failure.message.splitlines() == [
        "Received: 404",
        "Created with: POST /v1/users (201)",
        "Not available with: GET /v1/users/7",
    ]


def test_location_names_what_was_created(exchanges: Exchanges) -> None:
    headers = [("Location", "http://127.0.0.1/v1/users/7")]
    creator = exchanges.sent("POST /users", 201, headers, mode=POSITIVE, phase="stateful")
    missing = member(exchanges, "GET /users/{id}", 404)
    assert unavailable(exchanges, missing, creator) == [""]


@pytest.mark.parametrize(("name", "found"), [("a/b", []), ("a b", [""])])
def test_a_name_with_a_slash_may_not_be_found_in_a_path(exchanges: Exchanges, name: str, found: list[str]) -> None:
    assert unavailable(exchanges, member(exchanges, "GET /users/{id}", 404, name), created(exchanges, name)) == found


@pytest.mark.parametrize("status", [202, 400, 409, 500])
def test_only_what_was_created_has_to_be_there(exchanges: Exchanges, status: int) -> None:
    creator = created(exchanges, status=status)
    assert unavailable(exchanges, member(exchanges, "GET /users/{id}", 404), creator) == []


def test_who_says_nothing_of_himself_need_not_see_what_others_made(exchanges: Exchanges) -> None:
    missing = member(exchanges, "GET /users/{id}", 404)
    assert unavailable(exchanges, missing, created(exchanges))
    missing.case.alternative = 1
    assert unavailable(exchanges, missing, created(exchanges)) == []


def test_what_a_search_found_was_not_created(exchanges: Exchanges) -> None:
    found = created(exchanges, status=200, body=[{"id": "7"}])
    assert unavailable(exchanges, member(exchanges, "GET /users/{id}", 404), found) == []


@pytest.mark.parametrize(
    ("label", "status", "found"),
    [
        ("DELETE /users/{id}", 204, []),
        ("DELETE /users/{id}", 500, []),
        ("DELETE /users/{id}", 404, [""]),
        ("PUT /users/{id}", 200, []),
        ("POST /users/{id}:activate", 200, []),
        ("GET /users/{id}", 200, [""]),
    ],
)
def test_something_may_have_removed_it(exchanges: Exchanges, label: str, status: int, found: list[str]) -> None:
    steps = [created(exchanges), member(exchanges, label, status)]
    missing = member(exchanges, "GET /users/{id}", 404)
    assert unavailable(exchanges, missing, *steps) == found


@pytest.mark.parametrize(
    ("again", "read", "found"),
    [
        (Response(201, [], b'{"id": "8"}'), Response(200, [], b'{"id": "8"}'), []),
        (Response(201, [], b'{"id": "8"}'), NOWHERE, [""]),
        (Response(409, [], b"{}"), Response(200, [], b"{}"), [""]),
    ],
    ids=["shown", "not shown", "not created"],
)
def test_a_write_elsewhere_has_removed_a_resource_that_is_shown_without_it(
    exchanges: Exchanges, again: Response, read: Response, found: list[str]
) -> None:
    flushed = exchanges.sent("POST /orders/export", 202, mode=POSITIVE, phase="stateful")
    missing = member(exchanges, "GET /users/{id}", 404)
    answers = {"POST": again, "GET": read}
    # Another worker may have sent the write.
    for steps in ((created(exchanges), flushed), (created(exchanges),)):
        exchanges.asked.clear()
        assert exchanges.failures(THERE, missing, *steps, answers=lambda one: answers[one.method]) == found
        asked = [(one.method, one.target) for one in exchanges.asked]
        shown = b"/v1/users/8" if again.status_code == 201 else b"/v1/users/7"
        assert asked == [("POST", b"/v1/users"), ("GET", shown)]


def test_what_is_called_as_something_that_was_deleted_may_be_gone_with_it(exchanges: Exchanges) -> None:
    steps = [member(exchanges, "DELETE /users/{id}", 204), created(exchanges)]
    assert unavailable(exchanges, member(exchanges, "GET /users/{id}", 404), *steps) == []


def test_all_may_have_been_removed(exchanges: Exchanges) -> None:
    emptied = exchanges.sent("DELETE /users", 204, mode=POSITIVE, phase="stateful")
    missing = member(exchanges, "GET /users/{id}", 404)
    assert unavailable(exchanges, missing, created(exchanges), emptied) == []


def test_names_that_came_from_elsewhere_prove_nothing(exchanges: Exchanges) -> None:
    creator = created(exchanges, "6")
    assert unavailable(exchanges, member(exchanges, "GET /users/{id}", 404), creator) == []
    parts: dict[str, Any] = {"path_parameters": {"id": "7"}, "mode": POSITIVE}
    unbound = exchanges.sent("GET /users/{id}", 404, phase="stateful", **parts)
    assert unavailable(exchanges, unbound, created(exchanges)) == []


def test_fields_that_are_called_otherwise_are_no_names(exchanges: Exchanges) -> None:
    creator = created(exchanges, body={"id": "6", "weight": "7"})
    missing = exchanges.sent(
        "GET /users/{id}",
        404,
        mode=POSITIVE,
        phase="stateful",
        path_parameters={"id": "7"},
        bindings=(Binding(Location.PATH, "id", Label("POST /users"), "/weight", 0, "7"),),
    )
    assert unavailable(exchanges, missing, creator) == []


@pytest.mark.parametrize("beside", [{"parent": "7"}, {"parent": {"id": "7"}}])
def test_a_number_that_something_else_has_too_is_no_name(exchanges: Exchanges, beside: dict[str, Any]) -> None:
    """Thing 7 was made elsewhere: what was made here stands below another thing, which is also a number 7."""
    creator = created(exchanges, body={"id": "6", **beside})
    assert unavailable(exchanges, member(exchanges, "GET /users/{id}", 404), creator) == []


@pytest.mark.parametrize(("said", "found"), [("7", [""]), ("6", [])])
def test_names_that_requests_gave_count_where_the_answer_has_them(
    exchanges: Exchanges, said: str, found: list[str]
) -> None:
    parts: dict[str, Any] = {"mode": POSITIVE, "phase": "stateful"}
    answer = json.dumps({"id": said}).encode()
    creator = exchanges.sent("POST /users", 201, answer=answer, body={"id": "7"}, **parts)
    pointer = request_pointer("/id")
    taken = Binding(Location.PATH, "id", Label("POST /users"), pointer, 0, "7")
    parts |= {"path_parameters": {"id": "7"}, "bindings": (taken,)}
    missing = exchanges.sent("GET /users/{id}", 404, **parts)
    assert unavailable(exchanges, missing, creator) == found


def test_what_is_below_need_not_be_there(exchanges: Exchanges) -> None:
    below = member(exchanges, "GET /users/{id}/posts", 404)
    assert unavailable(exchanges, below, created(exchanges)) == []


def test_single_cases_are_not_their_business(exchanges: Exchanges) -> None:
    assert unavailable(exchanges, member(exchanges, "GET /users/{id}", 404)) == []
    assert exchanges.failures(FREE, member(exchanges, "GET /users/{id}", 200)) == []


@pytest.mark.parametrize(("removed", "is_told"), [("7", False), ("8", True)])
def test_what_was_made_with_something_may_go_with_it(removed: str, is_told: bool) -> None:
    plain = {"parameters": [ID], "responses": OK}
    paths = {"/users/{id}": {"delete": plain}, "/books": {"post": {"responses": OK}}, "/books/{id}": {"get": plain}}
    them = Exchanges(operations_of(paths))
    author = Binding(Location.BODY, "/author", Label("POST /users"), "/id", 0, "7")
    book = them.sent("POST /books", 201, answer=b'{"id": "3"}', mode=POSITIVE, phase="stateful", bindings=(author,))
    gone = member(them, "DELETE /users/{id}", 204, removed)
    made = (Binding(Location.PATH, "id", Label("POST /books"), "/id", 0, "3"),)
    read = them.sent(
        "GET /books/{id}", 404, mode=POSITIVE, phase="stateful", path_parameters={"id": "3"}, bindings=made
    )
    assert bool(them.failures(THERE, read, book, gone, answers=lambda _: NOWHERE)) is is_told


def in_room(them: Exchanges, label: str, status: int, tenant: str, **parts: Any) -> Sent:
    headers = {"X-Tenant": tenant, "X-Request-Id": f"{label} {status}"}
    bound = (Binding(Location.PATH, "id", Label("POST /rooms"), "/id", 0, "7"),)
    if label != "POST /rooms":
        parts |= {"path_parameters": {"id": "7"}, "bindings": bound}
    parts |= {"answer": b'{"id": "7"}', "mode": POSITIVE, "phase": "stateful", "headers": headers}
    return them.sent(label, status, **parts)


@pytest.mark.parametrize(("tenant", "found"), [("acme", [""]), ("globex", [])])
def test_tenants_need_not_see_what_others_made_or_removed(exchanges: Exchanges, tenant: str, found: list[str]) -> None:
    made = in_room(exchanges, "POST /rooms", 201, "acme")
    missing = in_room(exchanges, "GET /rooms/{id}", 404, tenant)
    assert unavailable(exchanges, missing, made) == found
    removed = in_room(exchanges, "DELETE /rooms/{id}", 204, "acme")
    there = in_room(exchanges, "GET /rooms/{id}", 200, tenant)
    assert exchanges.failures(FREE, there, made, removed, answers=lambda _: NOWHERE) == found


@pytest.mark.parametrize(("field", "found"), [("owner_id", []), ("wifi", [""])])
def test_what_a_body_speaks_of_may_be_what_is_not_there(exchanges: Exchanges, field: str, found: list[str]) -> None:
    made = in_room(exchanges, "POST /rooms", 201, "acme")
    sent = {field: 3}
    missing = in_room(exchanges, "PUT /rooms/{id}", 404, "acme", body=sent, media_type="application/json")
    assert unavailable(exchanges, missing, made) == found


@pytest.mark.parametrize(
    ("action", "is_told"),
    [("POST /carts/{id}/checkout", False), ("POST /orders", False), ("POST /orders/export", True), ("", True)],
)
def test_an_action_on_a_parent_may_have_consumed_it(exchanges: Exchanges, action: str, is_told: bool) -> None:
    cart = Binding(Location.PATH, "id", Label("POST /carts"), "/id", 0, "7")
    product = Binding(Location.PATH, "product", Label("POST /carts/{id}/items"), "/product", 1, "p")
    parts: dict[str, Any] = {"mode": POSITIVE, "phase": "stateful"}
    at: dict[str, Any] = {"path_parameters": {"id": "7"}, "bindings": (cart,)}
    steps = [exchanges.sent("POST /carts/{id}/items", 201, answer=b'{"product": "p"}', **parts, **at)]
    if action == "POST /orders":
        named = Binding(Location.BODY, "cart", Label("POST /carts"), "/id", 0, "7")
        body: dict[str, Any] = {"media_type": "application/json", "body": {"cart": "7"}, "bindings": (named,)}
        steps.append(exchanges.sent(action, 201, **parts, **body))
    elif action:
        steps.append(exchanges.sent(action, 201, **parts, **(at if "{id}" in action else {})))
    gone = exchanges.sent(
        "DELETE /carts/{id}/items/{product}",
        404,
        path_parameters={"id": "7", "product": "p"},
        bindings=(cart, product),
        **parts,
    )
    assert bool(exchanges.failures(THERE, gone, *steps, answers=lambda _: NOWHERE)) is is_told
