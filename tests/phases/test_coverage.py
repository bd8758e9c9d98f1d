"""The coverage phase of one operation: each request once, and methods that nobody declared."""

from typing import Any

import pytest

from checker.core.case import NOT_SET, Case
from checker.core.meta import GenerationMode
from checker.core.request import LONGEST_TARGET, WireRequest
from checker.generation.boundaries.cases import BoundaryCase
from checker.generation.settings import GenerationSettings, ListingSettings
from checker.openapi.operation import OpenApiOperation
from checker.phases.listed_phases import edge_cases
from checker.phases.listing import ListingContext
from checker.transport.prepare import plain_maker
from tests.openapi.documents import opened, operation

INTEGER = {"type": "integer"}
MIXED = GenerationSettings(mode=None)
METHODS = ("GET", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "TRACE", "QUERY")


def listed(found: OpenApiOperation, settings: GenerationSettings = MIXED, **more: Any) -> list[Case]:
    context = ListingContext(settings, **more)
    return [one.case(found, str(number)) for number, one in enumerate(edge_cases(found, context))]


def scenario(case: Case) -> str | None:
    assert case.meta is not None
    return case.meta.phase.data["scenario"]


def tried(cases: list[Case]) -> list[str]:
    return [case.method for case in cases if scenario(case) == "unspecified_http_method"]


def things() -> dict[str, Any]:
    identifier = {"name": "id", "in": "path", "required": True, "schema": INTEGER}
    body = {"required": True, "content": {"application/json": {"schema": INTEGER}}}
    return {
        "/things/{id}": {"parameters": [identifier], "get": {}, "put": {"requestBody": body}},
        "/things/0": {"delete": {}},
    }


def of_things(label: str) -> OpenApiOperation:
    found = opened("3.0.3", things()).find(label)
    assert isinstance(found, OpenApiOperation)
    return found


def test_methods_that_no_template_has_are_tried_with_the_usual_request() -> None:
    cases = listed(of_things("PUT /things/{id}"))
    assert tried(cases) == ["POST", "OPTIONS", "PATCH", "TRACE", "QUERY"]
    for case in cases:
        if scenario(case) == "unspecified_http_method":
            request = plain_maker().make(case)
            assert (request.method, request.target) == (case.method, b"/things/0")
            assert request.body == b"0"
            assert case.meta is not None
            assert case.meta.mode is GenerationMode.NEGATIVE


def test_methods_are_tried_once_for_each_path() -> None:
    assert tried(listed(of_things("PUT /things/{id}"), is_first_of_path=False)) == []


def test_methods_are_those_that_are_asked_for() -> None:
    asked = GenerationSettings(mode=None, listing=ListingSettings(unexpected_methods=("PATCH", "GET")))
    assert tried(listed(of_things("GET /things/{id}"), asked)) == ["PATCH"]
    assert (
        tried(
            listed(
                of_things("GET /things/{id}"),
                GenerationSettings(mode=None, listing=ListingSettings(unexpected_methods=())),
            )
        )
        == []
    )


def test_valid_data_alone_tries_no_method() -> None:
    assert tried(listed(of_things("GET /things/{id}"), GenerationSettings())) == []


def test_what_is_one_request_on_the_wire_is_sent_once() -> None:
    parameters = [
        {"name": "q", "in": "query", "schema": {"type": ["integer", "string"], "enum": [1, "1"]}},
        {"name": "r", "in": "query", "schema": {"type": ["boolean", "string"], "enum": [True, "true"]}},
    ]
    found = operation({"parameters": parameters}, version="3.1.0")
    maker = plain_maker()
    written = []
    for case in listed(found):
        case.id = ""
        request = maker.make(case)
        assert case.meta is not None
        written.append((case.meta.mode, request.method, request.target, tuple(request.headers), request.body))
    assert len(written) == len(set(written))
    assert any(target == b"/a?q=1&r=true" for _, _, target, _, _ in written)


@pytest.mark.parametrize("place", ["path", "query", "header"])
def test_heads_that_no_server_need_take_are_left_out(place: str) -> None:
    """RFC 9110, 4.1, of targets; servers limit fields likewise."""
    long = {"type": "string", "minLength": 1, "maxLength": LONGEST_TARGET}
    of_path = {"name": "id", "in": "path", "required": True, "schema": INTEGER}
    ours = {"name": "p" if place != "path" else "id", "in": place, "required": True, "schema": long}
    parameters = [ours] if place == "path" else [of_path, ours]
    found = opened("3.0.3", {"/things/{id}": {"get": {"parameters": parameters}}}).find("GET /things/{id}")
    assert isinstance(found, OpenApiOperation)
    sent = [plain_maker().make(case) for case in listed(found)]
    sizes = [max(len(one.target), *(len(value) for _, value in one.headers)) for one in sent]
    assert max(sizes) <= LONGEST_TARGET
    # What is short of it by much is there.
    assert len(sizes) > 5


def test_bodies_may_be_longer() -> None:
    long = {"type": "string", "maxLength": LONGEST_TARGET * 2}
    body = {"content": {"application/json": {"schema": long}}}
    sent = [plain_maker().make(case).body or b"" for case in listed(operation({"requestBody": body}))]
    assert max(map(len, sent)) > LONGEST_TARGET * 2


def test_repeated_parameters_are_opt_in() -> None:
    found = operation({"parameters": [{"name": "q", "in": "query", "schema": INTEGER}]})
    assert "duplicate_parameter" not in map(scenario, listed(found))
    (case,) = (
        one
        for one in listed(found, GenerationSettings(mode=None, listing=ListingSettings(repeats_query=True)))
        if scenario(one) == "duplicate_parameter"
    )
    assert plain_maker().make(case).target == b"/a?q=0&q=0"


def test_each_case_says_what_it_is() -> None:
    body = {"required": True, "content": {"application/json": {"schema": {"type": "integer", "maximum": 5}}}}
    header = {"name": "X-H", "in": "header", "required": True, "schema": {"type": "string"}}
    found = operation({"parameters": [header], "requestBody": body}, method="post")
    said = {}
    for case in listed(found):
        assert case.meta is not None
        assert case.meta.phase.name == "coverage"
        said[case.meta.phase.data["description"]] = (case, case.meta.phase.data)
    _, data = said["Value greater than maximum"]
    assert data == {
        "scenario": "value_above_maximum",
        "description": "Value greater than maximum",
        "location": "#/paths/~1a/post/requestBody/content/application~1json/schema/maximum",
        "parameter": "application/json",
        "parameter_location": "body",
    }
    case, data = said["Missing `X-H` at header"]
    assert (data["parameter"], data["parameter_location"]) == ("X-H", "header")
    assert "X-H" not in case.headers
    case, data = said["Missing request body"]
    assert (case.body, data["parameter_location"]) == (NOT_SET, "body")
    for text in ("multipart/form-data without boundary", "text/plain"):
        assert any(text in str(description) for description in said)


def test_a_draft_is_written_as_its_case() -> None:
    found, maker = of_things("PUT /things/{id}"), plain_maker()
    edges = [one for one in edge_cases(found, ListingContext(MIXED)) if not isinstance(one, Case)]
    drafts = [maker.make(one.case(found, "")) for one in edges if isinstance(one, BoundaryCase)]
    assert len(drafts) == len(edges) > 10
    assert [_sent(one) for one in drafts] == [_sent(maker.make(one.case(found, ""))) for one in edges]


def _sent(request: WireRequest) -> tuple[object, ...]:
    return request.method, request.target, request.headers, request.body
