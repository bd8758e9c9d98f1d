"""Logins, redirects and what was sent again are traffic: marked with what they are for, without what is secret."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.cassettes import interactions_of
from tests.e2e.test_canaries import left_in_files

USES = 3
PASSWORD = "pw-C4n4ry"
NUMBER = {"name": "n", "in": "query", "required": True, "schema": {"type": "integer"}}
OPERATION = {"parameters": [NUMBER], "responses": {"200": {"description": "Yes"}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "On the way", "version": "1"},
    "paths": {
        "/items": {"get": {**OPERATION, "security": [{"Bearer": []}]}},
        "/moved": {"get": OPERATION},
        "/busy": {"get": OPERATION},
    },
    "components": {"securitySchemes": {"Bearer": {"type": "http", "scheme": "bearer"}}},
}
CONFIG = f"""
rate-limit = "auto"
[auth.dynamic.openapi.Bearer]
path = "/login"
payload = {{ name = "anna", password = "{PASSWORD}" }}
extract_selector = "/data/mark"
"""
RUN = ("--inline", "--lanes", "1", "--seed", "1", "-n", "8", "--phases", "fuzzing", "-c", "not_a_server_error")


class Service:
    """Tokens are good for a few requests; one path has moved, and one asks every other time to come again."""

    def __init__(self) -> None:
        self.tokens = 0
        self.left = 0
        self.asked = 0

    def __call__(self, request: Request) -> Reply:
        match request.target.partition(b"?")[0]:
            case b"/login":
                if json.loads(request.body) != {"name": "anna", "password": PASSWORD}:
                    return json_reply({"why": "unknown"}, 401)
                self.tokens, self.left = self.tokens + 1, USES
                cookie = (("Set-Cookie", f"other=also-C4n4ry-{self.tokens}"),)
                given = {"mark": self.token, "other": "more-C4n4ry"}
                return Reply(200, "application/json", json.dumps({"data": given}).encode(), cookie)
            case b"/items":
                is_known = request.headers.get("authorization") == f"Bearer {self.token}"
                if not is_known or not self.left:
                    return json_reply({}, 401)
                self.left -= 1
                return json_reply({"echo": self.token})
            case b"/moved":
                return Reply(302, "text/plain", b"", (("Location", "/there?"),))
            case b"/busy":
                self.asked += 1
                if self.asked % 2:
                    return Reply(429, "text/plain", b"", (("Retry-After", "0"),))
                return json_reply({})
            case _:
                return json_reply({})

    @property
    def token(self) -> str:
        return f"tok-C4n4ry-{self.tokens}"


def entries_of(folder: Path) -> list[dict[str, Any]]:
    (cassette,) = folder.rglob("vcr*.yaml")
    return interactions_of(cassette)


def path(request: Request) -> str:
    return request.target.decode().partition("?")[0]


def status(entry: dict[str, Any]) -> str:
    return str(entry["response"]["status"]["code"])


def purpose(entry: dict[str, Any]) -> str:
    return str(entry["phase"]["purpose"] if "purpose" in entry["phase"] else entry["purpose"])


def test_all_that_was_sent_is_on_record_and_says_what_for(invoke: Any, folder: Path) -> None:
    (folder / "checker.toml").write_text(CONFIG)
    with serving(Service(), DOCUMENT) as app:
        result = invoke("run", app.document_url, *RUN, "--report", "vcr,ndjson,har,html")
        assert result.exit_code == 0, result.output
        entries = entries_of(folder)
        sent = Counter(map(path, app.seen))
        app.seen.clear()
        (cassette,) = folder.rglob("vcr*.yaml")
        replayed = invoke("replay", str(cassette), "-H", "Authorization: Bearer x")
        assert replayed.exit_code == 0, replayed.output
        again = Counter(map(path, app.seen))
    found = Counter(
        (purpose(one), one["request"]["uri"].removeprefix(app.url).partition("?")[0], status(one)) for one in entries
    )

    logins = sent["/login"]
    assert logins > 1
    assert found["login", "/login", "200"] == logins
    assert found["retry", "/items", "401"] >= 1
    assert found["redirect", "/moved", "302"] == sent["/there"] == sent["/moved"]
    assert found["retry", "/busy", "429"] == sent["/busy"] // 2
    assert found["test", "/moved", "200"] == found["test", "/items", "200"] == 8
    # Each answer once.
    assert sum(found.values()) == sum(sent.values())
    assert f"  {sum(sent.values())} requests" in result.output
    # Cases lead to the others again.
    assert again["/login"] == 0
    assert again["/moved"] == again["/there"] == sent["/moved"]

    [login, *_] = [one for one in entries if purpose(one) == "login"]
    shown = json.dumps(login)
    assert '\\"name\\": \\"[Filtered]\\"' in shown
    assert '\\"mark\\": \\"[Filtered]\\"' in shown
    assert not list(left_in_files(folder))
    (events,) = folder.rglob("*.ndjson")
    lines = map(json.loads, events.read_text().splitlines())
    ended = [one["ScenarioFinished"] for one in lines if "ScenarioFinished" in one]
    assert {one["purpose"] for one in ended} >= {"login", "retry", "redirect", "test"}


@pytest.mark.parametrize(
    ("selector", "said"), [("/data/none", "has no token at body '/data/none'"), ("/data/mark", "answered 401")]
)
def test_a_login_that_gives_nothing_shows_what_it_answered(invoke: Any, folder: Path, selector: str, said: str) -> None:
    config = CONFIG.replace("/data/mark", selector)
    if "401" in said:
        config = config.replace(PASSWORD, "wrong-C4n4ry")
    (folder / "checker.toml").write_text(config)
    with serving(Service(), DOCUMENT) as app:
        result = invoke("run", app.document_url, *RUN, "--report", "vcr")
    assert said in " ".join(result.output.split())
    logins = [one for one in entries_of(folder) if purpose(one) == "login"]
    assert logins
    body = logins[0]["response"]["body"]["string"]
    # The names are enough to mend the pointer.
    assert "why" in body if "401" in said else "mark" in body
    assert not list(left_in_files(folder))
