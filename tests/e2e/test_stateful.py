"""The stateful phase finds what only sequences reach, and reports nothing else."""

import itertools
from pathlib import Path

import pytest

from tests.apps.http import Reply, Request
from tests.apps.library import DEFECTS, DOCUMENT, Library
from tests.apps.planted import Disturbed
from tests.apps.serving import Answer, json_reply, serving
from tests.e2e.runner import Command, Ran, kill_a_worker

CHECKS = ("--checks", "not_a_server_error,response_schema_conformance,content_type_conformance")


def ran(directory: Path, answer: Answer, *arguments: str, workers: int | None = None, seed: int = 1) -> Ran:
    """A run of the stateful phase, inline if there are no workers."""
    directory.mkdir(exist_ok=True)
    with serving(answer, DOCUMENT) as app:
        return Command(directory).run(
            *(app.document_url, "--phases", "stateful", *arguments),
            seed=seed,
            workers=workers or 1,
            inline=workers is None,
        )


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.thorough_beyond(1)
def test_defects_behind_sequences_are_found_and_nothing_else(tmp_path: Path, seed: int) -> None:
    done = ran(tmp_path, Library(), *CHECKS, seed=seed)
    assert done.code == 1, done.shown
    assert sorted(label for label, _ in done.defects) == sorted(DEFECTS.values()), done.shown


@pytest.mark.thorough
def test_the_twin_without_defects_is_clean(tmp_path: Path) -> None:
    done = ran(tmp_path, Library({}), *CHECKS)
    assert done.code == 0, done.shown


def told(done: Ran) -> list[tuple[str, str, int]]:
    """(operation, check, steps) of what was found."""
    return sorted((one.label, one.check, len(one.steps)) for one in done.findings)


@pytest.mark.thorough
def test_a_worker_that_is_killed_costs_no_finding_and_doubles_none(tmp_path: Path) -> None:
    checks = ("--checks", "not_a_server_error")
    deadly = Disturbed(Library(), kill_a_worker, after=900)
    done = ran(tmp_path / "killed", deadly, *checks, workers=2)
    undisturbed = ran(tmp_path / "whole", Library(), *checks, workers=2)
    assert "killed" in str(done.view.gone.values())
    assert [one[:2] for one in told(done)] == [one[:2] for one in told(undisturbed)], done.shown
    assert len(told(done)) == len(DEFECTS)


@pytest.mark.thorough
def test_sequences_that_failed_are_tried_first_next_time(tmp_path: Path) -> None:
    # A job by its location alone: one sequence of two steps, whatever the seed.
    name = "a job by its location"
    library = {name: DEFECTS[name]}
    first = ran(tmp_path, Library(library), "--checks", "not_a_server_error", seed=1)
    assert [one[2] for one in told(first)] == [2], first.shown
    with serving(Library(library), DOCUMENT) as app:
        Command(tmp_path).run(
            *(app.document_url, "--phases", "stateful", "-n", "1", "--include-path-regex", "jobs"), inline=True
        )
        targets = [request.target for request in app.seen]
    assert targets[0] == b"/jobs"
    assert targets[1].startswith(b"/jobs/n")


def test_a_sequence_sends_no_safe_request_twice_while_nothing_changed(command: Command) -> None:
    by_id = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
    shown = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
    made = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
    paths = {
        "/things": {
            "post": {"responses": {"201": {"description": "", "content": {"application/json": {"schema": made}}}}}
        },
        "/things/{id}": {"get": {"parameters": by_id, "responses": shown}},
        "/things/{id}/parts": {"get": {"parameters": by_id, "responses": shown}},
    }
    count = itertools.count(1)

    def answer(request: Request) -> Reply:
        return json_reply({"id": next(count)}, 201) if request.method == "POST" else json_reply({})

    document = {"openapi": "3.0.3", "info": {"title": "Things", "version": "1"}, "paths": paths}
    with serving(answer, document) as app:
        given = ("--phases", "stateful", "--mode", "positive", "-n", "20", "--lanes", "1")
        command.run(app.document_url, *given, "--checks", "not_a_server_error", inline=True)
    known: set[bytes] = set()
    reads = [one for one in app.seen if b"/things" in one.target]
    for one in reads:
        if one.method == "POST":
            known.clear()
        else:
            assert one.target not in known
            known.add(one.target)
    assert sum(one.method == "GET" for one in reads) >= 20


def test_few_sequences_of_reads_use_elements_of_lists_beyond_the_first(command: Command) -> None:
    by_id = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    responses = {"200": {"description": ""}, "404": {"description": ""}}
    paths = {
        "/shows": {"get": {"responses": responses}},
        "/shows/{id}": {"get": {"parameters": by_id, "responses": responses}},
        "/shows/{id}/seats": {"get": {"parameters": by_id, "responses": responses}},
    }

    def answer(request: Request) -> Reply:
        shows = {f"show-{number}": {"seats": number} for number in range(3)}
        match request.target.decode().strip("/").split("/"):
            case ["shows"]:
                return json_reply({"items": [{"id": name} for name in shows]})
            case ["shows", name, *_] if name in shows:
                return json_reply(shows[name], 500 if request.target == b"/shows/show-2/seats" else 200)
        return json_reply({}, 404)

    document = {"openapi": "3.0.3", "info": {"title": "Shows", "version": "1"}, "paths": paths}
    with serving(answer, document) as app:
        ran = command.run(app.document_url, "--phases", "stateful", "-n", "99", "--mode", "positive", inline=True)
    assert ("GET /shows/{id}/seats", "not_a_server_error") in ran.defects, ran.shown
    # 24 sequences of a list, a member and its seats: nothing changes between them. The error has no reason, so that its
    # sequence is sent six times more.
    assert sum(request.target == b"/shows" for request in app.seen) <= 36


def test_wrong_cases_in_the_middle_of_sequences_do_not_count_as_valid_ones(command: Command) -> None:
    by_id = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
    made = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
    created = {"201": {"description": "", "content": {"application/json": {"schema": made}}}}
    body = {"required": True, "content": {"application/json": {"schema": {"type": "boolean"}}}}
    responses = {"200": {"description": ""}, "422": {"description": ""}}
    paths = {
        "/things": {"post": {"responses": created}},
        "/things/{id}": {
            "parameters": by_id,
            "get": {"responses": responses},
            "put": {"requestBody": body, "responses": responses},
        },
    }
    count = itertools.count(1)

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return json_reply({"id": next(count)}, 201)
        is_wrong = request.method == "PUT" and request.body.strip() not in (b"true", b"false")
        return json_reply({}, 422 if is_wrong else 200)

    document = {"openapi": "3.0.3", "info": {"title": "Things", "version": "1"}, "paths": paths}
    with serving(answer, document) as app:
        done = command.run(app.document_url, "--phases", "stateful", "--mode", "all", "-n", "30", inline=True)
    read = done.view.of("PUT /things/{id}")
    assert read.wrong[422] >= 3, done.shown
    assert set(read.positive_statuses) == {200}
