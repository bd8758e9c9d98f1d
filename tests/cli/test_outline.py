"""`checker list` and `checker graph`: what would be tested, and what leads where, without a request to the API."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from checker.cli import COMMANDS
from tests.apps.serving import json_reply, serving
from tests.reporting.golden import assert_golden

ANSWERS = {"200": {"description": ""}}
BY_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
USER = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
JSON_USER = {"application/json": {"schema": USER}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/users": {
            "get": {
                "tags": ["users"],
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
                "responses": {
                    "200": {
                        "description": "",
                        "content": {
                            "application/json": {"schema": {"type": "array", "items": USER}}
                        },
                    }
                },
            },
            "post": {
                "operationId": "addUser",
                "tags": ["users"],
                "requestBody": {"content": JSON_USER},
                "responses": {
                    "201": {
                        "description": "",
                        "content": JSON_USER,
                        "links": {
                            "Remove": {
                                "operationId": "removeUser",
                                "parameters": {"id": "$response.body#/id"},
                            }
                        },
                    }
                },
            },
        },
        "/users/{id}": {
            "parameters": [BY_ID],
            "get": {"deprecated": True, "responses": ANSWERS},
            "delete": {"operationId": "removeUser", "responses": ANSWERS},
        },
        "/ping": {
            "get": {
                "parameters": [
                    {"name": "say \"it\"", "in": "query", "example": "a", "schema": {"type": "string"}}
                ],
                "responses": ANSWERS,
            }
        },
        "/odd": {"get": {"parameters": [{"$ref": "#/nowhere"}], "responses": ANSWERS}},
    },
}  # fmt: skip
SDL = """
type Query { book(id: ID!): Book, books: [Book!]! }
type Mutation { addBook(title: String!): Book, deleteBook(id: ID!): Boolean }
type Book { id: ID!, title: String! }
"""


@pytest.fixture(autouse=True)
def documents(folder: Path) -> Path:
    (folder / "shop.json").write_text(json.dumps(DOCUMENT))
    (folder / "books.graphql").write_text(SDL)
    return folder


@pytest.mark.parametrize("name", ["shop.json", "books.graphql"])
def test_every_operation_is_listed_with_what_it_takes_and_who_tests_it(invoke, name: str) -> None:
    shown = invoke("list", name)
    assert shown.exit_code == 0, shown.stderr
    assert_golden(f"list_{name.partition('.')[0]}", shown.stdout)


def test_as_json_everything_is_there(invoke) -> None:
    found = json.loads(invoke("list", "shop.json", "--format", "json").stdout)
    by_label = {one["label"]: one for one in found["operations"]}
    assert (found["selected"], found["total"], len(found["broken"])) == (6, 6, 1)
    assert by_label["GET /users/{id}"] == {
        "label": "GET /users/{id}",
        "method": "GET",
        "path": "/users/{id}",
        "operation_id": None,
        "tags": [],
        "deprecated": True,
        "inputs": [{"name": "id", "location": "path", "is_required": True}],
        "media_types": [],
        "phases": ["coverage", "fuzzing", "stateful"],
    }
    assert by_label["GET /ping"]["phases"] == ["examples", "coverage", "fuzzing"]


def test_filters_of_a_run_are_those_of_the_list(invoke, folder: Path) -> None:
    (folder / "checker.toml").write_text(
        '[[operations]]\ninclude-method = "DELETE"\nenabled = false\n'
        '[[operations]]\ninclude-method = "POST"\nphases.fuzzing.enabled = false\n'
    )
    shown = invoke(
        "list", "shop.json", "--include-path-regex", "user", "--exclude-tag", "admins",
        "--safety", "create-own", "--format", "json",
    )  # fmt: skip
    found = json.loads(shown.stdout)
    assert {one["label"]: one["phases"] for one in found["operations"]} == {
        "GET /users": ["coverage", "fuzzing", "stateful"],
        "POST /users": ["coverage", "stateful"],
        "GET /users/{id}": ["coverage", "fuzzing", "stateful"],
    }
    assert found["filters"] == [
        "--include-path-regex user", "--exclude-tag admins", "1 x [[operations]] enabled = false",
        "--safety create-own",
    ]  # fmt: skip
    assert shown.stderr == "Warning: `--exclude-tag admins` matches no operation\n"


@pytest.mark.parametrize("shape", ["text", "dot", "mermaid"])
@pytest.mark.parametrize("name", ["shop.json", "books.graphql"])
def test_producers_links_and_places_are_drawn(invoke, name: str, shape: str) -> None:
    shown = invoke("graph", name, "--format", shape)
    assert shown.exit_code == 0, shown.stderr
    assert_golden(f"graph_{name.partition('.')[0]}_{shape}", shown.stdout)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed here")
def test_graphviz_reads_the_drawing(invoke) -> None:
    drawing = invoke("graph", "shop.json", "--format", "dot").stdout
    subprocess.run(["dot", "-Tsvg"], input=drawing.encode(), check=True, capture_output=True)


def test_names_that_mean_something_to_drawings_are_only_shown(invoke, folder: Path) -> None:
    path = '/a"]; end {x}\\'
    document = {**DOCUMENT, "paths": {path: {"get": {"responses": ANSWERS}}}}
    (folder / "odd.json").write_text(json.dumps(document))
    dot = invoke("graph", "odd.json", "--format", "dot").stdout
    mermaid = invoke("graph", "odd.json", "--format", "mermaid").stdout
    assert '  "GET /a\\"]; end {x}\\\\" [style=filled, fillcolor=lightgrey];\n' in dot
    assert '  n0(["GET /a#34;#93;#59; end #123;x#125;#92;"])\n' in mermaid


@pytest.mark.parametrize("command", ["list", "graph"])
def test_nothing_is_sent_but_what_fetches_the_description(invoke, command: str) -> None:
    with serving(lambda request: json_reply({}), DOCUMENT) as app:
        shown = invoke(command, app.document_url)
    assert (shown.exit_code, app.wire()) == (0, [])


@pytest.mark.parametrize("command", ["list", "graph"])
def test_what_cannot_be_read_is_one_sentence(invoke, folder: Path, command: str) -> None:
    (folder / "broken.json").write_text("{")
    shown = invoke(command, "broken.json")
    assert (shown.exit_code, shown.stderr.count("\n")) == (2, 1)
    assert shown.stderr.startswith("Error: broken.json is not valid JSON")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rnu", "x"), "No such command 'rnu'. Did you mean 'run'?"),
        (("grpah",), "No such command 'grpah'. Did you mean 'graph'?"),
        (("qwerty",), "No such command 'qwerty'.\n"),
        (("--no-colour",), "Did you mean '--no-color'?"),
        (("baseline", "ad"), "No such command 'ad'. Did you mean 'add'?"),
        (("baseline", "add", "--reson"), "Did you mean '--reason'?"),
        (("config", "shwo"), "No such command 'shwo'. Did you mean 'show'?"),
        (("config", "show", "--chnaged"), "Did you mean '--changed'?"),
        (("auth", "chek"), "No such command 'chek'. Did you mean 'check'?"),
        (("list", "shop.json", "--fromat", "json"), "Did you mean '--format'?"),
        (("report", "--formt"), "Did you mean '--format'?"),
    ],
)
def test_what_is_mistyped_is_answered_with_what_was_meant(invoke, arguments: tuple[str, ...], said: str) -> None:
    shown = invoke(*arguments)
    assert shown.exit_code == 2
    assert said in shown.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_shell_completes_every_command(invoke, monkeypatch, command: str) -> None:
    monkeypatch.setenv("COMP_WORDS", f"checker {command[:-1]}")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.setenv("_CHECKER_COMPLETE", "bash_complete")
    assert f"plain,{command}" in invoke().output.splitlines()
