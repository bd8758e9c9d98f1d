"""`maximize`: cases that make a metric large lead to others like them."""

from pathlib import Path
from typing import Any

import hypothesis
import pytest

import checker
from checker.config.config import Config
from checker.core.hooks import METRICS
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving

COUNT = 14
ITEMS = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0, "maximum": 9},
    "minItems": COUNT,
    "maxItems": COUNT,
}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {
        "/a": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": ITEMS}}},
                "responses": {"200": {"description": ""}},
            }
        }
    },
}
HOOK = """
import checker

@checker.metric
def sevens(context):
    return sum(one in (5, 6, 7) for one in context.case.body)
"""


def answer(request: Request) -> Reply:
    """One of millions of requests is answered with 500: all numbers are from 5 to 7."""
    digits = [one for one in request.body.decode() if one.isdigit()]
    return json_reply({}, 500 if all(one in "567" for one in digits) else 200)


def test_fuzz_climbs_to_what_chance_would_not_meet(invoke, folder: Path) -> None:
    (folder / "mine.py").write_text(HOOK)
    (folder / "checker.toml").write_text('hooks = "mine.py"\n[generation]\nmaximize = "sevens"\n')
    with serving(answer, DOCUMENT) as app:
        result = invoke(
            *("fuzz", app.document_url, "-u", app.url, "--inline", "--seed", "1"),
            *("--mode", "positive", "--max-failures", "1", "--max-time", "300"),
            *("-c", "not_a_server_error"),
        )
    METRICS.pop("sevens")
    assert result.exit_code == 1, result.output
    assert "Server error: 1" in result.output


def test_a_metric_that_nobody_knows_is_one_sentence(invoke) -> None:
    with serving(answer, DOCUMENT) as app:
        result = invoke(*("fuzz", app.document_url, "-u", app.url, "--inline", "--generation-maximize", "size"))
    assert result.exit_code == 2
    assert "generation.maximize: there is no metric 'size'; known are: response_time" in result.stderr


def test_run_says_that_it_does_not_climb(invoke, settings_of) -> None:
    settings_of("run", "openapi.json")
    result = invoke("run", "openapi.json", "--generation-maximize", "response_time")
    assert result.stderr.startswith("Hint: `maximize` leads `fuzz`")


def test_tests_tell_hypothesis_what_they_came_to(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, str]] = []
    monkeypatch.setattr(hypothesis, "target", lambda value, label: told.append((value, label)))
    config = Config.from_dict({"generation": {"maximize": ["response_time"]}})
    with serving(lambda _: json_reply({}), DOCUMENT) as app:
        schema = checker.openapi.from_dict(DOCUMENT, config=config)
        schema.config.update(base_url=app.url)

        @hypothesis.settings(max_examples=3, database=None, deadline=None)
        @hypothesis.given(case=schema["/a"]["POST"].as_strategy())
        def test(case: Any) -> None:
            case.call()

        test()
    assert len(told) >= 3
    assert {label for _, label in told} == {"response_time of POST /a"}
    assert all(value > 0 for value, _ in told)
