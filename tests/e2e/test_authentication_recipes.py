"""The recipes of docs/authentication.md, word for word, against stand-ins of what they are for."""

import hashlib
import hmac
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.apps import csrf
from tests.apps.http import Reply, Request
from tests.apps.serving import Answer, App, json_reply, serving
from tests.apps.token_endpoint import PASSWORD, SECRET, TokenEndpoint
from tests.e2e.runner import Command

PAGE = Path(__file__).parents[2] / "docs" / "authentication.md"
FILES = {"toml": "checker.toml", "yaml": "users.yaml", "python": "signing.py"}
LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}


def follow(command: Command, heading: str) -> None:
    """Write the files of a recipe."""
    recipe = PAGE.read_text().partition(f"### {heading}\n")[2].partition("\n##")[0]
    blocks = re.findall(r"```(\w+)\n(.*?)```", recipe, re.DOTALL)
    assert blocks
    for language, text in blocks:
        (command.directory / FILES[language]).write_text(text)


def opens(command: Command, app: App, checked: str) -> None:
    """Try the configuration, and run with it."""
    told = command("auth", "check", app.document_url)
    assert told.stdout.splitlines() == [checked], told.shown
    serves(command, app)


def serves(command: Command, app: App) -> None:
    """Run: every operation is served, none reports anything."""
    quiet = ("--exclude-checks", "ignored_auth,negative_data_rejection")
    ran = command("run", app.document_url, "-w", "1", "-n", "5", "--seed", "1", "--phases", "fuzzing", *quiet)
    assert ran.code == 0, ran.shown
    served = {label for label, statuses in ran.view.statuses.items() if statuses[200] + statuses[201]}
    assert served == set(ran.view.labels)


def secured(paths: list[str], scheme: dict[str, str]) -> dict[str, Any]:
    operation = {"get": {"parameters": [LIMIT], "responses": {"200": {"description": ""}}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Secured", "version": "1"},
        "components": {"securitySchemes": {"S": scheme}},
        "security": [{"S": []}],
        "paths": dict.fromkeys(paths, operation),
    }


@pytest.mark.thorough
def test_django_with_its_login_page(command: Command) -> None:
    follow(command, "Django with its login page")
    sessions = csrf.Sessions(csrf.FRAMEWORKS[0], password="secret", login="/accounts/login/")
    with serving(sessions.answer, csrf.DOCUMENT) as app:
        opens(command, app, "ok       user anna: GET /posts answered 200")


@pytest.mark.thorough
def test_the_stock_login_of_django_itself(command: Command, tmp_path: Path) -> None:
    follow(command, "Django with its login page")
    served = [sys.executable, "-m", "tests.apps.django_login", str(tmp_path / "db.sqlite3")]
    with subprocess.Popen(served, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as django:
        assert django.stdout is not None
        try:
            opens(command, App(django.stdout.readline().strip()), "ok       user anna: GET /posts answered 200")
        finally:
            django.kill()


def test_keycloak(command: Command) -> None:
    follow(command, "Keycloak")
    given = TokenEndpoint(uses=8)
    with serving(given.answer, given.description()) as app:
        command.environment |= {"KEYCLOAK": app.url, "CLIENT_SECRET": SECRET, "PASSWORD": PASSWORD}
        opens(command, app, "ok       Keycloak: GET /read answered 200")
    assert {one["grant_type"] for one in given.grants} == {"password"}


def test_a_refresh_token_that_each_use_replaces(command: Command) -> None:
    follow(command, "A refresh token that each use replaces")
    given = TokenEndpoint(uses=8)
    with serving(given.answer, given.description()) as app:
        command.environment |= {"CLIENT_SECRET": SECRET, "REFRESH_TOKEN": given.refresh_token}
        serves(command, app)
    assert len(given.grants) > 1


@pytest.mark.thorough
def test_signature_of_each_request(command: Command) -> None:
    follow(command, "A signature of each request (HMAC)")
    key = "key-C4n4ry"
    command.environment["SIGNING_KEY"] = key

    def answer(request: Request) -> Reply:
        digest = hashlib.sha256(request.body).hexdigest()
        text = f"{request.method}\n{request.target.decode()}\n{digest}"
        wanted = hmac.new(key.encode(), text.encode(), "sha256").hexdigest()
        return json_reply({}, 200 if request.headers.get("x-signature") == wanted else 401)

    document = secured(["/orders", "/items"], {"type": "apiKey", "in": "header", "name": "X-Signature"})
    with serving(answer, document) as app:
        opens(command, app, "ok       signer Signature: GET /orders answered 200")


def roles() -> Answer:
    def answer(request: Request) -> Reply:
        if request.target == b"/login":
            given = json.loads(request.body)
            return json_reply({"token": f"token-of-{given['user']}"}, 200 if given["password"] == "secret" else 401)
        user = request.headers.get("authorization", "").removeprefix("Bearer token-of-")
        if user not in ("anna", "root"):
            return json_reply({}, 401)
        return json_reply({}, 403 if (user == "root") != request.target.startswith(b"/admin") else 200)

    return answer


@pytest.mark.thorough
def test_two_roles(command: Command) -> None:
    follow(command, "Two roles")
    with serving(roles(), secured(["/items", "/admin"], {"type": "http", "scheme": "bearer"})) as app:
        told = command("auth", "check", app.document_url)
        assert told.stdout.splitlines()[0] == "ok       user member: GET /items answered 200", told.shown
        ran = command("run", app.document_url, "-w", "1", "-n", "5", "--seed", "1", "-c", "not_a_server_error")
    assert ran.code == 0, ran.shown
    assert ran.view.statuses["GET /items"][200]
    assert ran.view.statuses["GET /admin"][200]
