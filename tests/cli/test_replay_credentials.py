"""`checker replay` of failures and cassettes with credentials of today, and by options of earlier generations."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {"/a": {"get": {"security": [{"B": []}], "responses": {"200": {"description": ""}}}}},
    "components": {"securitySchemes": {"B": {"type": "http", "scheme": "bearer"}}},
}
USERS = {
    "auth": [
        {"name": "anna", "fixedHeaders": [{"name": "Authorization", "value": "Bearer anna-fixed"}]},
        {
            "name": "bert",
            "loginEndpointAuth": {
                "verb": "POST",
                "endpoint": "/login",
                "payloadRaw": "bert",
                "token": {
                    "extractFrom": "body",
                    "extractSelector": "/token",
                    "sendIn": "header",
                    "sendName": "Authorization",
                    "sendTemplate": "Bearer {token}",
                },
            },
        },
    ]
}


def answer(request: Request) -> Reply:
    if request.target == b"/login":
        return json_reply({"token": "of-bert"})
    return json_reply({}, 500)


@pytest.fixture
def failed(invoke: Any, folder: Path) -> Iterator[App]:
    """A target that failed for a token which nobody knows any more."""
    (folder / "users.json").write_text(json.dumps(USERS))
    with serving(answer, DOCUMENT) as app:
        token = ("-H", "Authorization: Bearer of-then", "--report-vcr-path", "c.yaml")
        checks = ("-c", "not_a_server_error", "--phases", "coverage", "--inline")
        result = invoke("run", app.document_url, "-u", app.url, *checks, *token)
        assert result.exit_code == 1, result.output
        app.seen.clear()
        yield app


def carried(app: App) -> set[str | None]:
    return {one.headers.get("authorization") for one in app.seen if one.target != b"/login"}


@pytest.mark.parametrize(
    ("options", "token"),
    [
        (("-H", "authorization: Bearer of-today"), "Bearer of-today"),
        (("-a", "carl:hush"), "Basic Y2FybDpodXNo"),
        (("--auth-wfc", "users.json"), "Bearer anna-fixed"),
        (("--auth-wfc", "users.json", "--auth-wfc-user", "bert"), "Bearer of-bert"),
    ],
    ids=["header", "user", "fixed", "login"],
)
def test_what_was_masked_is_given_anew(invoke: Any, failed: App, options: tuple[str, ...], token: str) -> None:
    # Without an id, all failures are tried.
    result = invoke("replay", *options)
    assert result.exit_code == 1, result.output
    assert result.stdout.startswith("FAILED  GET /a")
    assert carried(failed) == {token}
    failed.seen.clear()
    result = invoke("replay", "c.yaml", "--url", failed.url, *options)
    assert (result.exit_code, carried(failed)) == (0, {token}), result.output


def test_without_them_it_says_what_is_missing(invoke: Any, failed: App) -> None:
    result = invoke("replay", "all")
    assert result.exit_code == 2
    assert "needs the secret header:Authorization" in result.stdout
    result = invoke("replay", "c.yaml", "--auth-wfc", "users.json")
    assert result.exit_code == 2
    assert "give the base URL of the API, where the user logs in, with --url" in result.stderr


def test_a_header_that_is_no_credential_goes_along(invoke: Any, failed: App) -> None:
    token = ("-H", "Authorization: Bearer x", "-H", "X-Trace: 1")
    assert invoke("replay", *token).exit_code == 1
    assert {one.headers.get("x-trace") for one in failed.seen} == {"1"}


def test_options_of_earlier_generations_are_those_of_today(invoke: Any, failed: App) -> None:
    old = ("--keep", "--schema-location", failed.document_url, "-b", failed.url)
    result = invoke("replay", "c.yaml", *old, "-H", "Authorization: Bearer x")
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines() == [
        "Hint: --keep does nothing: failures stay where they are until the next run",
        "Hint: --schema-location does nothing: requests are sent as they were recorded",
        f"Hint: -b is now: --url {failed.url}",
    ]


LOGIN = """
[auth.dynamic.openapi.B]
path = "/login"
extract_selector = "/token"
"""
PROVIDER = """
import checker

@checker.auth()
class Token:
    def get(self, case, ctx):
        return checker_token()

    def set(self, case, data, ctx):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}

def checker_token():
    import urllib.request, json, os
    return json.load(urllib.request.urlopen(os.environ["TOKENS"], data=b""))["token"]
"""


class Tokens:
    """A server that fails for each token that it gave, and gives another one each time."""

    def __init__(self) -> None:
        self.given = 0

    def answer(self, request: Request) -> Reply:
        if request.target == b"/login":
            self.given += 1
            return json_reply({"token": f"token-number-{self.given}"})
        known = {f"Bearer token-number-{number}" for number in range(1, self.given + 1)}
        return json_reply({}, 500 if request.headers.get("authorization") in known else 401)


def in_a_process(*arguments: str) -> tuple[int, str]:
    """Run the command line in a process of its own: a provider that hooks register stays registered in this one."""
    done = subprocess.run([sys.executable, "-m", "checker", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("way", ["dynamic", "provider"])
@pytest.mark.thorough
def test_fetched_credentials_are_fetched_anew(folder: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with serving(Tokens().answer, DOCUMENT) as app:
        if way == "dynamic":
            (folder / "checker.toml").write_text(LOGIN)
        else:
            (folder / "tokens_hooks.py").write_text(PROVIDER)
            monkeypatch.setenv("CHECKER_HOOKS", "tokens_hooks.py")
            monkeypatch.setenv("TOKENS", f"{app.url}/login")
        checks = ("-c", "not_a_server_error", "--phases", "coverage", "--report-vcr-path", "c.yaml")
        code, output = in_a_process("run", app.document_url, "-u", app.url, *checks, "--inline")
        assert code == 1, output
        before = carried(app)
        app.seen.clear()
        code, output = in_a_process("replay")
        assert code == 1, output
        assert output.startswith("FAILED  GET /a")
        assert None not in carried(app)
        assert carried(app).isdisjoint(before)
        app.seen.clear()
        code, output = in_a_process("replay", "c.yaml", "--purpose", "test")
        assert code == 0, output
        assert carried(app).isdisjoint(before)


ID: dict[str, Any] = {"name": "item_id", "in": "path", "required": True, "schema": {"type": "integer"}}
NAMED: dict[str, Any] = {
    "required": True,
    "content": {"application/json": {"schema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}},
}  # fmt: skip
ITEMS: dict[str, Any] = {
    **DOCUMENT,
    "security": [{"B": []}],
    "paths": {
        "/items": {"post": {"requestBody": NAMED, "responses": {"201": {"description": ""}}}},
        "/items/{item_id}": {
            "put": {"parameters": [ID], "requestBody": NAMED, "responses": {"200": {"description": ""}}}
        },
    },
}  # fmt: skip


class Items(Tokens):
    """A server that fails for each change of an item that it has; ids begin at `first`."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self.first = first
        self.there: set[bytes] = set()

    def answer(self, request: Request) -> Reply:
        found = super().answer(request)
        if found.status != 500:
            return found
        if request.method == "POST":
            name = self.first + len(self.there)
            self.there.add(f"/items/{name}".encode())
            return json_reply({"item_id": name}, 201)
        return found if request.target in self.there else json_reply({}, 404)


@pytest.mark.thorough
def test_the_requests_that_a_failure_needs_carry_the_credentials_of_today(folder: Path) -> None:
    (folder / "checker.toml").write_text(LOGIN)
    with serving(Items(1).answer, ITEMS) as app:
        given = ("-c", "not_a_server_error", "--phases", "coverage", "--mode", "positive", "--inline")
        code, output = in_a_process("run", app.document_url, "-u", app.url, *given)
        assert code == 1, output
        # The creation is the first of the commands.
        wanted = rf"curl -sS -X POST .*-H \"Authorization: Bearer \$CHECKER_TOKEN_B\" .*{app.url}/items \| jq "
        assert re.search(wanted, output), output
    with serving(Items(9001).answer, ITEMS) as again:
        code, output = in_a_process("replay", "-u", again.url)
        assert (code, output.split()[0]) == (1, "FAILED"), output
        created = [one for one in again.seen if one.target == b"/items"]
        assert created
        assert all(one.headers["authorization"].startswith("Bearer token-") for one in created)
