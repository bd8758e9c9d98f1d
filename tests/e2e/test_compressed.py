"""An API that compresses its answers is the same API."""

from typing import Any

import pytest

from tests.apps.compressed import compressed
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

PROMISE = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}
ANSWERS = {
    "/right": json_reply({"ok": True}),
    "/wrong": json_reply({"ok": "no"}),
    "/broken": Reply(200, "application/json", b'{"ok": '),
    "/fallen": Reply(500, "text/plain", b"KeyError: nobody thought of this"),
}


def document() -> dict[str, Any]:
    content = {"application/json": {"schema": PROMISE}}
    responses = {"200": {"description": "", "content": content}, "500": {"description": ""}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Packed", "version": "1"},
        "paths": {path: {"get": {"responses": responses}} for path in ANSWERS},
    }


def answer(request: Request) -> Reply:
    return ANSWERS[request.target.decode().partition("?")[0]]


def found(command: Command, *codings: str) -> list[tuple[str, str, str, str]]:
    with serving(compressed(answer, *codings), document()) as app:
        ran = command.run(app.document_url, "-n", "3", inline=True)
    assert ran.code == 1, ran.shown
    assert "nobody thought of this" in ran.stdout
    assert "<BINARY>" not in ran.stdout
    return sorted((one.label, one.check, one.unique_key, one.message) for one in ran.findings)


@pytest.fixture
def uncompressed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str, str]]:
    return found(Command(tmp_path_factory.mktemp("uncompressed")), "identity")


def test_compressed_answers_show_the_same_findings(
    command: Command, uncompressed: list[tuple[str, str, str, str]]
) -> None:
    assert [label for label, _, _, _ in uncompressed] == ["GET /broken", "GET /fallen", "GET /wrong"]
    assert found(command, "gzip", "deflate") == uncompressed
