"""What a user keeps secret stands nowhere but in the requests that it is for: every way in, every way out.

What a server sends back is no way out of ours: the one here says nothing of what it was sent.
"""

import contextlib
import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest

from checker.core.reports import REPORT_FORMATS
from checker.corpus.codec import scan
from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import UNHURRIED_S, Command, Ran

BEGIN, END = "C4n4ry", "T41l77"
"""Of every canary: one that is left in pieces is left."""


def canary(way: str, nasty: str = "") -> str:
    return f"{BEGIN}{nasty}{way}{END}"


def parameter(name: str, place: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}}


BODY = {
    "type": "object",
    "required": ["password", "n"],
    "properties": {"password": {"type": "string"}, "n": {"type": "integer"}},
}
OPERATION = {
    "parameters": [
        parameter("api_key", "query"),
        parameter("pass_token", "query"),
        parameter("X-Token", "header"),
        parameter("session", "cookie"),
        parameter("secret_id", "path"),
    ],
    "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}},
    "responses": {"200": {"description": ""}},
}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Canaries", "version": "1"},
    "servers": [{"url": "/v1"}],
    "paths": {
        "/a/{secret_id}": {"post": OPERATION},
        "/b/{secret_id}": {"put": OPERATION},
        # Nobody answers: a network error with its request.
        "/gone/{secret_id}": {"put": OPERATION},
        "/lost": {"get": {"parameters": [{"$ref": "lost.json"}], "responses": {}}},
    },
}


def answer(request: Request) -> Reply:
    if request.target.startswith(b"/openapi.json"):
        return json_reply(DOCUMENT)
    if b"/gone/" in request.target:
        raise ConnectionError("it is gone")
    return json_reply({}, 500 if b"/a/" in request.target else 404)


def toml(mark: str) -> str:
    """Everything that a file can hold, and what it takes from the environment."""
    return f"""
headers = {{ X-File-Key = '{canary("file", mark)}', X-From-Env = 'Bearer ${{HEADER}}' }}
[parameters]
"query.api_key" = '{canary("query", mark)}'
"header.X-Token" = '{canary("header", mark)}'
"cookie.session" = '{canary("cookie", mark)}'
"body.password" = '{canary("body", mark)}'
secret_id = '{canary("path", mark)}'
"query.pass_token" = {{ dictionary = 'keys' }}
[dictionaries.keys]
values = ['{canary("one", mark)}', '{canary("two", mark)}']
"""


def spelled() -> re.Pattern[bytes]:
    """The beginning or the end of a canary, in text and in the base 64 of basic authentication."""
    coded = [b64encode(f"user:{BEGIN}".encode())[:12], b64encode(f"{BEGIN}loc".encode())[:8]]
    return re.compile(b"|".join([BEGIN.encode(), END.encode(), *map(re.escape, coded)]), re.IGNORECASE)


SPELLED = spelled()


def left_in_files(folder: Path) -> Iterator[str]:
    """Files that hold a canary, in frames that are packed, too."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name == "checker.toml":
            continue
        content = path.read_bytes()
        if path.suffix in (".journal", ".traffic") or path.name == "snapshot":
            records = scan(content).records
            assert records or not content, path
            content += "\n".join(map(repr, records)).encode()
        if found := SPELLED.search(content):
            around = content[max(0, found.start() - 60) : found.end() + 30]
            yield f"{path.relative_to(folder)}: {around!r}"
        if SPELLED.search(os.fsencode(path.relative_to(folder))):
            yield f"name of {path}"


class Watched:
    """A run whose processes are looked at while it sends requests."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.root: psutil.Process | None = None
        self.lines: set[str] = set()
        self.looked = 0

    def answer(self, request: Request) -> Reply:
        # Cases only: workers are there then. A list of all processes may take a busy machine seconds.
        if self.looked < 2 and self.root is not None and request.target.startswith(b"/v1/"):
            self.looked += 1
            # The command line of the user's own shell is not ours to hide.
            for child in self.root.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    self.lines.add(" ".join(child.cmdline()))
        return answer(request)

    def __call__(self, *arguments: str) -> Ran:
        with self.command.started(*arguments) as process:
            self.root = psutil.Process(process.pid)
            return self.command.finished(process)


@pytest.fixture
def watched(command: Command) -> Watched:
    return Watched(command)


def located(app: App, mark: str) -> str:
    """The location with everything that a URL can hold."""
    userinfo = quote(canary("loc", mark), safe="")
    key = quote(canary("key", mark), safe="")
    return app.document_url.replace("//", f"//user:{userinfo}@") + f"?api_key={key}&a=b"


EVERY = ",".join(row.name for row in REPORT_FORMATS.values() if row.writer is not None)
NASTY = ["", ' "%/é&=+x: ']


@pytest.mark.parametrize("kind", ["run", "fuzz"])
@pytest.mark.parametrize("mark", NASTY)
@pytest.mark.thorough_beyond(1)
def test_no_canary_is_left_anywhere(watched: Watched, monkeypatch: pytest.MonkeyPatch, kind: str, mark: str) -> None:
    folder = watched.command.directory
    (folder / "checker.toml").write_text(toml(mark.replace("'", "")))
    monkeypatch.setenv("HEADER", canary("env", mark.encode("ascii", "ignore").decode()).strip())
    bound = ["-n", "20"] if kind == "run" else ["--max-failures", "2"]
    bound += ["--mode", "positive", "--request-timeout", UNHURRIED_S]
    with serving(watched.answer, DOCUMENT) as app:
        option = canary("option", mark.encode("ascii", "ignore").decode())
        arguments = [kind, located(app, mark), "-H", f"X-Option-Key:{option}", *bound, "-w", "2"]
        ran = watched(*arguments, "--report", EVERY, "--seed", "1")
    assert ran.code == 1, ran.shown
    assert "Server error" in ran.stdout, ran.shown
    assert not SPELLED.search(ran.shown.encode()), ran.shown
    assert not list(left_in_files(folder))
    assert watched.lines
    assert not SPELLED.search("\n".join(watched.lines).encode())
    # They did reach whom they are for.
    sent = [request for request in app.seen if b"/a/" in request.target]
    assert any(BEGIN in request.headers["x-from-env"] for request in sent)
    assert any(BEGIN.encode() in request.body for request in sent)
    assert all(request.headers["authorization"].startswith("Basic ") for request in sent)


@pytest.mark.parametrize(
    "give",
    [
        lambda url: (["--url", url], {}, ""),
        lambda url: ([f"-u{url}"], {}, ""),
        lambda url: ([], {}, f"base-url = '{url}'"),
        lambda url: ([], {"BASE": url}, "base-url = '${BASE}'"),
        lambda url: ([], {"CHECKER_BASE_URL": url}, ""),
    ],
)
@pytest.mark.thorough
def test_no_canary_of_a_base_url_is_left(
    watched: Watched, give: Callable[[str], tuple[list[str], dict[str, str], str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = watched.command.directory
    with serving(watched.answer, DOCUMENT) as app:
        url = app.url.replace("//", f"//{canary('loc')}@") + f"/v1?token={canary('base')}"
        arguments, environment, text = give(url)
        (folder / "checker.toml").write_text(text)
        watched.command.environment = environment
        ran = watched("run", app.document_url, *arguments, "-n", "5", "--report", EVERY)
    assert ran.code == 1, ran.shown
    assert not SPELLED.search(ran.shown.encode()), ran.shown
    assert not list(left_in_files(folder))
    sent = [request for request in app.seen if request.target.startswith(b"/v1/")]
    assert all(request.headers["authorization"].startswith("Basic ") for request in sent)


@pytest.mark.thorough
def test_without_sanitisation_reports_show_secrets_and_other_files_do_not(command: Command) -> None:
    folder = command.directory
    (folder / "checker.toml").write_text(toml("").replace("${HEADER}", canary("env")))
    with serving(answer, DOCUMENT) as app:
        arguments = ["--output-sanitize", "false", "--report", "vcr", "-n", "5"]
        ran = command.run(located(app, ""), *arguments, inline=True)
    assert ran.code == 1, ran.shown
    assert canary("file") in ran.stdout
    assert canary("query") in ran.stdout
    assert not [one for one in left_in_files(folder) if not one.startswith("checker-report/")]
    (cassette,) = (folder / "checker-report").glob("*.yaml")
    head = cassette.read_text().partition("http_interactions")[0]
    assert "command: " in head
    assert not SPELLED.search(head.encode())
