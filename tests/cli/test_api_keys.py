"""API keys in the query, in a cookie and in a header: carried, left out and spoiled by `ignored_auth`, and tried by `auth check`."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checker.core.credentials import CREDENTIAL_SOURCES, Credentials, CredentialSource
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving

ANSWERS = {"200": {"description": ""}, "401": {"description": ""}}
PLACES = {"/q": ("Q", "query", "key"), "/c": ("C", "cookie", "sid"), "/h": ("H", "header", "X-Key")}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {path: {"get": {"security": [{name: []}], "responses": ANSWERS}} for path, (name, _, _) in PLACES.items()},
    "components": {
        "securitySchemes": {name: {"type": "apiKey", "in": place, "name": key} for name, place, key in PLACES.values()}
    },
}
KEY = "r1ght-key"
KEYS = "".join(f"[auth.openapi.{name}]\napi_key = '{KEY}'\n" for name, _, _ in PLACES.values())


class Keys:
    """Lets in who has the key; `is_careless`: everybody."""

    def __init__(self, *, is_careless: bool) -> None:
        self.is_careless = is_careless
        self.seen: Counter[tuple[str, str]] = Counter()
        """(path, `right`, `wrong` or `none`)."""

    def answer(self, request: Request) -> Reply:
        path, _, query = request.target.decode().partition("?")
        sent = {
            "/q": query.partition("key=")[2],
            "/c": request.headers.get("cookie", "").partition("sid=")[2],
            "/h": request.headers.get("x-key", ""),
        }[path]
        what = "right" if sent == KEY else "wrong" if sent else "none"
        self.seen[path, what] += 1
        return json_reply({}, 200 if self.is_careless or what == "right" else 401)


@pytest.mark.parametrize("is_careless", [False, True])
def test_each_is_carried_left_out_and_spoiled(invoke, folder: Path, is_careless: bool) -> None:
    (folder / "checker.toml").write_text(KEYS)
    keys = Keys(is_careless=is_careless)
    with serving(keys.answer, DOCUMENT) as app:
        result = invoke(
            *("run", app.document_url, "-u", app.url, "--inline", "-n", "3", "--phases", "fuzzing"),
            *("--mode", "positive", "-c", "ignored_auth"),
        )
    assert result.exit_code == int(is_careless), result.output
    accepted = "API accepts requests without authentication: 3"
    assert (accepted in result.output) is is_careless
    sent = {what for path, what in keys.seen if path in PLACES}
    # Who lets in everybody is not asked with wrong ones any more.
    assert sent == ({"right", "none"} if is_careless else {"right", "none", "wrong"})
    assert all((path, what) in keys.seen for path in PLACES for what in sent)
    assert KEY not in result.output


def test_auth_check_tries_each_and_takes_options_of_earlier_generations(invoke, folder: Path) -> None:
    (folder / "checker.toml").write_text(KEYS)
    keys = Keys(is_careless=False)
    with serving(keys.answer, DOCUMENT) as app:
        # The option is that of an earlier generation.
        result = invoke("auth", "check", app.document_url, "-b", app.url)
        other = invoke("auth", "check", app.document_url, "shop")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        f"ok       {name}: GET {path} answered 200" for path, (name, _, _) in PLACES.items()
    ]
    assert keys.seen == {(path, "right"): 1 for path in PLACES}
    assert other.exit_code == 2
    assert "unexpected argument 'shop'" in other.stderr


def test_auth_check_tries_where_credentials_are_needed_before_where_they_are_optional(invoke, folder: Path) -> None:
    optional = {"get": {"security": [{}, {"Q": []}], "responses": ANSWERS}}
    document = {**DOCUMENT, "paths": {"/a": optional, **DOCUMENT["paths"]}}
    (folder / "checker.toml").write_text(f"{KEYS}[auth.openapi.q]\napi_key = '{KEY}'\n")
    with serving(Keys(is_careless=False).answer, document) as app:
        result = invoke("auth", "check", app.document_url)
    assert "Q: GET /q answered 200" in result.stdout
    assert "refused  q: no security scheme is called 'q'" in result.stdout


class Source(CredentialSource):
    """Gives the key that one of the operations asks for."""

    name = "mine"

    def key(self, case: Any) -> str | None:
        return "" if case.path == "/h" else None

    def fetch(self, case: Any) -> Credentials:
        return Credentials(headers={"X-Key": KEY})


def test_auth_check_tries_sources_of_users(invoke, folder: Path, monkeypatch) -> None:
    monkeypatch.setitem(CREDENTIAL_SOURCES, "mine", Source())
    keys = Keys(is_careless=False)
    with serving(keys.answer, DOCUMENT) as app:
        result = invoke("auth", "check", app.document_url)
    assert result.stdout.splitlines() == ["ok       source mine: GET /h answered 200"]
    assert keys.seen == {("/h", "right"): 1}


def test_digest_is_no_credential_of_a_scheme(invoke, folder: Path) -> None:
    schemes = {"securitySchemes": {"D": {"type": "http", "scheme": "digest"}}}
    paths = {"/d": {"get": {"security": [{"D": []}], "responses": ANSWERS}}}
    document = {**DOCUMENT, "paths": paths, "components": schemes}
    with serving(Keys(is_careless=False).answer, document) as app:
        shown = invoke("auth", "check", app.document_url)
        (folder / "checker.toml").write_text("[auth.openapi.D]\nusername = 'a'\npassword = 'b'\n")
        refused = invoke("auth", "check", app.document_url)
    wanted = 'auth.basic = { type = "digest", username = "${D_USER}", password = "${D_PASSWORD}" }'
    assert wanted in shown.stdout.splitlines()
    assert refused.exit_code == 2
    assert '[auth.basic] with `type = "digest"`' in refused.stderr


def test_auth_check_of_what_cannot_be_read_ends_with_2(invoke, folder: Path) -> None:
    (folder / "api.json").write_text('{"swagger": "9"}')
    result = invoke("auth", "check", "api.json", "-u", "http://127.0.0.1:1")
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
