"""`warnings` in an `[[operations]]` block is about its operations alone."""

from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.apps.serving import json_reply, serving

GET = {"responses": {"200": {"description": ""}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {"/a": {"get": GET}, "/b": {"get": GET}},
}


def block(value: str) -> str:
    return f"[[operations]]\ninclude-path = '/a'\nwarnings = {value}\n"


@pytest.mark.parametrize(
    ("text", "shown", "code"),
    [
        ("", "in 2 operations", 0),
        (block("false"), "GET /b", 0),
        (f"warnings = false\n{block('true')}", "GET /a", 0),
        (block("{ fail-on = ['validation_mismatch'] }"), "in 2 operations", 1),
        (f"warnings = {{ fail-on = true }}\n{block('false')}", "GET /b", 1),
        (f"warnings = {{ fail-on = ['rate_limited'] }}\n{block('false')}", "GET /b", 0),
    ],
)
def test_they_are_shown_and_fail_a_run_as_the_block_says(
    invoke, folder: Path, text: str, shown: str, code: int
) -> None:
    (folder / "checker.toml").write_text(text)
    with serving(lambda _: json_reply({}, 422), DOCUMENT) as app:
        result = invoke(
            *("run", app.document_url, "-u", app.url, "--inline", "-n", "3", "--phases", "fuzzing"),
            *("--mode", "positive", "-c", "not_a_server_error"),
        )
    assert f"- 422 in 100% of valid cases ({shown})" in result.output
    assert result.exit_code == code


def test_the_share_that_is_low_may_be_one_of_the_block(invoke, folder: Path) -> None:
    share = "{ display = ['low_valid_rate'], low_valid_rate = { threshold = 0.9 } }"
    (folder / "checker.toml").write_text(f"warnings = {{ display = ['low_valid_rate'] }}\n{block(share)}")
    statuses = cycle((200, 400))
    number = {"name": "q", "in": "query", "schema": {"type": "integer"}}
    paths = {path: {"get": {**GET, "parameters": [number]}} for path in DOCUMENT["paths"]}
    with serving(lambda _: json_reply({}, next(statuses)), {**DOCUMENT, "paths": paths}) as app:
        result = invoke(
            *("run", app.document_url, "-u", app.url, "--inline", "-n", "12"),
            *("--phases", "fuzzing", "--mode", "positive", "-c", "not_a_server_error"),
        )
    assert "of valid cases were accepted (GET /a)" in result.output
    assert "GET /b)" not in result.output
