"""Tokens after the logout of their session."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.exploration.__main__ import counts, serving
from checker.core.meta import Binding
from checker.core.operation import Label, Location
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from tests.checks.asked import POSITIVE, Exchanges, operations_of
from tests.e2e.runner import Command

NAME = "session_ends"
_TOKEN = {"name": "X-Session", "in": "header", "required": True, "schema": {"type": "string"}}
_OK: dict[str, Any] = {"responses": {"200": {"description": ""}}}
PATHS = {
    "/auth/login": {"post": _OK},
    "/auth/logout": {"post": {**_OK, "parameters": [_TOKEN]}},
    "/me": {"get": {**_OK, "parameters": [_TOKEN]}},
}


class Sessions:
    """One session with the token `abcdef`."""

    def __init__(self, *, logout: int = 204, after: int = 403, other: int = 401) -> None:
        self.logout, self.after, self.other, self.is_over = logout, after, other, False

    def __call__(self, request: WireRequest) -> Outcome:
        if request.header(b"x-session") != b"abcdef":
            return Response(self.other, [])
        if request.method == "POST":
            self.is_over = True
            return Response(self.logout, [])
        return Response(self.after if self.is_over else 200, [])


@pytest.mark.parametrize(
    ("sessions", "is_told"),
    [
        (Sessions(after=200), True),
        (Sessions(), False),
        # Any token opens it, or the logout did not work.
        (Sessions(after=200, other=200), False),
        (Sessions(after=200, logout=404), False),
    ],
    ids=["planted", "fixed", "open", "no-logout"],
)
@pytest.mark.parametrize("paths", [PATHS, {path: PATHS[path] for path in ("/auth/login", "/me")}], ids=["", "alone"])
def test_a_token_is_judged_by_a_logout_of_its_own(sessions: Sessions, paths: dict[str, Any], *, is_told: bool) -> None:
    bound = (Binding(Location.HEADER, "X-Session", Label("POST /auth/login"), "/token", 0, "abcdef"),)
    for index in range(50):
        them, sessions.is_over = Exchanges(operations_of(paths)), False
        told: dict[str, Any] = {"mode": POSITIVE, "phase": "exploration", "headers": {"X-Session": "abcdef"}}
        sent = them.sent("GET /me", 200, index=index, bindings=bound, **told)
        login = them.sent("POST /auth/login", 200, mode=POSITIVE)
        found = them.verdict(NAME, sent, [login], answers=sessions)
        if them.asked or (index == 49 and len(paths) < 3):
            assert bool(found.failures) is (is_told and len(paths) == 3)
            return
    raise AssertionError("no case was chosen")


@pytest.mark.parametrize("is_fixed", [False, True], ids=["planted", "fixed"])
def test_fuzz_reports_a_token_that_outlives_its_session(tmp_path: Path, *, is_fixed: bool) -> None:
    with serving("desk", is_fixed=is_fixed) as url:
        done = Command(tmp_path).until(
            lambda: counts(url)["requests"] > 2_000,
            *("fuzz", f"{url}/openapi.json", "--checks", NAME, "--seed", "1", "--workers", "1"),
            *("--include-path-regex", "^/(sessions|me|logout)", "--max-time", "60"),
        )
    assert done.defects == ([] if is_fixed else [("GET /me", NAME)]), done.shown
