"""What a report masks depends on where a value came from: what was drawn is no secret, what came from outside may be one."""

from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.cassettes import interactions_of
from tests.e2e.runner import UNHURRIED_S, Command

TEXT = {"type": "string", "enum": ["drawn-value"]}
MASKED = "%5BFiltered%5D"


def parameter(name: str, place: str = "query", schema: Any = TEXT) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": schema}


BODY = {
    "type": "object",
    "required": ["sort_key_type", "password", "user_token"],
    "properties": {"sort_key_type": TEXT, "password": TEXT, "user_token": {"type": "string"}},
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Masking", "version": "1"},
    "components": {"securitySchemes": {"id": {"type": "apiKey", "in": "query", "name": "appid"}}},
    "paths": {
        "/a": {
            "post": {
                "parameters": [
                    parameter("sort_key"),
                    parameter("api_key"),
                    parameter("appid"),
                    parameter("page_token", schema={"type": "string"}),
                    parameter("X-Token-Type", "header"),
                ],
                "requestBody": {"content": {"application/json": {"schema": BODY}}, "required": True},
                "responses": {"200": {"description": ""}},
            }
        },
        # The connection is dropped: a finding without a response.
        "/gone": {
            "get": {
                "parameters": [parameter("sort_key"), parameter("page_token", schema={"type": "string"})],
                "responses": {"200": {"description": ""}},
            }
        },
    },
}
CONFIG = """
[parameters]
"query.page_token" = { dictionary = "pages" }
"body.user_token" = "from-outside"
[dictionaries.pages]
values = ["word-1", "word-2"]
"""


def failing(request: Request) -> Reply:
    if b"/gone" in request.target:
        raise ConnectionError("it is gone")
    return json_reply({}, 500)


def cassette(folder: Path) -> dict[str, Any]:
    (path,) = (folder / "checker-report").glob("*.yaml")
    (first, *_) = interactions_of(path)
    return dict(first["request"])


def test_what_was_drawn_is_shown_and_what_is_from_outside_is_not(command: Command) -> None:
    (command.directory / "checker.toml").write_text(CONFIG)
    with serving(failing, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", "--report", "vcr", inline=True)
    assert ran.code == 1, ran.shown
    query = f"sort_key=drawn-value&api_key={MASKED}&appid={MASKED}&page_token={MASKED}"
    body = '{"sort_key_type":"drawn-value","password":"drawn-value","user_token":"[Filtered]"}'
    sent = cassette(command.directory)
    assert sent["uri"].partition("?")[2] == query
    assert sent["body"]["string"] == body
    assert sent["headers"]["X-Token-Type"] == ["drawn-value"]
    assert query.replace(f"page_token={MASKED}", 'page_token=$CHECKER_PAGE_TOKEN"') in ran.stdout
    assert body in ran.stdout
    assert "-H 'X-Token-Type: drawn-value'" in ran.stdout
    assert '/gone?sort_key=drawn-value&page_token=$CHECKER_PAGE_TOKEN"' in ran.stdout
    assert ran.stdout.count("export CHECKER_PAGE_TOKEN=...") == 2
    (hidden,) = [line for line in ran.stdout.splitlines() if line.startswith("Hidden: ")]
    for place in ("body user_token", "query api_key", "query appid"):
        assert place in hidden
    assert not any(value in ran.stdout for value in ("from-outside", "word-1", "word-2"))


def test_what_was_drawn_is_masked_where_that_is_wanted(command: Command) -> None:
    wanted = f"{CONFIG}[output.sanitization]\ngenerated = true\n"
    (command.directory / "checker.toml").write_text(wanted)
    with serving(failing, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", "--report", "vcr", inline=True)
    assert ran.code == 1, ran.shown
    assert "drawn-value" not in ran.stdout
    assert "drawn-value" not in repr(cassette(command.directory))


MADE = {"type": "object", "required": ["next_token"], "properties": {"next_token": {"type": "string"}}}
PAGES: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Pages", "version": "1"},
    "paths": {
        "/pages": {
            "post": {"responses": {"200": {"description": "", "content": {"application/json": {"schema": MADE}}}}}
        },
        "/pages/{page}": {
            "get": {
                "parameters": [
                    parameter("page", "path", {"type": "string"}),
                    parameter("next_token", schema={"type": "string"}),
                    parameter("sort_key"),
                ],
                "responses": {"200": {"description": ""}},
            }
        },
    },
}


def test_what_an_answer_said_is_masked(command: Command) -> None:
    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return json_reply({"next_token": "said-by-the-server"})
        is_wrong = b"next_token=said-by-the-server" in request.target
        return json_reply({}, 500 if is_wrong else 200)

    with serving(answer, PAGES) as app:
        ran = command.here(
            *("fuzz", app.document_url, "--mode", "positive", "--seed", "1", "--inline"),
            *("--max-failures", "1", "--max-time", UNHURRIED_S),
        )
    assert ran.code == 1, ran.shown
    assert """next_token='"$next_token_1"'&sort_key=""" in ran.stdout
    assert "said-by-the-server" not in ran.stdout
    assert "sort_key=drawn-value" in ran.stdout


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("hook", ["", "import checker\n@checker.hook\ndef before_call(context, case, kwargs):\n    case.query['sort_key'] = 'from-a-hook'\n"])  # fmt: skip
def test_what_a_hook_sends_is_not_shown(command: Command, hook: str) -> None:
    (command.directory / "hooks.py").write_text(hook)
    (command.directory / "checker.toml").write_text(f'hooks = "hooks.py"\n{CONFIG}')
    with serving(failing, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", "--report", "vcr", workers=1)
    assert ran.code == 1, ran.shown
    shown = MASKED if hook else "drawn-value"
    assert f"sort_key={shown}&" in ran.stdout
    assert f"sort_key={shown}&" in cassette(command.directory)["uri"]


CREDENTIALS = {
    "type": "object",
    "required": ["username", "password"],
    "properties": {
        "username": {"type": "string", "enum": ["invented-user"]},
        "password": {"type": "string", "enum": ["invented-password"]},
    },
}


@pytest.mark.parametrize(
    ("path", "status", "is_shown"),
    [("/register", 201, False), ("/login", 200, False), ("/register", 500, True), ("/boxes", 201, True)],
)
@pytest.mark.thorough_beyond(2)
def test_credentials_that_were_invented_are_masked_once_an_account_has_them(
    command: Command, path: str, status: int, *, is_shown: bool
) -> None:
    content = {"content": {"application/json": {"schema": CREDENTIALS}}, "required": True}
    document = {
        **DOCUMENT,
        "paths": {path: {"post": {"requestBody": content, "responses": {"202": {"description": ""}}}}},
    }
    with serving(lambda request: json_reply({}, status), document) as app:
        ran = command.run(
            app.document_url, "-n", "3", "--mode", "positive", "--report", "vcr,junit,ndjson", inline=True
        )
    assert ran.code == 1, ran.shown
    reports = [path for path in (command.directory / "checker-report").rglob("*") if path.is_file()]
    assert len(reports) == 3
    for text in (ran.stdout, *(path.read_text("utf-8") for path in reports)):
        assert "invented-user" in text
        assert ("invented-password" in text) is is_shown


def test_a_failure_under_a_sensitive_name_shows_what_is_wrong(command: Command) -> None:
    key = {"type": "object", "required": ["by"], "properties": {"by": TEXT, "limit": {"type": "integer", "enum": [7]}}}
    body = {"type": "object", "required": ["sortKey"], "properties": {"sortKey": key}}
    content = {"application/json": {"schema": body}}
    operation = {
        "requestBody": {"content": content, "required": True},
        "responses": {"200": {"description": "", "content": content}},
    }
    with serving(
        lambda request: json_reply({"sortKey": {"by": 5}}), {**DOCUMENT, "paths": {"/a": {"post": operation}}}
    ) as app:
        ran = command.run(app.document_url, "-n", "3", "--mode", "positive", inline=True)
    assert ran.code == 1, ran.shown
    assert 'body.sortKey.by: 5 is not of type "string"' in ran.stdout
    assert '"sortKey":{"by":"drawn-value"' in ran.stdout
