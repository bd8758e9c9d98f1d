"""Expired credentials in CI: a run in which they opened nothing fails."""

from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

OPERATION = {
    "security": [{"B": []}],
    "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
    "responses": {"200": {"description": ""}, "401": {"description": ""}, "403": {"description": ""}},
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "components": {"securitySchemes": {"B": {"type": "http", "scheme": "bearer"}}},
    "paths": {
        "/a": {"get": OPERATION},
        "/b": {"post": OPERATION},
        "/public": {"get": {"responses": {"200": {"description": ""}}}},
    },
}
BEARER = "[auth.openapi]\nB = { bearer = 'expired' }\n"
SENTENCE = "The configured credentials ({}) opened no operation: all 2 tested operations with declared security returned nothing but {}."


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("toml", "statuses", "sentence"),
    [
        (BEARER, {"/a": 403, "/b": 401}, SENTENCE.format("scheme B", "401, 403")),
        ("headers.Authorization = 'Bearer expired'", {"/a": 401, "/b": 401}, SENTENCE.format("header Authorization", "401")),
        (BEARER, {"/b": 401}, ""),
        (BEARER.replace("[auth.openapi]", "[auth]\nallow-refused = true\n[auth.openapi]"), {"/a": 403, "/b": 403}, ""),
        ("", {"/a": 401, "/b": 401}, ""),
    ],
)  # fmt: skip
def test_credentials_that_open_no_operation_fail_the_run(
    command: Command, toml: str, statuses: dict[str, int], sentence: str
) -> None:
    def answer(request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        return json_reply({}, statuses.get(path, 200))

    (command.directory / "checker.toml").write_text(toml)
    with serving(answer, DOCUMENT) as app:
        checks = ("-c", "not_a_server_error", "--phases", "fuzzing", "--mode", "positive")
        ran = command.here("run", app.document_url, "--inline", "-n", "10", "--seed", "1", *checks)
    shown = " ".join(ran.stdout.split())
    assert ran.code == bool(sentence), ran.shown
    assert ("opened no operation" in shown) == bool(sentence)
    assert sentence in shown


HOOKS = {
    "provider": """
@checker.auth
class Expired:
    def get(self, case, ctx):
        return "t0k3n-of-old"
    def set(self, case, data, ctx):
        case.headers["Authorization"] = f"Bearer {data}"
""",
    "signer": """
def sign(request):
    request.headers["Authorization"] = "Bearer t0k3n-of-old"
    return request
checker.auth.set_from_requests(sign)
""",
    "source": """
class Expired(checker.credentials.CredentialSource):
    name = "vault"
    def fetch(self, case):
        return checker.credentials.Credentials(headers={"Authorization": "Bearer t0k3n-of-old"})
checker.credentials.register(Expired())
""",
    "": "",
}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("kind", "userinfo", "names"),
    [
        ("provider", "", "source Expired"),
        ("signer", "", "source function"),
        ("source", "", "source vault"),
        ("", "u:t0k3n-of-old@", "user info of the base URL"),
    ],
)
def test_credentials_of_code_and_of_the_url_fail_the_run_as_well(
    command: Command, kind: str, userinfo: str, names: str
) -> None:
    def answer(request: Request) -> Reply:
        return json_reply({}, 200 if request.target.startswith(b"/public") else 401)

    (command.directory / "users_hooks.py").write_text(f"import checker\n{HOOKS[kind]}")
    (command.directory / "checker.toml").write_text('hooks = "users_hooks.py"\n')
    with serving(answer, DOCUMENT) as app:
        url = app.document_url.replace("http://", f"http://{userinfo}")
        checks = ("-c", "not_a_server_error", "--phases", "fuzzing", "--mode", "positive")
        ran = command.here("run", url, "-n", "3", "--seed", "1", *checks)
    assert ran.code == 1, ran.shown
    assert SENTENCE.format(names, "401") in " ".join(ran.stdout.split()), ran.shown
