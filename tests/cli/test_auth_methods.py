"""Ways to say who is calling: one of them counts, and which one the command line and the file decide together."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.core.errors import ConfigError

BASIC = "[auth.basic]\nusername = 'u'\npassword = 'p'\n"
STATIC = "[auth.openapi.S]\nbearer = 'x'\n"
DYNAMIC = "[auth.dynamic.openapi.D]\npath = '/login'\nextract_selector = '/token'\n"
WFC = "[auth.wfc]\npath = 'users.json'\n"


@pytest.fixture(autouse=True)
def users(folder: Path) -> None:
    anna = {"name": "anna", "fixedHeaders": [{"name": "X", "value": "y"}]}
    (folder / "users.json").write_text(json.dumps({"auth": [anna]}))


def methods(config: Config) -> list[str]:
    found = run_settings(config, Invocation("openapi.json", "run")).common.authentication
    return [name for name in ("basic", "static", "dynamic", "wfc") if getattr(found, name)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (BASIC + STATIC, "[auth.basic] and [auth.openapi]"),
        (BASIC + DYNAMIC, "[auth.basic] and [auth.dynamic.openapi]"),
        (BASIC + WFC, "[auth.basic] and [auth.wfc]"),
        (STATIC + WFC, "[auth.wfc] and [auth.openapi]"),
        (DYNAMIC + WFC, "[auth.wfc] and [auth.dynamic.openapi]"),
    ],
)
def test_a_file_says_one_of_them(text: str, named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_str(text)
    wanted = f"Cannot use multiple authentication methods simultaneously: {named}; choose one"
    assert wanted in str(caught.value)


def test_schemes_may_be_given_and_fetched(folder: Path) -> None:
    assert methods(Config.from_str(STATIC + DYNAMIC)) == ["static", "dynamic"]


@pytest.mark.parametrize("file", [BASIC, STATIC, DYNAMIC, WFC, STATIC + DYNAMIC])
def test_the_command_line_stands_over_whatever_the_file_says(folder: Path, file: str) -> None:
    by_user, by_document = Config.from_str(file), Config.from_str(file)
    by_user.auth.basic.update(username="v", password="w")
    by_document.auth.wfc.update(path="users.json", user="anna")
    assert (methods(by_user), methods(by_document)) == (["basic"], ["wfc"])


@pytest.mark.parametrize("options", [(), ("--auth", "u:p")])
def test_a_user_of_no_document_is_a_slip(invoke: Any, folder: Path, options: tuple[str, ...]) -> None:
    (folder / "openapi.json").write_text("{}")
    url = ("-u", "http://127.0.0.1:1")
    result = invoke("run", "openapi.json", *url, "--auth-wfc-user", "anna", *options)
    assert result.exit_code == 2
    assert "--auth-wfc-user needs --auth-wfc" in result.stderr


@pytest.mark.parametrize("name", ["Authorization", "authorization"])
def test_a_file_gives_a_user_or_the_header_that_says_who_it_is(name: str) -> None:
    headers = f"headers = {{ {name} = 'Bearer t' }}\n"
    with pytest.raises(ConfigError, match="the header Authorization exclude each other"):
        Config.from_str(headers + BASIC)
    # Of two that are not equally near the nearer one counts.
    block = f"\n[[operations]]\ninclude-path = '/a'\n{headers}"
    assert methods(Config.from_str(BASIC + block)) == ["basic"]


@pytest.mark.parametrize("file", ["", STATIC, "[[operations]]\ninclude-path = '/a'\n" + BASIC])
def test_how_credentials_are_sent_needs_some(invoke: Any, folder: Path, file: str) -> None:
    (folder / "openapi.json").write_text("{}")
    (folder / "checker.toml").write_text(file.replace("[auth.basic]", "[operations.auth.basic]"))
    result = invoke("run", "openapi.json", "-u", "http://127.0.0.1:1", "-A", "digest")
    assert result.exit_code == 2
    is_slip = "--auth-type needs --auth, or `username` in `[auth.basic]`" in result.stderr
    assert is_slip == ("username" not in file)
