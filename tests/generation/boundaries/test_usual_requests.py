"""What the usual request of an operation leaves out, and what lists of a query hold."""

from collections import Counter
from typing import Any

import pytest

from checker.core.meta import GenerationMode
from checker.core.operation import Location
from checker.core.scenarios import Scenario
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.settings import GenerationSettings
from tests.generation.boundaries.test_operations import described, listed, operation_of
from tests.generation.making import parameter_of
from tests.openapi.documents import operation

TEXT = {"type": "string"}


@pytest.mark.parametrize(("location", "name"), [(Location.HEADER, "If-Match"), (Location.QUERY, "page_token")])
def test_what_is_mostly_refused_stands_in_cases_of_its_own(location: Location, name: str) -> None:
    refused = parameter_of({"type": "string"}, location, name, required=False)
    other = parameter_of({"enum": ["a"]}, location, "other", required=False)
    found = listed(operation_of(refused, other, body={"type": "integer", "maximum": 5}))
    of_body = [case for case in found if case.location is Location.BODY]
    assert {tuple(case.parts.containers.get(location, {})) for case in of_body} >= {("other",)}
    assert all(name not in case.parts.containers.get(location, {}) for case in of_body)
    assert any(case.parameter == name for case in found)


@pytest.mark.parametrize(("schema", "usual"), [({"type": "string"}, "*"), ({"type": "string", "minLength": 4}, "0000")])
def test_a_required_condition_holds_in_usual_requests(schema: dict[str, Any], usual: str) -> None:
    condition = parameter_of(schema, Location.HEADER, "If-Match", required=True)
    found = listed(operation_of(condition, body={"type": "integer", "maximum": 5}))
    of_body = [case for case in found if case.location is Location.BODY]
    assert len(of_body) > 2
    assert {case.parts.containers[Location.HEADER]["If-Match"] for case in of_body} == {usual}


def test_marks_of_pages_stand_in_bodies_that_are_about_them() -> None:
    listed_one = {"enum": ["a", "b"]}
    names = {"limit": listed_one, "cursor": TEXT, "name": listed_one}
    body = {"properties": names, "required": ["name"]}
    found = listed(operation_of(body={"type": "object", **body}), mode=GenerationMode.POSITIVE)
    with_mark = [one for one in found if "cursor" in one.parts.body]
    assert found[0].parts.body.keys() == {"name"}
    assert found[1].parts.body.keys() == {"limit", "name"}
    assert all("'cursor'" in one.description for one in with_mark)
    assert len(with_mark) > 2


GIVEN: list[dict[str, Any]] = [
    {**TEXT, "default": "a"},
    {**TEXT, "example": "a"},
    {**TEXT, "enum": ["a", "b"]},
    {"const": "a"},
    {"type": "boolean"},
    {"anyOf": [{"enum": ["a"]}, {"type": "null"}]},
    {"type": "object", "required": ["x"], "properties": {"x": {"enum": ["a"]}, "y": TEXT}},
    {"type": "array", "minItems": 1, "items": {"enum": ["a"]}},
]
INVENTED: list[dict[str, Any]] = [
    TEXT,
    {"type": "integer", "minimum": 1},
    {**TEXT, "format": "date"},
    {**TEXT, "maxLength": 3, "default": "too long"},
    {"anyOf": [TEXT, {"enum": ["a"]}]},
    {"type": "object", "required": ["x"], "properties": {"x": TEXT, "y": {"enum": ["a"]}}},
    {"type": "array", "items": {"enum": ["a"]}},
]


@pytest.mark.parametrize(("schema", "is_usual"), [*((one, True) for one in GIVEN), *((one, False) for one in INVENTED)])
def test_usual_bodies_have_optional_properties_with_values_of_the_description(
    schema: dict[str, Any], *, is_usual: bool
) -> None:
    names = {"name": TEXT, "other": schema}
    body = {"type": "object", "required": ["name"], "properties": names}
    found = listed(operation_of(body=body), mode=GenerationMode.POSITIVE)
    assert found[0].parts.body.keys() == {"name"}
    assert ("other" in found[1].parts.body) is is_usual
    assert any("other" in case.parts.body for case in found)
    about_name = [case for case in found if "'name'" in case.description]
    assert len(about_name) > 3
    assert {"other" in case.parts.body for case in about_name} == {is_usual}


@pytest.mark.parametrize("location", [Location.QUERY, Location.HEADER, Location.COOKIE])
@pytest.mark.parametrize(
    ("schema", "is_usual"), [({**TEXT, "default": "a"}, True), ({"enum": ["a"]}, True), (TEXT, False)]
)  # fmt: skip
def test_usual_requests_have_optional_parameters_with_values_of_the_description(
    location: Location, schema: dict[str, Any], *, is_usual: bool
) -> None:
    needed = parameter_of({"type": "integer", "maximum": 5}, name="needed")
    other = parameter_of(schema, location, "other", required=False)
    found = listed(operation_of(needed, other))
    about_needed = [case for case in found if case.parameter == "needed"]
    sent = {"other" in case.parts.containers.get(location, {}) for case in about_needed}
    # Errors of a required parameter are tried without optional ones, too.
    assert is_usual in sent
    assert is_usual or len(sent) == 1
    assert any(case.parameter == "other" and case.location is location for case in found)


def test_a_required_parameter_has_its_turn_before_optional_ones() -> None:
    optional = parameter_of(TEXT, Location.HEADER, "X-Version", required=False)
    needed = parameter_of({"type": "integer", "maximum": 5}, name="limit")
    about = [case.parameter for case in listed(operation_of(optional, needed)) if case.parameter]
    assert "X-Version" not in about[: about.index("X-Version")]
    assert about[0] == "limit"


@pytest.mark.parametrize("method", ["post", "patch"])
def test_only_bodies_of_patch_are_empty_where_nothing_is_required(method: str) -> None:
    body = {"type": "object", "properties": {"name": TEXT, "note": TEXT}}
    content = {"application/json": {"schema": body}}
    found = operation({"requestBody": {"content": content}}, path="/things", method=method)
    settings = GenerationSettings(mode=GenerationMode.POSITIVE)
    cases = list(OperationEdges(found, settings, Coverage()).cases())
    assert set(cases[0].parts.body) == ({"name", "note"} if method == "post" else set())
    assert {"name": "0", "note": "0"} in [case.parts.body for case in cases]
    assert {} in [case.parts.body for case in cases]


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize(("name", "times"), [("Idempotency-Key", 2), ("X-Key", 1)])
def test_right_idempotency_keys_are_sent_twice(name: str, times: int, *, required: bool) -> None:
    key = parameter_of({"type": "string", "minLength": 8}, Location.HEADER, name, required=required)
    found = listed(operation_of(key, body={"type": "integer", "maximum": 5}))
    of_key = [case for case in found if case.parameter == name and case.mode == "positive"]
    sent = Counter(case.parts.containers[Location.HEADER][name] for case in of_key)
    assert max(sent.values()) == times
    assert len({case.key for case in found}) == len(found)


@pytest.mark.parametrize(("items", "is_sent"), [({}, True), ({"minLength": 1}, False)])
def test_an_item_of_a_query_is_empty_once(items: dict[str, Any], is_sent: bool) -> None:
    texts = {"type": "array", "items": {"type": "string", **items}}
    cases = listed(operation_of(parameter_of(texts, name="tag")))
    cases = [case for case in cases if case.scenario is not Scenario.EMPTY_LIST]
    found = described(cases, Location.QUERY)
    assert (({"tag": [""]}, "Array with valid item: Empty string") in found) is is_sent
    assert sum("" in (sent or {}).get("tag", ()) for sent, _ in found) == is_sent
