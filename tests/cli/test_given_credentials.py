"""Credentials that the user gives by `-H` under a name that the description does not place."""

from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Behind a gateway", "version": "1"},
    "security": [{"B": []}],
    "components": {"securitySchemes": {"B": {"type": "http", "scheme": "bearer"}}},
    "paths": {"/things": {"get": {"responses": {"200": {"description": ""}, "401": {"description": ""}}}}},
}


@pytest.mark.parametrize(
    ("given", "gate", "is_found"),
    [("X-Gate", "x-gate", False), ("X-API-Key", "x-api-key", False), ("X-Trace", "", True)],
    ids=["name of any header", "name of credentials", "no credentials"],
)
def test_a_header_that_lets_requests_in_is_no_missing_authentication(
    invoke: Any, folder: Any, given: str, gate: str, *, is_found: bool
) -> None:
    def answer(request: Request) -> Reply:
        if gate and request.headers.get(gate) != "s3":
            return json_reply({}, 401)
        return json_reply({}) if request.method == "GET" else Reply(405, "text/plain", b"", (("Allow", "GET"),))

    checks = ("-c", "ignored_auth,missing_required_header")
    with serving(answer, DOCUMENT) as app:
        options = ("--inline", "-u", app.url, "-n", "5", "--seed", "1", "-H", f"{given}: s3", *checks)
        result = invoke("run", app.document_url, *options)
    assert ("without authentication" in result.output) is is_found, result.output
    assert "Missing header" not in result.output
