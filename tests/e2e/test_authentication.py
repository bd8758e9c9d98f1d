"""Credentials of the configuration reach the operations that ask for them, and nobody else."""

import pytest

from tests.apps.guarded import KEY, PASSWORD, SECURITY, TOKEN, USER, described, guarding
from tests.e2e.runner import Command, run_arguments
from tests.e2e.test_canaries import left_in_files

AS_ASKED = ("--exclude-checks", "ignored_auth")
"""That check asks without credentials, which is refused as it should be."""
EACH = f"""
[auth.openapi]
Basic = {{ username = "{USER}", password = "${{PASSWORD}}" }}
Bearer = {{ bearer = "{TOKEN}" }}
HeaderKey = {{ api_key = "{KEY}" }}
QueryKey = {{ api_key = "{KEY}" }}
CookieKey = {{ api_key = "{TOKEN}" }}
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.thorough_beyond(1)
def test_each_scheme_is_served_where_it_is_asked_for(command: Command, workers: int) -> None:
    (command.directory / "checker.toml").write_text(EACH)
    command.environment["PASSWORD"] = PASSWORD
    with guarding() as app:
        asked = ("-n", "5", *AS_ASKED, "--report", "vcr")
        ran = command.here(*run_arguments(f"{app.url}/openapi.json", *asked, workers=workers))
    assert ran.code == 0, ran.shown
    assert set(app.served) - {"/openapi.json"} == set(SECURITY)
    assert not app.refused, ran.shown
    assert not app.carried & {"authorization", "x-key", "appid", "sid"}
    assert not list(left_in_files(command.directory))
    assert "C4n4ry" not in ran.stdout + ran.stderr


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("given", [["--auth", f"{USER}:{PASSWORD}"], []])
def test_a_user_and_a_password_are_for_all_operations(command: Command, given: list[str]) -> None:
    if not given:
        text = f"[auth.basic]\nusername = '{USER}'\npassword = '{PASSWORD}'"
        (command.directory / "checker.toml").write_text(text)
    with guarding(described({"/basic": [], "/public": []})) as app:
        ran = command.run(f"{app.url}/openapi.json", *given, "-n", "5", "--report", "vcr", inline=True)
    assert ran.code == 0, ran.shown
    assert app.served["/basic"] >= 5
    assert not app.refused
    assert "authorization" in app.carried
    assert not list(left_in_files(command.directory))
    assert "C4n4ry" not in ran.stdout + ran.stderr


def test_one_operation_may_have_a_user_of_its_own(command: Command) -> None:
    text = f"""
    [auth.basic]
    username = 'nobody'
    password = 'nothing'
    [[operations]]
    include-path = '/basic'
    auth.basic = {{ username = '{USER}', password = '{PASSWORD}' }}
    """
    (command.directory / "checker.toml").write_text(text)
    with guarding(described({"/basic": [], "/public": []})) as app:
        ran = command.run(f"{app.url}/openapi.json", "-n", "5", inline=True)
    assert ran.code == 0, ran.shown
    assert not app.refused


def test_the_command_line_stands_over_the_file(command: Command) -> None:
    (command.directory / "checker.toml").write_text("[auth.openapi]\nBasic = { bearer = 'x' }")
    with guarding(described({"/basic": [{"Basic": []}]})) as app:
        ran = command.run(f"{app.url}/openapi.json", "--auth", f"{USER}:{PASSWORD}", "-n", "5", *AS_ASKED, inline=True)
    assert ran.code == 0, ran.shown
    assert not app.refused


def test_credentials_for_another_kind_of_scheme_are_refused(command: Command) -> None:
    (command.directory / "checker.toml").write_text("[auth.openapi]\nBasic = { bearer = 'C4n4ry' }")
    with guarding() as app:
        ran = command.run(f"{app.url}/openapi.json", inline=True)
    assert ran.code == 2
    assert ran.stderr == (
        "Error: [auth.openapi.Basic]: the description declares this scheme as http basic, "
        "which needs 'username' and 'password'\n"
    )


def test_credentials_for_no_scheme_are_told(command: Command) -> None:
    (command.directory / "checker.toml").write_text("[auth.openapi]\nBearr = { bearer = 'C4n4ry' }")
    with guarding(described({"/public": []})) as app:
        ran = command.run(f"{app.url}/openapi.json", "-n", "1", inline=True)
    assert ran.code == 0, ran.shown
    assert "no security scheme is called 'Bearr'. Did you mean 'Bearer'?" in ran.stdout


def test_credentials_do_not_follow_the_description_to_another_server(command: Command) -> None:
    (command.directory / "checker.toml").write_text(EACH)
    command.environment["PASSWORD"] = PASSWORD
    document = described() | {"servers": [{"url": "http://127.0.0.1:1/"}]}
    with guarding(document) as app:
        ran = command.run(f"{app.url}/openapi.json", inline=True)
    assert ran.code == 2
    assert "credentials (scheme Basic, scheme Bearer, scheme HeaderKey, ...) are not sent to" in ran.stderr


def test_what_is_configured_can_be_tried_without_a_run(command: Command) -> None:
    text = EACH.replace(f'api_key = "{TOKEN}"', "api_key = 'wrong-C4n4ry'")
    command.environment["PASSWORD"] = PASSWORD
    with guarding() as app:
        nothing = command.here("auth", "check", f"{app.url}/openapi.json")
        (command.directory / "checker.toml").write_text(text)
        ran = command.here("auth", "check", f"{app.url}/openapi.json")
        basic = command.here("auth", "check", f"{app.url}/openapi.json", "--auth", f"{USER}:{PASSWORD}")
    assert 'auth.openapi.Bearer = { bearer = "${BEARER}" }' in nothing.stdout.splitlines()
    assert ran.code == 1, ran.shown
    assert ran.stdout.splitlines() == [
        "ok       Basic: GET /basic answered 200",
        "ok       Bearer: GET /bearer answered 200",
        "ok       HeaderKey: GET /header-key answered 200",
        "ok       QueryKey: GET /query-key answered 200",
        "refused  CookieKey: GET /cookie-key answered 401: it was refused",
    ]
    assert basic.stdout == "ok       basic authentication: GET /basic answered 200\n"
    assert basic.code == 0
    assert not list(left_in_files(command.directory))


def test_a_closed_api_shows_what_would_open_it(command: Command) -> None:
    document = described({"/basic": [{"Basic": []}], "/query-key": [{"QueryKey": []}]})
    schemes = document["components"]["securitySchemes"]
    document["components"] = {"securitySchemes": {n: schemes[n] for n in ("Basic", "QueryKey")}}
    with guarding(document) as app:
        ran = command.run(f"{app.url}/openapi.json", "-n", "3", "--phases", "fuzzing", inline=True)
        told = next(line for line in ran.stdout.splitlines() if "checker.toml" in line)
        lines = told.partition("checker.toml: ")[2].partition(" (")[0].split("; ")
        assert lines == [
            'auth.openapi.Basic = { username = "${BASIC_USER}", password = "${BASIC_PASSWORD}" }',
            'auth.openapi.QueryKey = { api_key = "${QUERYKEY}" }',
        ], ran.shown
        # They are ready to be written there.
        (command.directory / "checker.toml").write_text("\n".join(lines))
        command.environment |= {"BASIC_USER": USER, "BASIC_PASSWORD": PASSWORD, "QUERYKEY": KEY}
        again = command.run(f"{app.url}/openapi.json", "-n", "3", "--phases", "fuzzing", inline=True)
    assert again.code == 0, again.shown
    assert "checker.toml" not in again.stdout


@pytest.mark.parametrize("given", ["basic", "schemes"])
def test_wrong_credentials_are_one_sentence(command: Command, given: str) -> None:
    paths: dict[str, list[dict[str, list[str]]]] = {f"/basic{number}": [{"Basic": []}] for number in range(40)}
    options = ["--auth", f"{USER}:wrong-C4n4ry"]
    if given == "schemes":
        options = []
        text = f"[auth.openapi]\nBasic = {{ username = '{USER}', password = 'wrong-C4n4ry' }}"
        (command.directory / "checker.toml").write_text(text)
    with guarding(described({"/basic": [{"Basic": []}], **paths})) as app:
        ran = command.run(f"{app.url}/openapi.json", *options, "-n", "5", inline=True)
    assert ran.code == 2, ran.shown
    assert ran.stderr == (
        "Error: the credentials that are configured were refused: GET /basic, GET /basic0, GET /basic1 answered 401; "
        "correct them in `[auth]` or `--auth` (`checker auth check` tries each of them)\n"
    )
    assert sum(app.refused.values()) == 3
    assert not list(left_in_files(command.directory))


def test_what_asks_for_a_token_says_nothing_of_users_and_passwords(command: Command) -> None:
    asked: dict[str, list[dict[str, list[str]]]] = {"/bearer": [{"Bearer": []}]}
    with guarding(described(asked | {"/basic": [{"Basic": []}]})) as app:
        options = ["--auth", f"{USER}:{PASSWORD}", "-n", "2"]
        ran = command.run(f"{app.url}/openapi.json", *options, inline=True)
    assert ran.code != 2, ran.shown
    assert app.served["/basic"]


def test_a_replay_is_given_the_user_and_the_password_that_a_cassette_hides(command: Command) -> None:
    given = ["--auth", f"{USER}:{PASSWORD}"]
    with guarding(described({"/basic": [{"Basic": []}]})) as app:
        options = [*given, "-n", "2", "--phases", "fuzzing", *AS_ASKED, "--report", "vcr"]
        ran = command.run(f"{app.url}/openapi.json", *options, inline=True)
        (cassette,) = (command.directory / "checker-report").glob("*.yaml")
        again = command.here("replay", str(cassette), *given)
        hidden = command.here("replay", str(cassette))
    assert ran.code == 0, ran.shown
    assert again.code == 0, again.shown
    assert "New status code : 200" in again.stdout
    assert not app.refused
    assert hidden.code == 2, hidden.shown
    assert "header Authorization was masked when it was recorded" in hidden.stdout
