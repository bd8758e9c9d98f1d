"""`[[operations]]` in the Python library: each operation is made, sent and judged as its block says."""

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings

import checker
from checker.core.operation import BrokenOperation
from checker.generation.boundaries.values import likeness

PATHS = {
    path: {
        "get": {
            "parameters": [{"name": "q", "in": "query", "required": True, "schema": {"enum": [1, 2, 3]}}],
            "responses": {"200": {"description": ""}},
        }
    }
    for path in ("/a", "/b")
}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": PATHS}


def opened(block: dict[str, Any], **root: Any) -> Any:
    operations = [{"include-path": "/a", **block}]
    config = checker.Config.from_dict({**root, "operations": operations}, environment={})
    return checker.openapi.from_dict(DOCUMENT, config=config)


def labels(schema: Any) -> list[str]:
    return [one.label for one in schema.get_all_operations()]


@pytest.mark.parametrize("block", [{"enabled": False}, {"phases": {"enabled": False}}], ids=str)
def test_operations_that_are_switched_off_are_not_tested(block: dict[str, Any]) -> None:
    schema = opened(block)
    assert labels(schema) == ["GET /b"]
    # Whoever names one has it.
    assert schema["/a"]["GET"].label == "GET /a"


def test_what_cannot_be_read_is_switched_off_as_well() -> None:
    document = {**DOCUMENT, "paths": {"/a": {"get": {"parameters": 1}}, "/b": PATHS["/b"]}}
    config = checker.Config.from_dict({"operations": [{"include-path": "/a", "enabled": False}]}, environment={})
    schema = checker.openapi.from_dict(document, config=config)
    assert not any(isinstance(one, BrokenOperation) for one in schema.get_all_operations())
    assert labels(schema) == ["GET /b"]


def test_headers_of_an_operation_are_sent_to_it_alone() -> None:
    schema = opened({"headers": {"X-Own": "1"}}, headers={"X-All": "2"})
    commands = [schema[path]["GET"].Case(query={"q": 1}).as_curl_command() for path in PATHS]
    assert ["X-Own: 1" in command for command in commands] == [True, False]
    assert all("X-All: 2" in command for command in commands)


def test_an_operation_is_judged_by_its_own_checks() -> None:
    schema = opened({"checks": {"not_a_server_error": {"enabled": False}}})
    schema.config.update(base_url="http://127.0.0.1:9")
    schema.config.checks.update(excluded_check_names=["status_code_conformance"])
    answer: Any = httpx.Response(500, request=httpx.Request("GET", "http://127.0.0.1:9/a?q=1"))
    schema["/a"]["GET"].Case(query={"q": 1}).validate_response(answer)
    with pytest.raises(checker.errors.FailureGroup):
        schema["/b"]["GET"].Case(query={"q": 1}).validate_response(answer)


def drawn(schema: Any, path: str) -> list[Any]:
    cases: list[Any] = []

    @settings(max_examples=40, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(schema[path]["GET"].as_strategy())
    def collect(case: checker.Case) -> None:
        cases.append(case)

    collect()
    return cases


def test_an_operation_is_generated_in_its_own_way() -> None:
    schema = opened({"generation": {"mode": "negative"}})
    modes = [{case.meta.generation.mode for case in drawn(schema, path)} for path in PATHS]
    assert modes == [{checker.GenerationMode.NEGATIVE}, {checker.GenerationMode.POSITIVE}]


def test_unique_inputs_are_drawn_once() -> None:
    narrow = {"generation": {"unique-inputs": True, "allow-extra-parameters": False}}
    schema = opened(narrow)
    found = [likeness(case) for case in drawn(schema, "/a")]
    assert len(found) == len(set(found)) > 1


def test_a_failing_unique_input_is_replayed_and_shrunk() -> None:
    schema = opened({"generation": {"unique-inputs": True}})
    seen: list[int] = []

    @settings(max_examples=40, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(schema["/a"]["GET"].as_strategy())
    def fails(case: checker.Case) -> None:
        seen.append(case.query["q"])
        assert case.query["q"] != 3

    with pytest.raises(AssertionError):
        fails()
    assert seen[-1] == 3


def test_cases_made_by_hand_have_what_the_configuration_forces() -> None:
    schema = opened({"parameters": {"q": 2}}, **{"base-url": "http://127.0.0.1:1"})
    assert schema["/a"]["GET"].Case().query == {"q": 2}
    assert schema["/a"]["GET"].Case(query={"z": 1}).as_curl_command().endswith("/a?z=1&q=2'")
    # What the caller says wins, and other operations are none of that block.
    assert schema["/a"]["GET"].Case(query={"q": 3}).query == {"q": 3}
    assert schema["/b"]["GET"].Case().query == {}
