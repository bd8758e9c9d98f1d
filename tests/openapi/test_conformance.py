"""Validation of descriptions against the official schemas (`documents.validate`)."""

from typing import Any

import pytest

from checker.config.settings import FetchLimits
from checker.core.errors import LoaderError
from checker.kinds.sources import FetchOptions
from checker.openapi.loaders import from_dict

VALIDATING = FetchOptions(limits=FetchLimits(validate=True))
VERSIONS = ("2.0", "3.0.3", "3.1.0", "3.2.0")


def document(version: str, parameter: dict[str, Any], **info: Any) -> dict[str, Any]:
    key = "swagger" if version == "2.0" else "openapi"
    schema = {"schema": {"type": parameter["type"]}} if version != "2.0" else {"type": parameter["type"]}
    query = {"name": "q", "in": parameter["in"], **schema}
    operation = {"parameters": [query], "responses": {"200": {"description": "Fine"}}}
    return {key: version, "info": {"title": "T", "version": "1", **info}, "paths": {"/a": {"get": operation}}}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_description_that_breaks_the_official_schema_is_refused_with_each_place(version: str) -> None:
    broken = document(version, {"in": "queri", "type": "strin"}, description=5)
    del broken["info"]["version"]
    assert from_dict(broken).title == "T", "without validation it is read as far as possible"
    with pytest.raises(LoaderError, match="official schema") as refused:
        from_dict(broken, way=VALIDATING)
    text = "\n".join(refused.value.extras)
    assert "#/info/description: 5 is not of type 'string'" in text
    assert "#/info: 'version' is a required property" in text
    assert "#/paths/~1a/get/parameters/0/in: 'queri' is not one of [" in text
    if version != "2.0":
        assert "#/paths/~1a/get/parameters/0/schema/type: 'strin' is not one of [" in text


@pytest.mark.parametrize("version", VERSIONS)
def test_a_description_that_the_official_schema_accepts_is_read(version: str) -> None:
    assert from_dict(document(version, {"in": "query", "type": "string"}), way=VALIDATING).title == "T"


def test_a_missing_field_is_named_and_not_the_reference_that_could_stand_there() -> None:
    broken = document("3.0.3", {"in": "query", "type": "string"})
    broken["paths"]["/a"]["get"]["responses"]["200"] = {}
    with pytest.raises(LoaderError) as refused:
        from_dict(broken, way=VALIDATING)
    assert "#/paths/~1a/get/responses/200: 'description' is a required property" in refused.value.extras


def test_of_many_problems_the_first_are_listed() -> None:
    broken = document("3.1.0", {"in": "query", "type": "string"})
    broken["components"] = {"schemas": {f"S{number}": {"type": "strin"} for number in range(50)}}
    with pytest.raises(LoaderError) as refused:
        from_dict(broken, way=VALIDATING)
    assert "... and more" in refused.value.extras
    assert len(refused.value.extras) < 30


@pytest.mark.parametrize("version", VERSIONS)
def test_the_problems_are_the_same_among_a_thousand_valid_operations(version: str) -> None:
    broken = document(version, {"in": "queri", "type": "strin"}, description=5)
    valid = document(version, {"in": "query", "type": "string"})["paths"]["/a"]
    large = broken | {"paths": broken["paths"] | {f"/valid{number}": valid for number in range(1_000)}}
    with pytest.raises(LoaderError) as alone:
        from_dict(broken, way=VALIDATING)
    with pytest.raises(LoaderError) as among:
        from_dict(large, way=VALIDATING)
    assert among.value.extras == alone.value.extras
