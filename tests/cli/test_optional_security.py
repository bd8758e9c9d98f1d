"""What an operation lets its callers choose from: each request meets one of it, and says so again whenever it is repeated."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving

ANSWERS = {str(status): {"description": ""} for status in (200, 401)}
CHOICES: dict[str, list[dict[str, list[str]]]] = {
    "/optional": [{}, {"B": []}],
    "/token": [{"T": []}, {}],
    "/either": [{"Q": []}, {"H": []}],
    "/both": [{"Q": [], "H": []}],
    "/other": [{"NOBODY": []}, {"B": []}],
    "/one": [{"B": []}],
}
SCHEMES = {
    "B": {"type": "http", "scheme": "bearer"},
    "T": {"type": "oauth2", "flows": {}},
    "Q": {"type": "apiKey", "in": "query", "name": "key"},
    "H": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "NOBODY": {"type": "apiKey", "in": "header", "name": "X-Nobody"},
}
NUMBER = {"name": "n", "in": "query", "schema": {"type": "integer"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {
        path: {"get": {"security": one, "parameters": [NUMBER], "responses": ANSWERS}} for path, one in CHOICES.items()
    },
    "components": {"securitySchemes": SCHEMES},
}
CONFIGURED = """
[auth.openapi]
B = { bearer = "bearer-value" }
Q = { api_key = "query-value" }
H = { api_key = "header-value" }
[auth.dynamic.openapi.T]
path = "/login"
extract_selector = "/token"
"""
NAMED = {"bearer-value": "B", "token-value": "T", "query-value": "Q", "header-value": "H"}
RUN = ("--inline", "--seed", "3", "-n", "60", "--phases", "coverage,fuzzing", "--mode", "positive")


def carried(request: Request) -> frozenset[str]:
    """Schemes whose configured credentials a request has; what else looks like some stands for itself."""
    query = request.target.decode().partition("?")[2].split("&")
    keys = [one.removeprefix("key=") for one in query if one.startswith("key=")]
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    found = (bearer, *keys, request.headers.get("x-key"), request.headers.get("x-nobody"))
    return frozenset(NAMED.get(one, one) for one in found if one)


def sent(app: App) -> dict[str, Counter[frozenset[str]]]:
    counts: dict[str, Counter[frozenset[str]]] = {path: Counter() for path in CHOICES}
    for request in app.seen:
        path = request.target.decode().partition("?")[0]
        if path in counts:
            counts[path][carried(request)] += 1
    return counts


def is_bare(request: Request) -> bool:
    return not carried(request)


def answer(request: Request) -> Reply:
    """Fails for the requests to one operation that nobody signs, and to nothing else."""
    if request.target == b"/login":
        return json_reply({"token": "token-value"})
    broken = request.target.startswith(b"/optional") and is_bare(request)
    return json_reply({}, 500 if broken else 200)


def test_each_request_meets_one_of_what_it_may_choose_from(invoke: Any, folder: Path) -> None:
    (folder / "checker.toml").write_text(CONFIGURED)
    with serving(answer, DOCUMENT) as app:
        result = invoke("run", app.document_url, "-u", app.url, *RUN, "-c", "not_a_server_error")
        counts = sent(app)
        # What the command line prints is bare, and so is what is sent again.
        (command,) = re.findall(r"curl .*", result.output)
        (name,) = re.findall(r"checker replay ([^\s`]+)", result.output)
        first = len(app.seen)
        again = invoke("replay", name, "-u", app.url)
        replayed = app.seen[first:]
    assert result.exit_code == 1, result.output
    assert "1 bug" in result.output
    assert ("/optional" in command, "Authorization" in command) == (True, False)
    assert again.exit_code == 1, again.output
    assert replayed
    assert all(map(is_bare, replayed))
    bare: frozenset[str] = frozenset()
    usual = counts["/optional"][frozenset("B")]
    assert set(counts["/optional"]) == {bare, frozenset("B")}
    assert set(counts["/token"]) == {bare, frozenset("T")}
    assert counts["/token"][bare] > 2
    assert usual > 3 * counts["/token"][bare]
    assert set(counts["/either"]) == {frozenset("Q"), frozenset("H")}
    assert counts["/either"][frozenset("Q")] > counts["/either"][frozenset("H")] > 2
    assert set(counts["/both"]) == {frozenset("QH")}
    assert set(counts["/other"]) == {frozenset("B")}
    assert set(counts["/one"]) == {frozenset("B")}


def test_credentials_are_missed_where_none_of_the_alternatives_does_without(invoke: Any, folder: Path) -> None:
    (folder / "checker.toml").write_text(CONFIGURED)
    with serving(answer, DOCUMENT) as app:
        result = invoke("run", app.document_url, "-u", app.url, *RUN, "-c", "ignored_auth")
        paths = {one.target.decode().partition("?")[0] for one in app.seen if is_bare(one)}
    told = re.findall(r"^    - GET (/\w+) ", result.output, re.MULTILINE)
    assert set(told) == {"/either", "/both", "/other", "/one"}, result.output
    assert paths >= set(CHOICES)


def test_who_wants_each_request_signed_says_so(invoke: Any, folder: Path) -> None:
    (folder / "checker.toml").write_text(CONFIGURED)
    never = ("--generation-with-security-parameters", "false")
    with serving(answer, DOCUMENT) as app:
        result = invoke("run", app.document_url, "-u", app.url, *RUN, *never, "-c", "not_a_server_error")
        counts = sent(app)
    assert result.exit_code == 0, result.output
    assert {path: set(one) for path, one in counts.items()} == {
        "/optional": {frozenset("B")},
        "/token": {frozenset("T")},
        "/either": {frozenset("Q")},
        "/both": {frozenset("QH")},
        "/other": {frozenset("B")},
        "/one": {frozenset("B")},
    }
