"""What is promised of answers and cannot be judged is told, with its place."""

from typing import Any

import pytest

from .documents import contract

JSON_TYPE = "application/json"
WIDE = {"properties": {str(number): {"type": "string"} for number in range(20_001)}}
JSON_AT = "/content/application~1json"
LOST: list[tuple[Any, str, str]] = [
    ({"content": {JSON_TYPE: {"schema": {"$ref": "#/none"}}}}, f"{JSON_AT}/schema", "`#/none`"),
    ({"content": {JSON_TYPE: {"$ref": "#/none"}}}, JSON_AT, "`#/none`"),
    ({"content": {JSON_TYPE: {}}, "headers": {"X-A": {"$ref": "#/none"}}}, "/headers/X-A", "`#/none`"),
    (
        {"content": {JSON_TYPE: {}}, "headers": {"X-A": {"schema": {"$ref": "#/none"}}}},
        "/headers/X-A/schema",
        "`#/none`",
    ),
    ({"content": {JSON_TYPE: {"schema": WIDE}}}, f"{JSON_AT}/schema", "holds more than 20,000 schemas"),
    ({"content": {"*/*": {"schema": WIDE}}}, "/content/*~1*/schema", "holds more than 20,000 schemas"),
    (
        {"content": {"application/pdf": {"schema": {"type": "object"}}}},
        "/content/application~1pdf",
        "the media type application/pdf is not read",
    ),
    ({"$ref": "#/none"}, "", "`#/none`"),
]


@pytest.mark.parametrize(("response", "at", "reason"), LOST)
def test_what_is_not_validated_is_told_with_its_place(response: Any, at: str, reason: str) -> None:
    kind = next(iter(response.get("content", {JSON_TYPE: {}})))
    promised = contract({"200": response})
    plan = promised.plan(200, kind)
    assert plan.body is None
    assert plan.headers is None
    (fault,) = promised.unvalidated()
    assert fault.pointer == f"#/paths/~1a/get/responses/200{at}"
    assert reason in fault.reason


def test_one_form_that_is_read_is_enough() -> None:
    content = {kind: {"schema": {"type": "object"}} for kind in ("application/pdf", JSON_TYPE)}
    assert list(contract({"200": {"content": content}}).unvalidated()) == []
