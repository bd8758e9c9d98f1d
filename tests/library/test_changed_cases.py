"""Cases that users change: types of their parts, their method."""

import pytest
from hypothesis import find

import checker

FORM = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "minLength": 1},
        "photo": {"type": "string", "format": "binary"},
        "tags": {"type": "object"},
    },
    "required": ["note", "photo", "tags"],
}


@pytest.fixture
def upload(document):
    encoding = {"note": {"contentType": "text/plain, text/markdown"}, "photo": {"contentType": "image/png"}}
    content = {"multipart/form-data": {"schema": FORM, "encoding": encoding}}
    post = {"requestBody": {"content": content, "required": True}, "responses": {}}
    document["paths"]["/photos"] = {"post": post}
    schema = checker.openapi.from_dict(document)
    schema.config.update(base_url="http://127.0.0.1")
    return schema["/photos"]["POST"]


@pytest.mark.thorough
def test_a_drawn_multipart_case_says_which_types_its_parts_have(upload) -> None:
    case = find(upload.as_strategy(generation_mode="positive"), lambda case: True)
    before = case.as_transport_kwargs()["data"]
    chosen = case.multipart_content_types
    assert set(chosen) == {"note", "photo"}
    assert chosen["photo"] == "image/png"
    assert chosen["note"] in ("text/plain", "text/markdown")
    sent = case.as_transport_kwargs()["data"]
    assert f'name="note"\r\nContent-Type: {chosen["note"]}\r\n'.encode() in sent
    assert sent == before


def test_types_of_parts_can_be_changed_where_they_are_told(upload) -> None:
    body = {"note": "a", "photo": b"b", "tags": {}}
    case = upload.Case(body=body)
    case.multipart_content_types["note"] = "text/x-mine"
    assert b"Content-Type: text/x-mine\r\n" in case.as_transport_kwargs()["data"]
    other = upload.Case(body=body, multipart_content_types={"note": "text/x-other"})
    assert other.multipart_content_types == {"note": "text/x-other"}


def test_cases_without_parts_have_no_types_of_parts(operation, case) -> None:
    assert case.multipart_content_types is None
    assert case.derive().multipart_content_types is None


def test_the_method_of_a_case_can_be_changed(case, api) -> None:
    case.method = "post"
    case.call()
    assert (case.method, api.requests[0][0]) == ("POST", "POST")
    assert case != case.operation.Case(path_parameters={"id": 7})
    case.method = "GET"
    assert not case.is_of_other_method


def test_a_method_that_nobody_declares_makes_a_drawn_case_negative(operation) -> None:
    case = find(operation.as_strategy(generation_mode="positive"), lambda case: True)
    modes = [case.meta.mode]
    for method in ("DELETE", "GET"):
        case.method = method
        modes.append(case.meta.mode)
    assert modes == ["positive", "negative", "positive"]


@pytest.mark.parametrize("status", [405, 200])
def test_answers_to_another_method_are_no_answers_of_the_operation(case, api, status) -> None:
    case.method = "DELETE"
    api.status, api.body = status, {"id": "of something else"}
    case.call_and_validate()
    api.status = 500
    with pytest.raises(checker.errors.FailureGroup, match="Server error"):
        case.call_and_validate()


def test_hooks_of_runs_change_methods_and_nothing_is_wrong_with_that(schema, api) -> None:
    @checker.hook
    def map_case(ctx, case):
        case.method = "DELETE"
        return case

    api.statuses = {"DELETE": 405}
    schema.config.generation.update(max_examples=5)
    result = checker.run(schema.include(path="/items/{id}"))
    assert {method for method, *_ in api.requests} == {"DELETE"}
    assert result.passed, result.findings
