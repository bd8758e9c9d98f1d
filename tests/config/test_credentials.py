"""What counts as a credential, and where it may go."""

import pytest

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import credentials_in, target
from checker.core.errors import UsageError


def found(toml: str) -> tuple[str, ...]:
    return credentials_in(run_settings(Config.from_str(toml), Invocation("openapi.json"), {}))


@pytest.mark.parametrize(
    ("toml", "names"),
    [
        ("headers = { Authorization = 'Bearer 1' }", ("header Authorization",)),
        ("headers = { X-Trace = '1', Accept = 'a/b' }", ()),
        ("headers = { Cookie = 'a=b' }", ("header Cookie",)),
        ("headers = { X-Api-Key = '' }", ()),
        ("parameters = { 'query.api_key' = '1' }", ("query api_key",)),
        ("parameters = { 'cookie.sid' = '1', 'cookie.session' = '1' }", ("cookie session",)),
        ("parameters = { api_key = 1 }", ("parameter api_key",)),
        ("parameters = { 'path.token' = '1', 'body.password' = '1', limit = 1 }", ()),
        ("parameters = { 'query.token' = { dictionary = 'd' } }\n[dictionaries.d]\nvalues = ['1']", ("query token",)),
        ("[[operations]]\ninclude-path = '/a'\nparameters = { 'header.X-Token' = '1' }", ("header X-Token",)),
        (
            "headers = { X-Mine = '1' }\n[output.sanitization]\nkeys-to-sanitize = ['X-Mine']\nenabled = false",
            ("header X-Mine",),
        ),
    ],
)
def test_credentials_are_values_of_sensitive_names_in_requests(toml: str, names: tuple[str, ...]) -> None:
    assert found(toml) == names


HERE = "http://127.0.0.1:8080/openapi.json"


@pytest.mark.parametrize(
    ("declared", "location"),
    [
        ("http://127.0.0.1:8080/v1", HERE),
        ("http://localhost:8080", HERE),
        ("http://0.0.0.0:8080", HERE),
        ("http://[::1]:8080", "http://localhost:8080/openapi.json"),
        ("https://API.example.com:443/v1", "https://api.example.com/openapi.json"),
    ],
)
def test_credentials_go_to_the_server_of_the_location(declared: str, location: str) -> None:
    assert target(declared, location, None, ["header A"]).url


@pytest.mark.parametrize(
    ("declared", "location"),
    [
        ("http://127.0.0.1:8081", HERE),
        ("https://127.0.0.1:8080", HERE),
        ("http://localhost.example.com:8080", HERE),
        ("http://api.example.com", "https://api.example.com/openapi.json"),
        ("http://a.example.com", "http://b.example.com/openapi.json"),
        ("http://127.0.0.1:8080", "openapi.json"),
        ("http://127.0.0.1:8080", None),
    ],
)
def test_credentials_go_nowhere_that_only_a_description_names(declared: str, location: str | None) -> None:
    with pytest.raises(UsageError, match=r"credentials \(header A\) are not sent to .*`--url`"):
        target(declared, location, None, ["header A"])
    assert target(declared, location, None, []).url
    assert target(declared, location, declared, ["header A"]).url


def test_user_info_stays_at_the_server_that_it_was_given_for() -> None:
    own = target("http://h:1/v1", "http://u:p@h:1/openapi.json", None, [])
    assert (own.userinfo, own.base_path) == ("u:p", "/v1")
    assert target("http://h:2/v1", "http://u:p@h:1/openapi.json", None, []).userinfo == ""
    assert target("", "http://u:p@h:1/a", "http://h:1", []).userinfo == ""


def test_headers_of_single_operations_count() -> None:
    block = "[[operations]]\ninclude-path = '/a'\nheaders = { X-Api-Key = '1', X-Plain = '2' }"
    assert found(block) == ("header X-Api-Key",)
