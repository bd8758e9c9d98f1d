"""What valid cases show of a description: parts that they have, listed values, media types."""

from typing import Any

from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from checker.workers.recording.coverage import Showings, Shown, documented_types, enumerations_of
from tests.checks.asked import NEGATIVE, POSITIVE, Exchanges, operations_of

LABEL = "POST /pets/{kind}"
KIND = {"$ref": "#/components/schemas/Kind"}
PATHS = {
    "/pets/{kind}": {
        "post": {
            "parameters": [
                {"name": "kind", "in": "path", "required": True, "schema": KIND},
                {"name": "limit", "in": "query", "schema": {"type": "integer"}},
            ],
            "requestBody": {
                "content": {
                    "application/json": {
                        "schema": {
                            "allOf": [
                                {"properties": {"tags": {"items": {"enum": ["a", 1, True]}}}},
                                {"properties": {"kind": KIND, "id": {"enum": [7], "readOnly": True}}},
                            ]
                        }
                    }
                }
            },
            "responses": {
                "200": {"description": "ok", "content": {"application/json": {}, "text/*": {}}},
                "4XX": {"description": "no", "content": {"application/problem+json": {}}},
                "default": {"description": "else"},
            },
        }
    }
}
KINDS = {"schemas": {"Kind": {"type": "string", "enum": ["cat", "dog"]}}}


def operation() -> Operation:
    """The one of the description."""
    return operations_of(PATHS, components=KINDS)[LABEL]


def shown(*cases: tuple[dict[str, Any], int, str], mode: GenerationMode = POSITIVE) -> dict[tuple[str, str, int], int]:
    """(place, what, class of the status) -> cases."""
    exchanges, found = Exchanges(operations_of(PATHS, components=KINDS)), Shown()
    showings = Showings.of(operation())
    for parts, status, content_type in cases:
        case = exchanges.sent(LABEL, status, mode=mode, **parts).case
        found.note(case, showings, status, content_type)
    return {(place, what, status): count for _, place, what, status, count in found.counts()}


def test_enumerations_are_found_behind_references_and_in_bodies() -> None:
    found = {one.place: tuple(one.members.values()) for one in enumerations_of(operation())}
    assert found == {
        "path kind": ('"cat"', '"dog"'),
        "body tags[]": ('"a"', "1", "true"),
        "body kind": ('"cat"', '"dog"'),
    }


def test_documented_media_types_are_those_of_the_body_and_of_each_status() -> None:
    assert list(documented_types(operation())) == [
        ("body", "application/json"),
        ("answer 200", "application/json"),
        ("answer 200", "text/*"),
        ("answer 4XX", "application/problem+json"),
    ]


def test_valid_cases_count_for_what_they_have_and_for_what_came() -> None:
    json = {"path_parameters": {"kind": "cat"}, "media_type": "application/json"}
    body = {"kind": "dog", "tags": ["a", True, "unknown", 1]}
    found = shown(
        ({**json, "body": body}, 200, "application/json; charset=utf-8"),
        ({**json, "body": body}, 200, "text/plain"),
        ({"path_parameters": {"kind": "bird"}, "query": {"limit": 1}}, 422, "image/png"),
    )
    assert found == {
        ("path kind", "valid", 2): 2,
        ("path kind", '= "cat"', 2): 2,
        ("body", "valid", 2): 2,
        ("body", "as application/json", 2): 2,
        ("body kind", '= "dog"', 2): 2,
        ("body tags[]", '= "a"', 2): 2,
        ("body tags[]", "= true", 2): 2,
        ("body tags[]", "= 1", 2): 2,
        ("answer 200", "as application/json", 2): 1,
        ("answer 200", "as text/*", 2): 1,
        ("path kind", "valid", 4): 1,
        ("query limit", "valid", 4): 1,
    }


def test_of_wrong_cases_only_the_answer_counts() -> None:
    wrong = {"path_parameters": {"kind": "cat"}, "query": {"limit": "x"}}
    found = shown((wrong, 400, "application/problem+json"), mode=NEGATIVE)
    assert found == {("answer 4XX", "as application/problem+json", 4): 1}
