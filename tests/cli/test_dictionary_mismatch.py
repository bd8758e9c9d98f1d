"""A dictionary that holds mostly what its place forbids is told of."""

from pathlib import Path
from typing import Any

import pytest

from tests.apps.serving import json_reply, serving

CODE = {"type": "string", "maxLength": 3}
BODY = {"type": "object", "properties": {"code": CODE}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {
        "/a": {
            "post": {
                "parameters": [{"name": "q", "in": "query", "schema": CODE}],
                "requestBody": {"content": {"application/json": {"schema": BODY}}},
                "responses": {"200": {"description": ""}},
            }
        }
    },
}


@pytest.mark.parametrize(
    ("place", "values", "told"),
    [
        ("query.q", ["abc", "long one", "too long"], "query q: its schema forbids 2 of 3 entries"),
        ("body.code", ["abc", "long one", "too long"], "forbids 2 of 3 entries"),
        ("query.q", ["abc", "long one"], ""),
        ("body.code", ["abc", "de", "too long"], ""),
    ],
)
def test_it_is_told_when_most_entries_are_forbidden(
    invoke, folder: Path, place: str, values: list[str], told: str
) -> None:
    (folder / "checker.toml").write_text(
        f"[dictionaries.mine]\nvalues = {values}\n"
        f"[parameters]\n'{place}' = {{ dictionary = 'mine', probability = 0.5 }}\n"
    )
    with serving(lambda _: json_reply({}), DOCUMENT) as app:
        result = invoke(
            *("run", app.document_url, "-u", app.url, "--inline", "-n", "3", "--phases", "fuzzing"),
            *("--mode", "positive", "-c", "not_a_server_error"),
        )
    assert result.exit_code == 0, result.output
    assert ("of the dictionary" in result.output) is bool(told), result.output
    assert told in result.output
