"""What the usual request of an operation leaves out, and what lists of a query hold."""

from collections import Counter
from typing import Any

import pytest

from checker.core.meta import GenerationMode
from checker.core.operation import Location
from checker.core.scenarios import Scenario
from tests.generation.boundaries.test_operations import described, listed, operation_of
from tests.generation.making import parameter_of


@pytest.mark.parametrize(
    ("location", "name"), [(Location.HEADER, "If-Match"), (Location.QUERY, "page_token")]
)
def test_what_is_mostly_refused_stands_in_cases_of_its_own(location: Location, name: str) -> None:
    text = {"type": "string"}
    refused = parameter_of(text, location, name, required=False)
    other = parameter_of(text, location, "other", required=False)
    found = listed(operation_of(refused, other, body={"type": "integer", "maximum": 5}))
    of_body = [case for case in found if case.location is Location.BODY]
    assert {tuple(case.parts.containers.get(location, {})) for case in of_body} >= {("other",)}
    assert all(name not in case.parts.containers.get(location, {}) for case in of_body)
    assert any(case.parameter == name for case in found)


@pytest.mark.parametrize(
    ("schema", "usual"), [({"type": "string"}, "*"), ({"type": "string", "minLength": 4}, "0000")]
)
def test_a_required_condition_holds_in_usual_requests(schema: dict[str, Any], usual: str) -> None:
    condition = parameter_of(schema, Location.HEADER, "If-Match", required=True)
    found = listed(operation_of(condition, body={"type": "integer", "maximum": 5}))
    of_body = [case for case in found if case.location is Location.BODY]
    assert len(of_body) > 2
    assert {case.parts.containers[Location.HEADER]["If-Match"] for case in of_body} == {usual}


def test_marks_of_pages_stand_in_bodies_that_are_about_them() -> None:
    names = ("limit", "cursor", "name")
    body = {"properties": {name: {"type": "string"} for name in names}, "required": ["name"]}
    found = listed(operation_of(body={"type": "object", **body}), mode=GenerationMode.POSITIVE)
    with_mark = [one for one in found if "cursor" in one.parts.body]
    assert found[0].parts.body.keys() == {"limit", "name"}
    assert all("'cursor'" in one.description for one in with_mark)
    assert len(with_mark) > 2


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
