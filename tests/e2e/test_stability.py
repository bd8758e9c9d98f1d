"""What may not show again is marked where it is told, and is not counted as stable."""

import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any
from zlib import crc32

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Flaky", "version": "1"},
    "paths": {
        "/always": {"get": {"responses": {"200": {"description": ""}}}},
        "/once/{id}": {"get": {"parameters": [ID], "responses": {"200": {"description": ""}}}},
    },
}
CHECKS = "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n"


def test_a_failure_that_did_not_happen_again_is_marked(command: Command) -> None:
    number = count()

    def answer(request: Request) -> Reply:
        is_wrong = b"/always" in request.target or next(number) == 3
        return json_reply({}, 500 if is_wrong else 200)

    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "10", inline=True)
    assert ran.code == 1, ran.shown
    headings = [line for line in ran.stdout.splitlines() if "Test Case ID" in line]
    assert [line.endswith(" (intermittent (1 of 8))") for line in headings] == [False, True]
    assert "Server error: 2 (1 intermittent)" in ran.stdout
    assert "  1 reproduces with one request, 1 intermittent\n" in ran.stdout
    assert " 2 bugs (1 stable) in " in ran.stdout


def test_intermittent_failures_can_be_allowed(command: Command) -> None:
    number = count()

    def answer(request: Request) -> Reply:
        return json_reply({}, 500 if b"/once" in request.target and next(number) == 3 else 200)

    (command.directory / "checker.toml").write_text(CHECKS.replace("false", 'false\nintermittent = "report"', 1))
    with serving(answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "10", inline=True)
    assert ran.code == 0, ran.shown
    assert "intermittent (1 of 8)" in ran.stdout


def test_stable_failures_are_only_counted(command: Command) -> None:
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(lambda request: json_reply({}, 500), DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "10", inline=True)
    assert ran.code == 1, ran.shown
    assert " 2 bugs, no operation returned 2xx in " in ran.stdout
    assert "stable" not in ran.stdout


def test_an_error_of_a_write_that_is_refused_otherwise_is_intermittent(command: Command) -> None:
    number = count()
    document = {**DOCUMENT, "paths": {"/things": {"post": DOCUMENT["paths"]["/always"]["get"]}}}

    def answer(_: Request) -> Reply:
        return json_reply({"message": "no such format"}, 500 if next(number) == 0 else 400)

    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(answer, document) as app:
        ran = command.run(app.document_url, "-n", "10", inline=True)
    assert "intermittent (1 of 8)" in ran.stdout
    assert "needs a fresh server" not in ran.stdout


def test_an_error_that_passes_hides_no_defect_with_the_same_text(command: Command) -> None:
    kind = {"name": "kind", "in": "query", "required": True, "schema": {"enum": ["plain", "broken"]}}
    document = {
        **DOCUMENT,
        "paths": {"/things": {"get": {**DOCUMENT["paths"]["/always"]["get"], "parameters": [kind]}}},
    }
    seen: list[bytes] = []

    def answer(request: Request) -> Reply:
        seen.append(request.target)
        # The error that passes comes first.
        is_broken = b"broken" in request.target and len(seen) > 60
        return json_reply({}, 500 if is_broken or len(seen) == 20 else 200)

    (command.directory / "checker.toml").write_text(CHECKS)
    arguments = ("fuzz", "--continue-on-failure", "--mode", "positive", "--workers", "1")
    with serving(answer, document) as app:
        ran = command.until(lambda: len(seen) > 800, *arguments, app.document_url)
    (finding,) = ran.findings
    assert finding.investigation.hits == finding.investigation.tries
    assert "intermittent" not in ran.stdout


THING: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "string"}}}
MADE = {"201": {"description": "", "content": {"application/json": {"schema": THING}}}}
KEY = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
THINGS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {"post": {"responses": MADE}},
        "/things/{id}": {"delete": {"parameters": [KEY], "responses": {"204": {"description": ""}}}},
    },
}


def removing_badly(number: "count[int]") -> Callable[[Request], Reply]:
    """Makes things under ever new identifiers; removes them with a 500, once."""
    there: set[bytes] = set()

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            name = f"thing-{next(number)}"
            there.add(f"/things/{name}".encode())
            return json_reply({"id": name}, 201)
        if request.target in there:
            there.remove(request.target)
            return json_reply({}, 500)
        return json_reply({}, 404)

    return answer


def test_a_sequence_about_what_it_makes_itself_shows_again(command: Command) -> None:
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(removing_badly(count()), THINGS) as app:
        ran = command.run(app.document_url, "-n", "10", "--phases", "stateful", inline=True)
    assert ran.code == 1, ran.shown
    (found,) = ran.findings
    assert found.label == "DELETE /things/{id}"
    assert found.investigation.hits == found.investigation.tries > 1
    assert "(needs its sequence)" in ran.stdout
    assert "id_1=$(curl -sS -X POST " in ran.stdout


JOBS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Jobs", "version": "1"},
    "paths": {
        "/tasks/copy/execution": {"post": {"responses": {"201": {"description": ""}}}},
        "/jobs": {
            "get": {
                "responses": {
                    "200": {
                        "description": "",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "array",
                                    "items": {"type": "object", "properties": {"id": {"type": "string"}}},
                                }
                            }
                        },
                    }
                }
            }
        },
        "/jobs/{id}/results": {"get": {"parameters": [KEY], "responses": {"200": {"description": ""}}}},
    },
}


@pytest.mark.parametrize("is_seeded", [False, True])
def test_a_list_that_the_run_has_filled_needs_the_request_that_filled_it(command: Command, *, is_seeded: bool) -> None:
    jobs = ["job-0"] if is_seeded else []

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            if is_seeded:
                return json_reply({}, 200)
            jobs.append(f"job-{len(jobs)}")
            return Reply(201, "application/json", b"{}", (("Location", f"/jobs/{jobs[-1]}"),))
        if request.target == b"/jobs":
            return json_reply([{"id": one} for one in jobs])
        return json_reply({}, 500 if request.target.split(b"/")[2].decode() in jobs else 404)

    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(answer, JOBS) as app:
        ran = command.run(app.document_url, "-n", "10", inline=True)
    (found,) = ran.findings
    assert [step.label for step in found.steps] == ["GET /jobs", "GET /jobs/{id}/results"], ran.shown
    assert [made.label for made in found.needs] == ([] if is_seeded else ["POST /tasks/copy/execution"])


TODO: dict[str, Any] = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}
TODOS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Todos", "version": "1"},
    "paths": {
        "/todos": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": TODO}}},
                "responses": {
                    "200": {
                        "description": "",
                        "content": {
                            "application/json": {"schema": {"type": "object", "properties": {"id": ID["schema"]}}}
                        },
                    }
                },
            }
        },
        "/todos/{id}": {"get": {"parameters": [ID], "responses": {"200": {"description": ""}}}},
    },
}


def test_a_resource_is_created_anew_where_the_smallest_body_is_refused(command: Command) -> None:
    todos: list[str] = []

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            title = json.loads(request.body)["title"]
            if not (isinstance(title, str) and title):
                return json_reply({}, 422)
            todos.append(title)
            return json_reply({"id": len(todos)})
        last = request.target.rpartition(b"/")[2].decode()
        return json_reply({}, 500 if last.isdecimal() and 0 < int(last) <= len(todos) else 404)

    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(answer, TODOS) as app:
        ran = command.run(app.document_url, "-n", "20", "--phases", "coverage,fuzzing", inline=True)
    (found,) = ran.findings
    assert (found.investigation.is_anew, found.needs) == (True, ()), ran.shown
    assert [step.label for step in found.steps] == ["POST /todos", "GET /todos/{id}"]


def test_a_status_that_depends_on_the_name_is_not_shown_with_others(command: Command) -> None:
    own = {"post": {"parameters": [KEY], "responses": {"200": {"description": ""}, "404": {"description": ""}}}}
    paths = {f"/codes{number}/{{id}}": own for number in range(12)}

    def answer(request: Request) -> Reply:
        return json_reply({}, 256 if crc32(request.target) % 6 == 0 else 200)

    (command.directory / "checker.toml").write_text(CHECKS.replace("not_a_server_error", "status_code_conformance"))
    with serving(answer, {**TODOS, "paths": paths}) as app:
        ran = command.run(app.document_url, "-n", "20", "--phases", "fuzzing", inline=True)
    assert len(ran.findings) > len(paths) // 2
    assert [one.investigation.hits for one in ran.findings] == [one.investigation.tries for one in ran.findings], (
        ran.shown
    )


BOXES: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Boxes", "version": "1"},
    "paths": {
        "/boxes/{id}": {"put": {"parameters": [KEY], "responses": {"201": {"description": ""}}}},
        "/boxes/{id}/size": {"get": {"parameters": [KEY], "responses": {"200": {"description": ""}}}},
    },
}


def measuring_badly(*, is_full: bool) -> Callable[[Request], Reply]:
    """Puts boxes where a request says; their sizes are a 500. After the first 500 there may be no room for another box."""
    there: set[bytes] = set()
    measured: set[bytes] = set()

    def answer(request: Request) -> Reply:
        if request.method == "PUT":
            status = 200 if request.target in there else 507 if measured and is_full else 201
            if status == 201:
                there.add(request.target)
            return json_reply({}, status)
        box = request.target.removesuffix(b"/size")
        if box not in there:
            return json_reply({}, 404)
        measured.add(box)
        return json_reply({}, 500)

    return answer


def test_a_failure_is_shown_with_a_new_resource_under_a_name_of_the_request(command: Command) -> None:
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(measuring_badly(is_full=False), BOXES) as app:
        ran = command.run(app.document_url, "-n", "10", "--phases", "coverage", inline=True)
    (found,) = ran.findings
    assert [step.label for step in found.steps] == ["PUT /boxes/{id}", "GET /boxes/{id}/size"], ran.shown
    assert (found.investigation.reproduced, found.investigation.is_anew, found.needs) == (True, True, ())
    created, measured = (one.exchange for one in found.interactions)
    assert (created.status, measured.target) == (201, created.target + b"/size")
    assert "(needs its sequence)" in ran.stdout


def test_a_failure_names_the_request_that_made_what_it_is_about(command: Command) -> None:
    (command.directory / "checker.toml").write_text(CHECKS)
    report = ("--report", "ndjson")
    with serving(measuring_badly(is_full=True), BOXES) as app:
        ran = command.run(app.document_url, "-n", "10", "--phases", "coverage", *report, inline=True)
    assert ran.code == 1, ran.shown
    (found,) = [one for one in ran.findings if one.label.startswith("GET")]
    (made,) = found.needs
    (path,) = command.directory.glob("checker-report/*.ndjson")
    *_, event = [line["Finding"] for line in map(json.loads, path.read_text().splitlines()) if "Finding" in line]
    assert event["stability"] == "dependent on earlier requests"
    assert made.command in event["code_sample"]
    assert "(dependent on earlier requests)" in ran.stdout
    assert f"    # {made.path}\n    {made.command}\n" in ran.stdout
    # What is printed first makes what the command is about.
    sent = found.interactions[-1].exchange.target.decode()
    assert sent.startswith(f"{made.path}/")
    assert made.command.startswith("curl -X PUT ")
    assert made.path in made.command


_BODY = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
_LIST = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": THING}}}}}
_STATUSES = {status: {"description": ""} for status in ("200", "400", "404")}


def _renaming_badly(number: "count[int]", there: set[bytes]) -> Callable[[Request], Reply]:
    """Makes things under long identifiers and lists them; a change of one is a 500."""

    def answer(request: Request) -> Reply:
        target = request.target.rstrip(b"/")
        if request.method == "POST" and target == b"/things":
            name = f"a-very-long-name-{next(number)}"
            there.add(name.encode())
            return json_reply({"id": name}, 201)
        if request.method == "GET" and target == b"/things":
            return json_reply([{"id": name.decode()} for name in sorted(there)])
        is_broken = request.method == "PUT" and target.removeprefix(b"/things/") in there
        return json_reply({}, 500 if is_broken else 404)

    return answer


@pytest.mark.thorough
@pytest.mark.parametrize(("shows", "end"), [("post", ""), ("get", ""), ("get", "/")])
def test_commands_create_the_resource_that_the_failure_is_about(command: Command, shows: str, end: str) -> None:
    """The identifier comes from the creation, or from a list. Paths may end with a slash."""
    made = MADE if shows == "post" else {"201": {"description": ""}}
    change = {"parameters": [KEY], "requestBody": _BODY, "responses": _STATUSES}
    collection, member = f"/things{end}", f"/things/{{id}}{end}"
    paths = {collection: {"post": {"responses": made}, "get": {"responses": _LIST}}, member: {"put": change}}
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(_renaming_badly(count(), set()), THINGS | {"paths": paths}) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
    (found,) = ran.findings
    assert [step.label for step in found.steps] == [f"POST {collection}", f"PUT {member}"], ran.shown
    assert found.investigation.reproduced is True
    assert "dependent on earlier requests" not in ran.stdout
    assert "(needs its sequence)" in ran.stdout


def _ordering(there: list[str]) -> Callable[[Request], Reply]:
    """A checkout makes an order and does not name it; the list shows all orders. One order is a 500."""

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            there.append(f"order-number-{len(there)}")
            return json_reply({"paid": True})
        if request.target == b"/orders":
            return json_reply([{"id": name} for name in there])
        return json_reply({}, 500 if request.target.removeprefix(b"/orders/").decode() in there else 404)

    return answer


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_list_that_was_empty_shows_what_earlier_requests_made(command: Command, is_empty: bool) -> None:
    ok = {"200": {"description": ""}}
    paths = {
        "/orders": {"get": {"responses": _LIST}},
        "/checkout": {"post": {"responses": ok}},
        "/orders/{id}": {"get": {"parameters": [KEY], "responses": ok}},
    }
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(_ordering([] if is_empty else ["order-number-0"]), THINGS | {"paths": paths}) as app:
        ran = command.run_as_usual(app.document_url, inline=True)
    (found,) = ran.findings
    labels = [step.label for step in found.steps]
    assert labels[-2:] == ["GET /orders", "GET /orders/{id}"], ran.shown
    makes_its_order = "POST /checkout" in labels
    assert ("dependent on earlier requests" in ran.stdout) is (is_empty and not makes_its_order), ran.shown


def _sent(request: Request, name: str) -> object:
    """Return a property of a JSON body; None if there is none."""
    try:
        body = json.loads(request.body)
    except ValueError:
        return None
    return body.get(name) if isinstance(body, dict) else None


@pytest.mark.parametrize("place", ["path", "body"])
def test_a_refusal_before_the_resource_is_looked_for_needs_no_resource(command: Command, place: str) -> None:
    """Names of another shape are refused for their own reason."""
    there: set[str] = set()
    size = {"name": "size", "in": "query", "required": True, "schema": {"type": "integer"}}

    def answer(request: Request) -> Reply:
        path, _, query = request.target.decode().partition("?")
        if request.method == "POST" and path == "/things":
            there.add(f"{len(there):08d}-9f3c-4aa1-b2c3-0123456789ab")
            return json_reply({"id": max(there)}, 201)
        name: object = path.removeprefix("/things/")
        if path == "/parts":
            name = _sent(request, "thing_id")
        if not isinstance(name, str) or not re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name):
            return json_reply({}, 404)
        return json_reply({}, 418 if query != "size=0" else 200 if name in there else 404)

    responses = {"200": {"description": ""}, "404": {"description": ""}}
    part = {"type": "object", "required": ["thing_id"], "properties": {"thing_id": {"type": "string"}}}
    body = {"required": True, "content": {"application/json": {"schema": part}}}
    users = {
        "path": {"/things/{id}": {"patch": {"parameters": [KEY, size], "responses": responses}}},
        "body": {"/parts": {"post": {"parameters": [size], "requestBody": body, "responses": responses}}},
    }
    checks = CHECKS.replace("not_a_server_error", "status_code_conformance")
    (command.directory / "checker.toml").write_text(checks)
    with serving(answer, THINGS | {"paths": {"/things": {"post": {"responses": MADE}}, **users[place]}}) as app:
        ran = command.run(app.document_url, "-n", "10", "--phases", "stateful", inline=True)
    (found,) = ran.findings
    assert (len(found.steps), found.investigation.reproduced, found.needs) == (1, True, ()), ran.shown
    assert "dependent on earlier requests" not in ran.stdout
    assert "Test Case ID: " + found.case + "\n" in ran.stdout


def test_a_creation_that_returns_what_is_there_shows_its_status_under_a_new_name(command: Command) -> None:
    there: set[object] = set()

    def answer(request: Request) -> Reply:
        name = _sent(request, "name")
        if not isinstance(name, str):
            return json_reply({}, 422)
        is_new = name not in there
        there.add(name)
        return json_reply({"id": name}, 201 if is_new else 200)

    thing = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}}
    body = {"required": True, "content": {"application/json": {"schema": thing}}}
    responses = {"200": {"description": ""}, "422": {"description": ""}}
    shown = {"get": {"parameters": [KEY], "responses": {"default": {"description": ""}}}}
    paths = {"/things/": {"post": {"requestBody": body, "responses": responses}}, "/things/{id}": shown}
    checks = CHECKS.replace("not_a_server_error", "status_code_conformance")
    (command.directory / "checker.toml").write_text(checks)
    with serving(answer, THINGS | {"paths": paths}) as app:
        ran = command.run(app.document_url, "-n", "10", inline=True)
    (found,) = ran.findings
    assert (len(found.steps), found.investigation.reproduced) == (1, True), ran.shown
    assert "intermittent" not in ran.stdout


@pytest.mark.parametrize(("looks_up", "marks"), [(True, " (dependent on earlier requests)"), (False, "")])
def test_a_new_name_below_a_resource_of_the_run_depends_on_it(command: Command, marks: str, *, looks_up: bool) -> None:
    """No further box can be created. An item with a new name shows its status again, in the box of the run alone."""
    boxes: list[str] = []
    there: set[tuple[str, object]] = set()

    def answer(request: Request) -> Reply:
        path, name = request.target.decode(), _sent(request, "name")
        if path == "/boxes":
            boxes.append("9b199853-0eef-4c1d-8a7e-0123456789ab")
            return json_reply({"id": boxes[0]}, 201) if len(boxes) == 1 else json_reply({}, 422)
        box = path.split("/")[2]
        if request.method != "POST" or not isinstance(name, str) or (looks_up and box not in boxes):
            return json_reply({}, 422)
        is_new = (box, name) not in there
        there.add((box, name))
        return json_reply({"id": name}, 201 if is_new else 200)

    thing = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}}
    body = {"required": True, "content": {"application/json": {"schema": thing}}}
    responses = {"200": {"description": ""}, "422": {"description": ""}}
    item = {"name": "item", "in": "path", "required": True, "schema": {"type": "string"}}
    shown = {"get": {"parameters": [KEY, item], "responses": {"default": {"description": ""}}}}
    paths = {
        "/boxes": {"post": {"responses": {**MADE, **responses}}},
        "/boxes/{id}/items": {"post": {"parameters": [KEY], "requestBody": body, "responses": responses}},
        "/boxes/{id}/items/{item}": shown,
    }
    checks = CHECKS.replace("not_a_server_error", "status_code_conformance")
    (command.directory / "checker.toml").write_text(checks)
    with serving(answer, THINGS | {"paths": paths}) as app:
        ran = command.run(app.document_url, "-n", "60", inline=True)
    (found,) = ran.findings
    assert (len(found.steps), found.investigation.reproduced) == (1, True), ran.shown
    assert f"Test Case ID: {found.case}{marks}\n" in ran.stdout


def _reopening_badly(orders: dict[str, str]) -> Callable[[Request], Reply]:
    """Creates orders, and fails to open one again that was cancelled."""

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            name = f"order-{len(orders)}"
            orders[name] = "open"
            return json_reply({"id": name}, 201)
        name, body = request.target.decode().rpartition("/")[2], json.loads(request.body or b"{}")
        if name not in orders:
            return json_reply({}, 404)
        if request.method != "PATCH" or body.get("state") not in ("open", "paid", "cancelled"):
            return json_reply({}, 405)
        if orders[name] == "cancelled" and body["state"] == "open":
            return json_reply({}, 500)
        orders[name] = body["state"]
        return json_reply({"id": name})

    return answer


def test_commands_bring_the_resource_into_the_state_that_the_failure_needs(command: Command) -> None:
    state = {"enum": ["open", "paid", "cancelled"]}
    schema = {"type": "object", "required": ["state"], "properties": {"state": state}}
    patch = {
        "parameters": [KEY],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"200": {"description": "", "content": {"application/json": {"schema": THING}}}},
    }
    document = {**THINGS, "paths": {"/orders": THINGS["paths"]["/things"], "/orders/{id}": {"patch": patch}}}
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(_reopening_badly({}), document) as app:
        ran = command.run_as_usual(app.document_url, "-n", "30", "--seed", "1", "--mode", "positive", inline=True)
    (finding,) = ran.findings
    assert finding.investigation.is_anew
    assert [one.exchange.method for one in finding.interactions] == ["POST", "PATCH", "PATCH"]


def test_a_failure_that_new_resources_do_not_show_is_told_so(command: Command) -> None:
    """Only the fourth removal of an order fails, and no single request leads there."""
    changes: dict[str, int] = {}

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            name = f"order-{len(changes)}"
            changes[name] = 0
            return json_reply({"id": name}, 201)
        name = request.target.decode().rpartition("/")[2]
        if name not in changes or request.method != "DELETE":
            return json_reply({}, 404)
        changes[name] += 1
        return json_reply({}, 500 if changes[name] > 3 else 204)

    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(answer, THINGS) as app:
        ran = command.run_as_usual(app.document_url, "-n", "30", "--mode", "positive", inline=True)
        again = command.here("replay")
    (finding,) = ran.findings
    assert finding.investigation.needs_state, ran.stdout
    assert "On new resources these requests did not show it" in ran.stdout
    assert again.code == 3, again.shown
