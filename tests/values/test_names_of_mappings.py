"""Names that are the keys of a mapping: `{"cities": {...}, "rivers": {...}}`."""

import json
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.meta import CaseMetadata, GenerationMode, PhaseInfo
from checker.core.operation import BrokenOperation
from checker.core.request import Location
from checker.core.response import Response
from checker.openapi.resources import resource_model
from checker.values.harvest import value_at
from checker.values.pool import ValuePool
from tests.openapi.documents import opened

ALIKE = {"cities": {"type": "a", "title": "1"}, "hello-world": {"type": "b"}}


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/layers", ALIKE, {"cities", "hello-world"}),
        ("/layers", {"data": ALIKE}, {"cities", "hello-world"}),
        ("/config", {"server": {"port": 1}, "layers": ALIKE}, {"cities", "hello-world"}),
        ("/layers", {"layers": ALIKE, "total": 2}, {"cities", "hello-world"}),
        ("/layers", {"cities": {"type": "a"}}, set()),
        ("/layers", {"cities": {"type": "a"}, "extent": {"box": 1}}, set()),
        ("/layers", {"data": {"total": 1}, "meta": {"total": 1}}, set()),
        ("/layers", {"_links": {"self": 1}, "next": {"self": 1}}, set()),
        ("/config", {"limits": ALIKE}, set()),
        ("/layers", [{"id": "cities"}], {"cities"}),
    ],
    ids=["top", "wrapped", "elsewhere", "beside a count", "one", "not alike", "parts", "links", "of others", "a list"],
)
def test_keys_of_alike_objects_name_members(path: str, body: Any, expected: set[str]) -> None:
    name = {"name": "layerId", "in": "path", "required": True, "schema": {"type": "string"}}
    ok: dict[str, Any] = {"responses": {"200": {"description": ""}}}
    paths = {"/config": {"get": ok}, "/layers": {"get": ok}, "/layers/{layerId}": {"get": {"parameters": [name], **ok}}}
    found = [one for one in opened("3.0.3", paths).get_all_operations() if not isinstance(one, BrokenOperation)]
    pool = ValuePool(resource_model(found), lambda label: [])
    operation = next(one for one in found if one.label == f"GET {path}")
    case = Case(operation, "c", meta=CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("fuzzing")))
    response = Response(200, [("Content-Type", "application/json")], json.dumps(body).encode())
    pool.observe(case, response)
    view = pool.view(next(one for one in found if one.label == "GET /layers/{layerId}"))
    picked = [one for index in range(64) if (one := view.pick(Location.PATH, "layerId", index))]
    named = {one.literal for one in picked if one.pointer.endswith(("/~*", "/id"))}
    assert named == expected
    # The first name is read again where the case is repeated.
    assert {value_at(response, one.pointer) for one in picked if one.literal in named} <= {"cities"}
    if expected:
        assert picked[0].literal in expected
