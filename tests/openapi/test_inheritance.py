"""Requests with a schema that others extend by `allOf`: its discriminator names the schema that is meant."""

from typing import Any

import pytest

from checker.core.contract import Outcome

from .judging import AMBIGUOUS, INVALID, VALID, bodied, judge


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _heir(name: str, kind: str) -> dict[str, Any]:
    own = {"type": "object", "required": [name], "properties": {name: {"type": kind}}}
    return {"allOf": [_ref("Pet"), own]}


def _schemas(discriminator: Any) -> dict[str, Any]:
    pet = {"type": "object", "required": ["petType"], "properties": {"petType": {"type": "string"}}}
    pet["discriminator"] = discriminator
    return {"Pet": pet, "Cat": _heir("lives", "integer"), "Dog": _heir("bark", "string")}


JUDGED: list[tuple[str, Outcome]] = [
    ('{"petType": "Cat", "lives": 9}', VALID),
    ('{"petType": "Cat"}', INVALID),
    ('{"petType": "Dog", "bark": 9}', INVALID),
    ('{"petType": "Pet"}', AMBIGUOUS),
    ('{"petType": ""}', AMBIGUOUS),
    ('{"petType": 1}', INVALID),
]


@pytest.mark.parametrize(("body", "outcome"), JUDGED)
@pytest.mark.parametrize("place", ["alone", "list", "property", "union"])
def test_a_value_is_held_to_the_schema_that_it_names(body: str, outcome: Outcome, place: str) -> None:
    schema, sent = _ref("Pet"), body
    if place == "list":
        schema, sent = {"type": "array", "items": schema}, f'[{{"petType": "Dog", "bark": ""}}, {body}]'
    elif place == "property":
        schema, sent = {"type": "object", "properties": {"pet": schema}}, f'{{"pet": {body}}}'
    elif place == "union":
        schema = {"anyOf": [schema, {"type": "array"}]}
        outcome = AMBIGUOUS if body == '{"petType": "Cat"}' or body.endswith('"bark": 9}') else outcome
    components = {"schemas": _schemas({"propertyName": "petType"})}
    verdict = judge(
        bodied(application__json=schema),
        "/a",
        (("Content-Type", "application/json"),),
        sent.encode(),
        method="post",
        components=components,
    )
    assert verdict.outcome is outcome
