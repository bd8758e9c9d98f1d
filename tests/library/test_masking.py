"""Commands show what was drawn, whatever was added to a case since is masked by both rules."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import find

import checker

TEXT = {"type": "string", "enum": ["drawn"]}


def parameter(name: str, place: str = "query") -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": TEXT}


BODY = {"type": "object", "required": ["user_token"], "properties": {"user_token": TEXT}, "additionalProperties": False}
OPERATION = {
    "parameters": [
        parameter("sort_key"),
        parameter("page_key"),
        parameter("appid"),
        parameter("X-Token-Type", "header"),
    ],
    "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}},
    "responses": {"200": {"description": ""}},
}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Masking", "version": "1"},
    "components": {"securitySchemes": {"id": {"type": "apiKey", "in": "query", "name": "appid"}}},
    "paths": {"/a": {"post": OPERATION}},
}
MASKED = "%5BFiltered%5D"


@pytest.fixture
def schema(api) -> Any:
    found = checker.openapi.from_dict(DOCUMENT)
    found.config.update(base_url=api.url)
    found.config.generation.update(allow_extra_parameters=False)
    return found


@pytest.fixture
def case(schema) -> checker.Case:
    found: checker.Case = find(schema["/a"]["POST"].as_strategy(), lambda _: True)
    return found


def test_what_was_drawn_is_shown(case, api) -> None:
    assert case.as_curl_command() == (
        "curl -X POST -H 'Content-Type: application/json' -H 'X-Token-Type: drawn' "
        f"""-d '{{"user_token":"drawn"}}' '{api.url}/a?sort_key=drawn&page_key=drawn&appid={MASKED}'"""
    )


def changed_query(case: checker.Case) -> None:
    case.query["sort_key"] = "mine"


def changed_header(case: checker.Case) -> None:
    case.headers["X-Token-Type"] = "mine"


def changed_body(case: checker.Case) -> None:
    case.body["user_token"] = "mine"


@pytest.mark.parametrize(
    ("change", "hidden", "others"),
    [
        (changed_query, f"sort_key={MASKED}", ["page_key=drawn", "X-Token-Type: drawn"]),
        (changed_header, "X-Token-Type: [Filtered]", ["sort_key=drawn"]),
        (changed_body, '"user_token":"[Filtered]"', ["sort_key=drawn"]),
    ],
)
def test_what_was_changed_since_is_masked(
    case, change: Callable[[checker.Case], None], hidden: str, others: list[str]
) -> None:
    change(case)
    command = case.as_curl_command()
    assert "mine" not in command
    assert hidden in command
    assert all(other in command for other in others)


def test_what_is_given_with_a_call_is_masked(case, api) -> None:
    api.status, api.body = 500, {}
    given = {"headers": {"X-Session-Id": "mine"}, "params": {"page_key": "mine"}}
    with pytest.raises(checker.errors.FailureGroup) as caught:
        case.call_and_validate(**given)
    assert f"sort_key=drawn&page_key={MASKED}" in str(caught.value)
    assert "X-Session-Id: [Filtered]" in str(caught.value)
    assert "mine" not in str(caught.value)


def test_what_is_configured_is_masked(schema) -> None:
    schema.config.update(parameters={"query.sort_key": "mine"}, headers={"X-My-Key": "mine", "X-Mine": "shown"})
    case = find(schema["/a"]["POST"].as_strategy(), lambda _: True)
    command = case.as_curl_command()
    assert "X-Mine: shown" in command
    assert f"sort_key={MASKED}&page_key=drawn" in command
    assert "X-My-Key: [Filtered]" in command
    assert "mine" not in command


def test_what_was_drawn_is_masked_where_that_is_wanted(schema, case) -> None:
    schema.config.output.sanitization.update(generated=True)
    assert "drawn" not in case.as_curl_command()


def test_a_case_made_by_hand_is_from_outside(schema) -> None:
    made = schema["/a"]["POST"].Case(query={"sort_key": "mine"}, body={"user_token": "mine"})
    assert "mine" not in made.as_curl_command()
