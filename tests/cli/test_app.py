"""Applications of this process (`--app`), and runs that send nothing (`--dry-run`)."""

from pathlib import Path

import pytest

from tests.apps.serving import json_reply, serving

FEW = ("--inline", "-n", "5", "--phases", "fuzzing", "--seed", "1", "--mode", "positive")
WSGI = """
import json
DOCUMENT = {
    "openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "servers": [{"url": "/api"}],
    "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
}
def app(environ, start):
    path = environ["PATH_INFO"]
    if path == "/api/a":
        raise RuntimeError("planted")
    start("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(DOCUMENT).encode()]
"""
ASGI = """
import wsgi_shop
class App:
    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        found = []
        body = wsgi_shop.app({"PATH_INFO": scope["path"]}, lambda *given: found.extend(given))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b"".join(body)})
app = App()
"""


@pytest.mark.parametrize(
    ("name", "location"), [("wsgi_shop:app", "/openapi.json"), ("asgi_shop_2:app", "openapi.json")]
)
def test_an_application_is_tested_without_a_socket(invoke, folder: Path, name: str, location: str) -> None:
    (folder / "wsgi_shop.py").write_text(WSGI)
    (folder / "asgi_shop_2.py").write_text(ASGI)
    (folder / "openapi.json").write_text(str(_document()).replace("'", '"'))
    result = invoke("run", location, "--app", name, *FEW)
    assert result.exit_code == 1, result.output
    assert "Server error: 1" in result.output
    # The application discloses nothing: the traceback is ours.
    assert "Traceback (most recent call last)" in result.output
    assert "discloses" not in result.output
    assert "/api/a" in result.output
    again = invoke("replay")
    assert (again.exit_code, again.stdout.split("[")[0]) == (1, "FAILED  GET /a: Server error "), again.output


def _document() -> dict[str, object]:
    found: dict[str, object] = {}
    exec(WSGI, found)
    document = found["DOCUMENT"]
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shop", "Must be 'module:variable'"),
        ("no_such_module:app", "cannot load the application 'no_such_module:app'"),
        ("json:__name__", "name an ASGI or WSGI application"),
    ],
)
def test_what_is_no_application_is_named(invoke, name: str, message: str) -> None:
    result = invoke("run", "/openapi.json", "--app", name, *FEW)
    assert result.exit_code == 2
    assert message in result.output


def test_a_dry_run_sends_nothing(invoke) -> None:
    paths = {"/a": {"post": {"responses": {"200": {"description": ""}}}}}
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}
    with serving(lambda _: json_reply({}, 500), document) as app:
        result = invoke("run", app.document_url, "--dry-run", *FEW)
        assert app.seen == []
    assert result.exit_code == 0, result.output
    assert "Nothing was sent in " in result.output
    assert not [word for word in ("passed", "2xx", "Covered") if word in result.output]


def test_a_dry_run_counts_the_cases_that_checks_would_look_at(invoke) -> None:
    size = {"name": "size", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 9}}
    paths = {"/a": {"get": {"parameters": [size], "responses": {"200": {"description": ""}}}}}
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}
    counts = []
    with serving(lambda _: json_reply({}, 200), document) as app:
        for changes in ((), ("--dry-run",)):
            output = invoke("run", app.document_url, *changes, "--inline", "--phases", "coverage", "--seed", "1").output
            counts.append(int(output.partition(" generated, ")[0].split()[-1]))
    sent, counted = counts
    assert 10 < counted <= sent


def test_a_literal_of_the_application_reaches_it(invoke, folder: Path) -> None:
    """A defect behind a string that nobody guesses."""
    (folder / "riddle.py").write_text(RIDDLE)
    asked = ("run", "/openapi.json", "--app", "riddle:app", "--inline", "-n", "1000")
    found = invoke(*asked, "--phases", "fuzzing", "--seed", "1", "--mode", "positive")
    assert "Server error: 1" in found.output
    off = invoke(
        *asked, "--phases", "fuzzing", "--seed", "1", "--mode", "positive",
        "--set", "analysis.constants.enabled=false",
    )  # fmt: skip
    assert off.exit_code == 0, off.output


RIDDLE = """
import json
from urllib.parse import parse_qs
PARAMETER = {"name": "word", "in": "query", "required": True, "schema": {"type": "string"}}
DOCUMENT = {
    "openapi": "3.0.3", "info": {"title": "T", "version": "1"},
    "paths": {"/a": {"get": {"parameters": [PARAMETER], "responses": {"200": {"description": ""}}}}},
}
def app(environ, start):
    if parse_qs(environ["QUERY_STRING"]).get("word") == ["open-sesame-4711"]:
        raise RuntimeError("planted")
    start("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(DOCUMENT).encode()]
"""
