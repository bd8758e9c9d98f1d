"""Sessions with CSRF protection, by an authentication document that says only who logs in where."""

import json

import pytest

from tests.apps.csrf import DOCUMENT, FRAMEWORKS, PASSWORD, USER, Framework, Sessions
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command
from tests.e2e.test_canaries import left_in_files

LOGIN = {
    "verb": "POST",
    "endpoint": "/login",
    "contentType": "application/x-www-form-urlencoded",
    "expectCookies": True,
}


def users(command: Command, password: str = PASSWORD) -> None:
    fields = {"username": USER, "usernameField": "username", "password": password, "passwordField": "password"}
    document = {"auth": [{"name": USER, "loginEndpointAuth": LOGIN | {"payloadUserPwd": fields}}]}
    (command.directory / "users.json").write_text(json.dumps(document))


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda one: one.name)
def test_a_login_with_a_token_opens_safe_and_unsafe_methods(command: Command, framework: Framework) -> None:
    users(command)
    sessions = Sessions(framework)
    with serving(sessions.answer, DOCUMENT) as app:
        asked = ("--auth-wfc", "users.json", "--inline", "--seed", "1", "-n", "10", "--mode", "positive")
        ran = command.here("run", app.document_url, *asked, "--exclude-checks", "ignored_auth", "--report", "vcr")
    assert ran.code == 0, ran.shown
    assert not sessions.refused
    assert sessions.passwords == [PASSWORD]
    assert ran.view.statuses["POST /posts"][201] >= 5
    assert "C4n4ry" not in ran.stdout + ran.stderr
    assert not [name for name in left_in_files(command.directory) if "users.json" not in str(name)]


def test_a_login_that_shows_its_page_again_is_no_session(command: Command) -> None:
    users(command, "wrong")
    sessions = Sessions(FRAMEWORKS[0])

    def without_sessions(request: Request) -> Reply:
        found = sessions.answer(request)
        kept = tuple(one for one in found.headers if "sid=" not in one[1])
        return Reply(found.status, found.media_type, found.body, kept)

    with serving(without_sessions, DOCUMENT) as app:
        ran = command.here("auth", "check", app.document_url, "--auth-wfc", "users.json")
    assert ran.code == 1
    assert "(POST /login) answered 200 without the cookie of a session; correct the credentials" in ran.stdout
    assert sessions.passwords == ["wrong"]


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (json_reply({"detail": "Account is locked"}, 403), "answered 403 (Account is locked): correct the credentials, or the way they are sent, in the configuration; the login may want a CSRF token"),
        (json_reply({"error": "invalid_grant"}, 400), "answered 400 (invalid_grant): the credentials were rejected"),
        (Reply(400, "text/html", b"<html><title>Bad\nRequest</title>..."), "answered 400 (Bad Request): correct the credentials, or the way they are sent"),
        (Reply(503, "text/plain", b"down " * 100), "answered 503 (down down "),
        (Reply(429, "text/html", b"<p>"), "answered 429"),
    ],
)  # fmt: skip
def test_a_refused_login_says_what_the_response_was(command: Command, reply: Reply, sentence: str) -> None:
    users(command)
    with serving(lambda request: reply, DOCUMENT) as app:
        ran = command.here("auth", "check", app.document_url, "--auth-wfc", "users.json")
    assert f"(POST /login) {sentence}" in ran.stdout, ran.shown
