"""Tokens of OAuth 2 without Python: what the token endpoint is asked for, and which requests carry what it gives."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import checker
from tests.apps.serving import App, serving
from tests.apps.token_endpoint import CLIENT, PASSWORD, SECRET, TOKEN_PATH, USER, TokenEndpoint
from tests.e2e.runner import Command, Ran
from tests.e2e.test_canaries import left_in_files

AS_ASKED = ("--exclude-checks", "ignored_auth", "--phases", "fuzzing", "--mode", "positive", "--seed", "1")
CLIENT_KEYS = f'client_id = "{CLIENT}"\nclient_secret = "${{SECRET}}"\n'


@contextmanager
def endpoint(given: TokenEndpoint) -> Iterator[App]:
    with serving(given.answer, given.description()) as app:
        yield app


def configured(command: Command, app: App, keys: str, *arguments: str, group: str = "run") -> Ran:
    (command.directory / "checker.toml").write_text(f"[auth.oauth2.openapi.Keycloak]\n{keys}")
    command.environment |= {"SECRET": SECRET, "PASSWORD": PASSWORD, "REFRESH": "refresh-C4n4ry-0"}
    ran = command.here(*group.split(), app.document_url, *arguments)
    assert "C4n4ry" not in ran.stdout + ran.stderr, ran.shown
    assert not list(left_in_files(command.directory))
    return ran


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("place", ["body", "basic"])
def test_each_set_of_scopes_has_a_token_for_all_workers(command: Command, place: str) -> None:
    given = TokenEndpoint()
    with endpoint(given) as app:
        ran = configured(command, app, f'{CLIENT_KEYS}client_auth = "{place}"', "-w", "2", "-n", "20", *AS_ASKED)
    assert ran.code == 0, ran.shown
    assert not given.refused
    assert {(one["grant_type"], one["by"]) for one in given.grants} == {("client_credentials", place)}
    assert sorted(one.get("scope", "") for one in given.grants) == ["", "read", "read write"]


def test_a_login_that_fails_now_and_then_is_repeated(command: Command) -> None:
    given = TokenEndpoint(failures=2)
    with endpoint(given) as app:
        ran = configured(command, app, CLIENT_KEYS, "-w", "2", "-n", "5", *AS_ASKED)
    assert ran.code == 0, ran.shown
    assert given.failures == 0


def test_scopes_of_the_configuration_are_those_of_the_only_token(command: Command) -> None:
    given = TokenEndpoint()
    keys = 'scopes = ["read", "write"]\nparameters = { audience = "https://api" }\n'
    with endpoint(given) as app:
        ran = configured(command, app, CLIENT_KEYS + keys, "--inline", "-n", "5", *AS_ASKED)
    assert ran.code == 0, ran.shown
    (asked,) = given.grants
    assert (asked["scope"], asked["audience"]) == ("read write", "https://api")


def test_a_user_and_a_password_are_the_password_grant(command: Command) -> None:
    given = TokenEndpoint()
    keys = f'{CLIENT_KEYS}username = "{USER}"\npassword = "${{PASSWORD}}"\n'
    with endpoint(given) as app:
        ran = configured(command, app, keys, group="auth check")
        assert ran.stdout == "ok       Keycloak: GET /read answered 200\n"
        wrong = configured(command, app, keys.replace("${PASSWORD}", "nothing"), group="auth check")
    assert [one["grant_type"] for one in given.grants] == ["password"]
    assert wrong.code == 1
    assert "answered 401 (invalid_grant: Invalid user credentials): the credentials were rejected" in wrong.stdout


def test_a_refresh_token_that_each_use_replaces_serves_all_workers(command: Command) -> None:
    given = TokenEndpoint(uses=10)
    keys = CLIENT_KEYS + 'refresh_token = "${REFRESH}"\n'
    with endpoint(given) as app:
        ran = configured(command, app, keys, "-w", "2", "-n", "20", *AS_ASKED)
    assert ran.code == 0, ran.shown
    assert len(given.grants) >= 6
    assert {one["grant_type"] for one in given.grants} == {"refresh_token"}


def test_a_token_endpoint_that_repeats_what_it_refuses_leaks_nothing(command: Command) -> None:
    given = TokenEndpoint(uses=3, most_grants=3)
    keys = CLIENT_KEYS + 'refresh_token = "${REFRESH}"\nparameters = { assertion = "signed-C4n4ry" }\n'
    with endpoint(given) as app:
        reports = ("--report", "vcr,har,ndjson,html")
        ran = configured(command, app, keys, "-w", "2", "-n", "20", *reports, *AS_ASKED)
    assert len(given.grants) == 3
    assert ran.code == 1, ran.shown
    assert "[Filtered] of [Filtered] was revoked" in ran.stdout


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("scheme", ["http:", ""])
def test_the_token_endpoint_of_another_server_needs_the_word_of_the_user(command: Command, scheme: str) -> None:
    given = TokenEndpoint()
    with endpoint(given) as other:
        given.url = scheme + other.url.removeprefix("http:") + TOKEN_PATH
        with endpoint(given) as app:
            suggested = command.here("auth", "check", app.document_url).stdout.splitlines()[-1]
            assert f'token_url = "{other.url}{TOKEN_PATH}"' in suggested
            # The paths of a foreign tokenUrl are not those of the API.
            refused = configured(command, app, CLIENT_KEYS, "--inline", "-n", "2", *AS_ASKED)
            assert (refused.code, given.grants) == (2, [])
            advice = f'token_url = "{other.url}{TOKEN_PATH}"'
            assert f"which only the description names; confirm it by `{advice}`" in refused.stderr
            ran = configured(command, app, CLIENT_KEYS + advice, "--inline", "-n", "2", *AS_ASKED)
    assert ran.code == 0, ran.shown
    assert len(given.grants) == 3


def test_the_block_that_is_suggested_works(command: Command) -> None:
    given = TokenEndpoint()
    with endpoint(given) as app:
        # An absolute URL at the API itself needs no word of the user.
        given.url = app.url + TOKEN_PATH
        told = command.here("auth", "check", app.document_url)
        line = told.stdout.splitlines()[-1]
        assert "token_url" not in line
        assert line.startswith("auth.oauth2.openapi.Keycloak = { client_id = "), told.shown
        (command.directory / "checker.toml").write_text(line)
        command.environment |= {"KEYCLOAK_CLIENT_ID": CLIENT, "KEYCLOAK_CLIENT_SECRET": SECRET}
        ran = command.here("auth", "check", app.document_url)
    assert ran.stdout == "ok       Keycloak: GET /read answered 200\n"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"client_id": "a"}, "'client_secret' is missing (the grant is 'client_credentials')"),
        ({"grant": "password", "username": "a"}, "'password' is missing (the grant is 'password')"),
        ({"grant": "implicit"}, "'grant' must be one of client_credentials, password, refresh_token, but got 'implicit'"),
        ({"refresh_token": "a", "password": "C4n4ry"}, "'password' does not belong to the grant 'refresh_token'"),
        ({"client_id": "a", "client_secret": "b", "scopes": "read"}, "'scopes' must be an array of texts"),
        ({"client_id": "a", "client_secret": "b", "token_url": "ftp://h"}, "'token_url': Must be an absolute http(s) URL"),
        ({"client_id": "a", "client_secret": ""}, "'client_secret' must not be empty"),
        ({"client_id": "a", "secret": "C4n4ry"}, "unknown property 'secret'. Did you mean 'client_secret'?"),
        ({"refresh_token": "a", "client_auth": "basic"}, "'client_id' is missing"),
        ({"client_id": "a", "client_secret": "b", "client_auth": "jwt"}, "'client_auth' must be one of body, basic"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_one_sentence(table: dict[str, object], sentence: str) -> None:
    with pytest.raises(checker.errors.ConfigError) as told:
        checker.Config.from_dict({"auth": {"oauth2": {"openapi": {"K": table}}}})
    assert sentence in str(told.value)
    assert "C4n4ry" not in str(told.value)


@pytest.mark.parametrize("other", ["openapi", "dynamic"])
def test_a_scheme_has_one_source(other: str) -> None:
    client = {"K": {"client_id": "a", "client_secret": "b"}}
    tables: dict[str, dict[str, object]] = {
        "openapi": {"openapi": {"K": {"bearer": "t"}}},
        "dynamic": {"dynamic": {"openapi": {"K": {"path": "/l", "extract_selector": ""}}}},
    }
    with pytest.raises(checker.errors.ConfigError, match=rf"'K' stands in .*{other}.* and in \[auth.oauth2.openapi\]"):
        checker.Config.from_dict({"auth": tables[other] | {"oauth2": {"openapi": client}}})
