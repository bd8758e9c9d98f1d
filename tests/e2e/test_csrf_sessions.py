"""Sessions with CSRF protection, by an authentication document that says only who logs in where."""

import json

import pytest

from checker.core.response import Response
from checker.workers.authentication.csrf import echoed, token_of
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


@pytest.mark.thorough_beyond(2)
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


@pytest.mark.parametrize(
    "page",
    [
        '<![foo bar><meta name="csrf-token" content="t">',
        '<![><input name="_csrf" value="t">',
        '<meta name="csrf-token" content="\n t \n">',
    ],
)
def test_a_token_is_found_on_a_page_with_flaws(page: str) -> None:
    assert token_of(Response(200, [], page.encode()), {}).headers == {"X-CSRF-Token": "t"}


@pytest.mark.parametrize("value", ["a%0D%0AX-Evil: 1", "a%00", "%E2%82%AC", " %20a"])
def test_a_token_that_no_header_can_hold_decoded_is_repeated_as_it_is(value: str) -> None:
    assert echoed({"XSRF-TOKEN": value.strip()}) == {"X-XSRF-TOKEN": value.strip()}


def test_a_token_that_no_header_can_hold_is_only_a_field_of_the_form() -> None:
    token = token_of(Response(200, [], b'<input name="_csrf" value="a&#10;b">'), {"XSRF-TOKEN": "a\r\nb"})
    assert (token.headers, token.fields) == ({}, {"_csrf": "a\nb"})
