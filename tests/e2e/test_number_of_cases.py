"""`generation.max-examples` of a phase, and of a phase in a block, says how many cases or sequences an operation has there."""

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, Ran

_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_THING = {"type": "object", "properties": {"id": {"type": "string"}}}
_MADE = {"201": {"description": "", "content": {"application/json": {"schema": _THING}}}}


def _answer(request: Request) -> Reply:
    return json_reply({"id": "7"}, 201 if request.method == "POST" else 200)


DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Numbers", "version": "1"},
    "paths": {
        path: operations
        for name in ("a", "b")
        for path, operations in (
            (f"/{name}", {"post": {"requestBody": {"content": {"application/json": {"schema": _THING}}}, "responses": _MADE}}),
            (f"/{name}/{{id}}", {"get": {"parameters": [_ID], "responses": {"default": {"description": ""}}}}),
        )
    },
}  # fmt: skip


BLOCK = '[[operations]]\ninclude-path = "/a"\n'


def _numbers(ran: Ran, phase: str) -> dict[str, int]:
    """Return operation -> cases or sequences that it had in a phase."""
    tasks = (task for task in ran.view.tasks.values() if task.phase == phase)
    return {str(task.labels[0]): task.next_index for task in tasks}


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("[phases.stateful.generation]\nmax-examples = 3\n", 3, 3),
        ("[phases.fuzzing.generation]\nmax-examples = 3\n", 6, 6),
        (f"{BLOCK}[operations.phases.stateful.generation]\nmax-examples = 2\n", 2, 6),
        (f"{BLOCK}[operations.phases.fuzzing.generation]\nmax-examples = 2\n", 6, 6),
        (f"{BLOCK}[operations.generation]\nmax-examples = 2\n", 2, 6),
    ],
)
def test_the_number_of_sequences_is_that_of_the_stateful_phase(
    command: Command, text: str, first: int, second: int
) -> None:
    usual = "[generation]\nmax-examples = 6\n"
    (command.directory / "checker.toml").write_text(f"{usual}{text}")
    with serving(_answer, DOCUMENT) as app:
        arguments = ("--phases", "stateful", "--checks", "not_a_server_error")
        ran = command.run(app.document_url, *arguments, inline=True)
    assert ran.code == 0, ran.shown
    assert _numbers(ran, "stateful") == {"POST /a": first, "POST /b": second}, ran.shown


def test_phases_have_numbers_of_their_own(command: Command) -> None:
    stateful = "[phases.stateful.generation]\nmax-examples = 2\n"
    fuzzing = "[phases.fuzzing.generation]\nmax-examples = 9\n"
    (command.directory / "checker.toml").write_text(stateful + fuzzing)
    with serving(_answer, DOCUMENT) as app:
        arguments = ("--phases", "fuzzing,stateful", "--checks", "not_a_server_error")
        ran = command.run(app.document_url, *arguments, inline=True)
    assert set(_numbers(ran, "fuzzing").values()) == {9}, ran.shown
    assert set(_numbers(ran, "stateful").values()) == {2}, ran.shown
