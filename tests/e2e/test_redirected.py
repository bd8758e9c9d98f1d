"""What is found behind a redirect shows itself with the command that is printed."""

import json
import subprocess

from tests.apps.http import Reply, Request
from tests.apps.serving import serving
from tests.e2e.runner import Command

_BODY = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
_ANSWER = {"201": {"description": "", "content": {"application/json": {}}}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {
        "/things": {
            "get": {"responses": _ANSWER},
            "post": {"requestBody": _BODY, "responses": _ANSWER},
            "put": {"requestBody": _BODY, "responses": _ANSWER},
        }
    },
}


def to_login(request: Request) -> Reply:
    """Sends everybody to a page, which shows whom it takes for a visitor."""
    if request.target.startswith(b"/login"):
        return Reply(200 if request.method == "GET" else 206, "text/html", b"<form></form>")
    return Reply(302, "text/plain", b"", (("Location", "/login"),))


def test_findings_behind_a_login_page_are_stable_for_every_method(command: Command) -> None:
    asked = ("--phases", "fuzzing", "-n", "3", "--mode", "positive", "-c", "status_code_conformance")
    with serving(to_login, DOCUMENT) as app:
        ran = command.run(app.document_url, *asked, "--report-json-path", "found.json", inline=True)
        found = json.loads((command.directory / "found.json").read_text())["failures"]
        told = {one["operation"]: (one["stability"], one["answer"][:3]) for one in found}
        assert told == {
            "GET /things": ("stable", "200"),
            "POST /things": ("stable", "200"),
            "PUT /things": ("stable", "206"),
        }, ran.shown
        for one in found:
            (line,) = one["reproduce"]
            shown = subprocess.run(
                ["bash", "-c", f"{line} -s -o /dev/null -w '%{{http_code}}'"], capture_output=True, check=True
            )
            assert shown.stdout.decode() == one["answer"][:3], line
