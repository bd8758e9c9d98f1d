"""Tokens that the configuration says how to get: fetched once for all workers, renewed in time, written nowhere."""

import json
import shlex

import pytest

import checker
from checker.core.errors import CredentialError
from checker.core.response import Response
from checker.workers.authentication.logins import accepted
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.apps.tokens import PASSWORD, USER, Tokens, serving_tokens
from tests.e2e.runner import Command, Ran
from tests.e2e.test_canaries import left_in_files

AS_ASKED = ("--exclude-checks", "ignored_auth")
"""That check asks without credentials, which is refused as it should be."""
ONLY = ("--include-path-regex", "item|public")
"""The others refuse what is made up, and do not say so in their description."""


def toml(scheme: str, source: str = "body", selector: str = "/access_token") -> str:
    return f"""
    [auth.dynamic.openapi.{scheme}]
    path = "/login"
    payload = {{ username = "{USER}", password = "${{PASSWORD}}" }}
    payload_content_type = "application/x-www-form-urlencoded"
    extract_from = "{source}"
    extract_selector = "{selector}"
    """


def shows_nothing(command: Command, ran: Ran) -> None:
    assert "C4n4ry" not in ran.stdout + ran.stderr
    assert not list(left_in_files(command.directory))


def run_tested(command: Command, tokens: Tokens, *arguments: str, password: str = PASSWORD) -> Ran:
    return run_at(command, f"{tokens.url}/openapi.json", *arguments, password=password)


def run_at(command: Command, location: str, *arguments: str, password: str = PASSWORD) -> Ran:
    command.environment["PASSWORD"] = password
    return command.here("run", location, "--seed", "1", "--phases", "fuzzing", *AS_ASKED, *arguments)


def test_four_workers_share_each_token(command: Command) -> None:
    (command.directory / "checker.toml").write_text(toml("Password"))
    with serving_tokens(Tokens(uses=25)) as tokens:
        ran = run_tested(
            command,
            tokens,
            "-w",
            "4",
            "-n",
            "30",
            "--report",
            "vcr",
            "--mode",
            "positive",
            "--include-path-regex",
            "item",
        )
    served = sum(tokens.served.values())
    assert ran.code == 0, ran.shown
    assert served >= 100
    assert not tokens.wasted
    assert len(tokens.given) == -(-served // 25)
    # Each worker may meet the end of a token once with the requests that it has in the air.
    shows_nothing(command, ran)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("scheme", "path", "source", "selector"),
    [
        ("Session", "session", "cookie", "session"),
        ("Ticket", "ticket", "header", "X-Token"),
        ("Ticket", "ticket", "body", "/access_token"),
    ],
)
def test_a_token_comes_from_anywhere_and_goes_where_its_scheme_says(
    command: Command, scheme: str, path: str, source: str, selector: str
) -> None:
    (command.directory / "checker.toml").write_text(toml(scheme, source, selector))
    with serving_tokens(Tokens(), 1) as tokens:
        ran = run_tested(command, tokens, "-n", "5", "--include-path-regex", f"{path}|public")
    assert ran.code == 0, ran.shown
    assert set(tokens.served) == {path}
    assert tokens.logins == 1
    assert not tokens.refused
    shows_nothing(command, ran)


def test_credentials_that_the_login_rejects_are_one_sentence(command: Command) -> None:
    (command.directory / "checker.toml").write_text(toml("Password"))
    with serving_tokens(Tokens(), 40) as tokens:
        ran = run_tested(command, tokens, "-w", "2", "-n", "5", *ONLY, password="wrong-C4n4ry")
    assert not ran.findings
    assert tokens.logins <= 3
    text = "POST /login answered 401 (Unauthorized): the credentials were rejected; correct them in the configuration"
    assert (ran.stdout + ran.stderr).count(text) == 1, ran.shown
    shows_nothing(command, ran)


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "credentials were rejected"), (404, "correct path"), (415, "media type"), (422, "names of its fields")],
)
def test_a_refused_login_says_what_to_correct(status: int, advice: str) -> None:
    refused = Response(status, {}, b"")
    with pytest.raises(CredentialError, match=f"POST /login answered {status}: .*{advice}"):
        accepted(refused, "POST /login")


def test_a_login_that_is_down_is_left_alone_soon(command: Command) -> None:
    (command.directory / "checker.toml").write_text(toml("Password"))
    with serving_tokens(Tokens(is_down=True), 10) as tokens:
        ran = run_tested(command, tokens, "-w", "2", "-n", "5", *ONLY)
    assert not ran.findings
    assert tokens.logins == 3
    assert (ran.stdout + ran.stderr).count("POST /login answered 503") == 1, ran.shown
    # What needs no token is tested all the same.
    assert ran.view.statuses["GET /public"][200] >= 1


NESTED = {
    "login_form": {"user": USER, "pin": PASSWORD, "remember": True, "tries": 1.5},
    "devices": [{"id": 42}, "phone"],
}
SECURED = {
    "openapi": "3.0.3",
    "info": {"title": "Nested", "version": "1"},
    "components": {"securitySchemes": {"Password": {"type": "http", "scheme": "bearer"}}},
    "paths": {"/item": {"get": {"security": [{"Password": []}], "responses": {"200": {"description": ""}}}}},
}


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("payload", "media_type", "body"),
    [
        (
            '{ login_form = { user = "anna", pin = "${PASSWORD}", remember = true, tries = 1.5 }, devices = [{ id = 42 }, "phone"] }',
            "application/json",
            json.dumps(NESTED),
        ),
        ('["${PASSWORD}"]', "application/vnd.login+json", json.dumps([PASSWORD])),
        (
            '{ pin = "${PASSWORD}", remember = true, tries = 1.5 }',
            "application/x-www-form-urlencoded",
            f"pin={PASSWORD}&remember=true&tries=1.5",
        ),
        ('"<login>${PASSWORD}</login>"', "application/xml", f"<login>{PASSWORD}</login>"),
        ('"a=1&a=${PASSWORD}"', "application/x-www-form-urlencoded", f"a=1&a={PASSWORD}"),
    ],
)
def test_a_login_sends_any_value_and_shows_nothing_of_it(
    command: Command, payload: str, media_type: str, body: str
) -> None:
    table = toml("Password").replace(f'{{ username = "{USER}", password = "${{PASSWORD}}" }}', payload)
    form = "application/x-www-form-urlencoded"
    (command.directory / "checker.toml").write_text(table.replace(form, media_type))
    command.environment["PASSWORD"] = PASSWORD

    def answer(request: Request) -> Reply:
        if request.target == b"/login":
            is_right = request.headers["content-type"] == media_type
            return json_reply({"access_token": "tok"}, 200 if is_right else 415)
        is_in = request.headers.get("authorization") == "Bearer tok"
        # Echoed, as careless servers do.
        return json_reply({"sent": body}, 200 if is_in else 401)

    with serving(answer, SECURED) as app:
        ran = command.here(
            "run", app.document_url, "-n", "2", "--seed", "1", "--report", "vcr", *AS_ASKED,
            "--phases", "fuzzing",
        )  # fmt: skip
    assert ran.code == 0, ran.shown
    assert {one.body.decode() for one in app.seen if one.target == b"/login"} == {body}
    shows_nothing(command, ran)


def test_a_login_at_another_server_has_headers_of_its_own(command: Command) -> None:
    def gives(request: Request) -> Reply:
        is_right = request.target == b"/tokens?site=1" and request.headers.get("x-api-key") == PASSWORD
        return json_reply({"access_token": "tok-C4n4ry", "expires_in": 3600}, 200 if is_right else 400)

    def takes(request: Request) -> Reply:
        return json_reply({}, 200 if request.headers.get("authorization") == "Bearer tok-C4n4ry" else 401)

    with serving(gives, {}) as login, serving(takes, SECURED) as app:
        table = f"""
        [auth.dynamic.openapi.Password]
        url = "{login.url}/tokens?site=1"
        headers = {{ X-Api-Key = "${{PASSWORD}}" }}
        extract_selector = "/access_token"
        """
        (command.directory / "checker.toml").write_text(table)
        ran = run_at(command, app.document_url, "--inline", "--report", "vcr")
        told = command.here("auth", "check", app.document_url)
    assert ran.code == 0, ran.shown
    assert told.stdout == "ok       Password: GET /item answered 200\n"
    assert len(login.seen) == 2
    shows_nothing(command, ran)


def test_a_login_has_one_place() -> None:
    both = {"path": "/login", "url": "http://h/login", "extract_selector": "/t"}
    with pytest.raises(checker.errors.ConfigError, match="'path' and 'url' both say where the login is; choose one"):
        checker.Config.from_dict({"auth": {"dynamic": {"openapi": {"K": both}}}})


def test_the_printed_command_and_the_command_that_sets_its_variable_work_together(command: Command) -> None:
    def answer(request: Request) -> Reply:
        if request.target == b"/login":
            return json_reply({"access_token": "tok-C4n4ry"})
        is_let_in = request.headers.get("authorization") == "Bearer tok-C4n4ry"
        return json_reply({}, 500 if is_let_in else 401)

    document = {
        "openapi": "3.0.3",
        "info": {"title": "T", "version": "1"},
        "components": {"securitySchemes": {"the bearer": {"type": "http", "scheme": "bearer"}}},
        "paths": {"/a": {"get": {"security": [{"the bearer": []}], "responses": {"200": {"description": ""}}}}},
    }
    (command.directory / "checker.toml").write_text(toml('"the bearer"'))
    with serving(answer, document) as app:
        ran = run_at(command, app.document_url, "--inline", "-n", "2", "-c", "not_a_server_error")
        shows_nothing(command, ran)
        lines = [line.strip() for line in ran.stdout.splitlines()]
        assert f'curl -X GET -H "Authorization: Bearer $CHECKER_TOKEN_THE_BEARER" {app.url}/a' in lines
        (export,) = (line for line in lines if line.startswith("export "))
        assert export.startswith('export CHECKER_TOKEN_THE_BEARER="$(checker ')
        printed = command.here(*shlex.split(export.removesuffix(')"').partition("$(checker ")[2]))
    assert printed.stdout == "tok-C4n4ry\n"
