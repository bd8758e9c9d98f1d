"""Operations without positive cases are found."""

import json
from pathlib import Path
from typing import Any

from tests.measuring.positives_missing import Place, look

NOTHING = {"type": "integer", "minimum": 2, "maximum": 1}


def operation(schema: dict[str, Any], *, required: bool) -> dict[str, Any]:
    parameter = {"name": "q", "in": "query", "required": required, "schema": schema}
    return {"parameters": [parameter], "responses": {"200": {"description": "fine"}}}


def test_what_nobody_can_send_is_found(tmp_path: Path) -> None:
    paths = {
        "/fine": {"get": operation({"type": "integer"}, required=True)},
        "/never": {"get": operation(NOTHING, required=True)},
        "/less": {"get": operation(NOTHING, required=False)},
        "/broken": {"get": {"parameters": [7]}},
    }
    document = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths}
    path = tmp_path / "some.json"
    path.write_text(json.dumps(document))
    found = look(path)
    assert found.operations == 4
    assert [place.name for place in found.without] == [
        "GET /never",
        "#/paths/~1less/get/parameters/0/schema/maximum",
        "GET /broken",
    ]
    assert "exclude every number" in found.without[Place("some.json", "GET /never")]


def test_a_document_that_cannot_be_opened_is_found(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text("{}")
    assert list(look(path).without) == [Place("none.json", "*")]
