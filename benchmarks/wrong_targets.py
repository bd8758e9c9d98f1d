"""A wrong port, a wrong base path, a wrong token, a proxy before nothing: one sentence with the advice, before much is sent.

    python -m benchmarks.wrong_targets

Required: while the run goes on the sentence is printed once, after at most 50 requests; none for the wrong port. The
summary may repeat it.
"""

import json
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command

_MOST = 50
_THING = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
_HEADER = ("-H", "Authorization: Bearer good")


def _answers(*statuses: int) -> dict[str, Any]:
    return {str(status): {"description": ""} for status in statuses}


_DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "/v1"}],
    "security": [{"token": []}],
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "paths": {
        "/things": {
            "get": {"responses": _answers(200)},
            "post": {
                "requestBody": {"content": {"application/json": {"schema": _THING}}},
                "responses": _answers(201, 400),
            },
        },
        "/things/{id}": {
            "parameters": [_ID],
            "get": {"responses": _answers(200, 404)},
            "delete": {"responses": _answers(204, 404)},
        },
    },
}


def _shop(request: Request) -> Reply:
    """Serves below `/v1` who has the right token."""
    path = request.target.partition(b"?")[0]
    if not path.startswith(b"/v1/"):
        return Reply(404, "text/plain", b"Not Found")
    if request.headers.get("authorization") != "Bearer good":
        return json_reply({"detail": "no"}, 401)
    if path == b"/v1/things":
        return json_reply({"id": 1}, 201 if request.method == "POST" else 200)
    return json_reply({}, 404)


def _proxy(request: Request) -> Reply:
    return Reply(502, "text/html", b"<h1>502 Bad Gateway</h1>")


def _closed_url() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}/v1"


_CASES: dict[str, tuple[Callable[[Request], Reply], Callable[[App], tuple[str, ...]], str]] = {
    "port": (_shop, lambda app: (_closed_url(), *_HEADER), "cannot be reached"),
    "base path": (_shop, lambda app: (app.url, *_HEADER), "the description says /v1: try `--url "),
    "token": (
        _shop,
        lambda app: (f"{app.url}/v1", "-H", "Authorization: Bearer bad"),
        "`Authorization` header that was given (`-H`, `headers`) is refused",
    ),
    "proxy": (_proxy, lambda app: (f"{app.url}/v1", *_HEADER), "a proxy answers in the place"),
}
"""Who answers, the URL and options, and what the sentence says."""


def main() -> int:
    """Print a line for each; exit code 1 when one is not as required."""
    is_well = True
    print(f"{'wrong':<10}{'sentences':>10}{'requests before':>17}")
    for name, (answer, options, says) in _CASES.items():
        count, before = _told(answer, options, says)
        is_well &= count == 1 and before <= (_MOST if name != "port" else 0)
        print(f"{name:<10}{count:>10}{before:>17}", flush=True)
    return int(not is_well)


def _told(answer: Callable[[Request], Reply], options: Callable[[App], tuple[str, ...]], says: str) -> tuple[int, int]:
    """(how often the sentence is printed, requests that had arrived when it was)."""
    with tempfile.TemporaryDirectory() as folder, serving(answer, _DOCUMENT) as app:
        place = Path(folder).resolve()
        (place / "api.json").write_text(json.dumps(_DOCUMENT))
        url, *more = options(app)
        arguments = ("run", "api.json", "--url", url, "--seed", "1", "-n", "20", *more)
        count, before = 0, 0
        with Command(place).started(*arguments) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if "= SUMMARY =" in line:
                    break
                if says in line:
                    count, before = count + 1, before or len(app.seen)
            process.stdout.read()
        return count, before


if __name__ == "__main__":
    sys.exit(main())
