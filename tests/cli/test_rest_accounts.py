"""Django REST framework, with its tokens and with its sessions, which want a CSRF token for whatever changes something."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.apps.rest_accounts import PASSWORD, USER, serving_rest_accounts
from tests.e2e.test_canaries import left_in_files

RUN = (*("--inline", "--seed", "1", "-n", "8", "--phases", "fuzzing", "--mode", "positive"), "--exclude-checks")
LOGIN = {
    "verb": "POST",
    "contentType": "application/json",
    "payloadUserPwd": {
        "username": USER,
        "password": PASSWORD,
        "usernameField": "username",
        "passwordField": "password",
    },
}
TOKEN = {
    "extractFrom": "body",
    "extractSelector": "/token",
    "sendIn": "header",
    "sendName": "Authorization",
    "sendTemplate": "Token {token}",
}
LOGINS = {
    "TokenAuthentication": {**LOGIN, "endpoint": "/token/", "token": TOKEN},
    "SessionAuthentication": {**LOGIN, "endpoint": "/login/", "expectCookies": True},
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_rest_accounts(tmp_path_factory.mktemp("rest")) as found:
        yield found


def seen(url: str) -> dict[str, int]:
    found: dict[str, int] = httpx.get(f"{url}/seen/").json()
    return found


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("kind", LOGINS)
def test_every_operation_is_served(
    invoke: Any, folder: Path, url: str, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    users = {"auth": [{"name": "anna", "loginEndpointAuth": LOGINS[kind]}]}
    path = tmp_path_factory.mktemp("given") / "users.json"
    path.write_text(json.dumps(users))
    (folder / "checker.toml").write_text(f'[auth.wfc]\npath = "{path}"\n')
    before = seen(url)
    result = invoke("run", f"{url}/openapi.json", *RUN, "ignored_auth", "--report", "vcr")
    assert result.exit_code == 0, result.output
    after = seen(url)
    new = {name: count - before.get(name, 0) for name, count in after.items()}
    assert new[f"GET {kind}"] >= 8
    assert new[f"POST {kind}"] >= 4
    # Who is called is known from the first request on.
    assert not new.get("GET 401", 0) + new.get("POST 401", 0) + new.get("POST 403", 0)
    assert not list(left_in_files(folder))
