"""Failures that the status of a response does not show: a replay runs their check again, and scripts say that they cannot judge them."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command
from tests.fork_server import plain_environment

_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 9}}
_TOTAL = {"required": True, "schema": {"type": "integer"}}
_LIST = {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Judged", "version": "1"},
    "paths": {
        "/items": {"get": {"parameters": [_LIMIT], "responses": {"200": {**_LIST, "headers": {"X-Total": _TOTAL}}}}}
    },
}
_TRACE = 'Traceback (most recent call last):\n  File "/srv/app.py", line 7, in get\nValueError: limit\n'
_ITEMS = [{"id": number, "name": f"n{number}"} for number in range(12)]


class _Service:
    """Lists items correctly, but for one defect."""

    def __init__(self, defect: str) -> None:
        self.defect = defect

    def __call__(self, request: Request) -> Reply:
        headers = (("X-Total", "many" if self.defect == "header" else "12"),)
        if request.method == "OPTIONS":
            return Reply(204, headers=(("Allow", "GET, POST" if self.defect == "allow" else "GET"),))
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        text = request.target.partition(b"limit=")[2].decode("latin-1")
        if text and not (text.isdecimal() and 1 <= int(text) <= 9):
            return json_reply({"error": _TRACE if self.defect == "trace" else "limit"}, 422)
        found = _ITEMS[: int(text) if text and self.defect != "limit" else 12]
        return Reply(200, "application/json", json.dumps(found).encode(), headers)


@pytest.mark.parametrize(
    ("defect", "check"),
    [
        ("header", "response_headers_conformance"),
        ("allow", "allow_header_conformance"),
        ("limit", "collection_conformance"),
        ("trace", "error_disclosure"),
    ],
)
def test_a_replay_runs_the_check_again(command: Command, tmp_path: Path, defect: str, check: str) -> None:
    given = ("--phases", "coverage", "--mode", "all", "--checks", check, "--report-sh-path", "failures.sh")
    with serving(_Service(defect), DOCUMENT) as app:
        ran = command.run(app.document_url, *given, inline=True)
    assert {one[1] for one in ran.defects} == {check}, ran.shown
    for now, word, code in ((defect, "FAILED", 1), ("", "FIXED", 0)):
        with serving(_Service(now), DOCUMENT) as app:
            again = command.here("replay", "--url", app.url)
            variables = plain_environment() | {"CHECKER_BASE_URL": app.url}
            words = ["bash", str(tmp_path / "failures.sh")]
            script = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
        assert (again.code, again.stdout.partition(" ")[0]) == (code, word), again.shown
        assert (script.returncode, script.stdout.partition(" v1")[0]) == (3, "NOT REPRODUCED")


def test_a_limit_that_only_an_option_of_the_run_gave_is_asked_for(command: Command, tmp_path: Path) -> None:
    with serving(_Service(""), DOCUMENT) as app:
        given = ("--checks", "not_a_server_error", "--max-response-time", "0.000001")
        ran = command.run(app.document_url, *given, inline=True)
        assert {one[1] for one in ran.defects} == {"max_response_time"}, ran.shown
        without = command.here("replay")
        (tmp_path / "checker.toml").write_text("[checks]\nmax_response_time = 0.000001\n")
        within = command.here("replay")
    assert (without.code, within.code) == (2, 1), without.shown + within.shown
    assert "the check max_response_time is switched off; give its limit in the configuration" in without.stdout
