"""Cases in the hands of users: copies, changes, sessions of their own."""

import copy
from typing import Any

import httpx
import pytest
import requests
from hypothesis import find

import checker


@pytest.fixture
def schema(document, api):
    found = checker.openapi.from_dict(document)
    found.config.update(base_url=api.url)
    found.config.phases.update(phases=["fuzzing"])
    return found


@pytest.fixture
def operation(schema):
    return schema["/items/{id}"]["GET"]


@pytest.fixture
def case(operation):
    return operation.Case(path_parameters={"id": 7}, query={"q": "a b"}, headers={"X-A": "1"})


def test_transport_arguments_send_the_case(case, api) -> None:
    arguments = case.as_transport_kwargs(headers={"X-B": "2"})
    assert (arguments["method"], arguments["url"]) == ("GET", f"{api.url}/items/7?q=a%20b")
    assert "data" not in arguments
    httpx.request(**arguments)
    _, path, headers, _ = api.requests[0]
    assert (path, headers["x-a"], headers["x-b"]) == ("/items/7?q=a%20b", "1", "2")


def test_transport_arguments_hold_the_body_as_bytes(schema) -> None:
    arguments = schema["/items"]["POST"].Case(body={"a": 1}).as_transport_kwargs("http://a/v1")
    assert arguments["url"] == "http://a/v1/items"
    assert arguments["data"] == b'{"a":1}'
    assert arguments["headers"]["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("path", {"id": 7}),
        ("query", {"q": "a b"}),
        ("header", {"X-A": "1"}),
        ("cookie", {}),
        ("body", None),
        ("nowhere", None),
    ],
)
def test_containers_by_location(case, location: str, expected: Any) -> None:
    assert case.get_container(location) == expected


def test_a_derived_case_is_another_one(case) -> None:
    made = case.derive(headers={"X-B": "2"}, query={"q": "z"})
    assert (made.headers, made.query) == ({"X-A": "1", "X-B": "2"}, {"q": "z"})
    assert (made.path_parameters, made.body) == ({"id": 7}, checker.NOT_SET)
    assert made.id != case.id
    assert case.query == {"q": "a b"}
    assert made.call().status_code == 200


def test_a_derived_case_leaves_credentials_out_unless_they_are_wanted(document, api) -> None:
    document["components"] = {
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    }
    document["security"] = [{"key": []}]
    case = checker.openapi.from_dict(document)["/items"]["POST"].Case(headers={"x-key": "s"})
    assert case.derive().headers == {}
    assert case.derive(keep_auth=True).headers == {"x-key": "s"}


def test_metadata_follow_what_users_make_of_a_case(operation) -> None:
    case = find(operation.as_strategy(), lambda case: True)
    assert case.meta.mode is checker.GenerationMode.POSITIVE
    case.path_parameters["id"] = "abc"
    assert case.meta.mode is checker.GenerationMode.NEGATIVE
    wrong = [place for place, part in case.meta.components.items() if part.mode.is_negative]
    assert [str(place) for place in wrong] == ["path"]
    case.path_parameters = {"id": 5}
    assert case.meta.mode is checker.GenerationMode.POSITIVE


def test_metadata_of_a_case_that_nobody_changed_are_as_drawn(operation) -> None:
    case = find(
        operation.as_strategy(generation_mode=checker.GenerationMode.NEGATIVE), lambda case: True
    )
    assert case.meta is case.meta
    assert case.meta.mode is checker.GenerationMode.NEGATIVE


def test_containers_hold_values(operation) -> None:
    case = find(operation.as_strategy(), lambda case: case.path_parameters["id"] > 3)
    assert case.path_parameters == {"id": 4}
    assert case.formatted_path == "/items/4"


def test_the_absent_body_survives_copies() -> None:
    assert copy.deepcopy(checker.NOT_SET) is checker.NOT_SET


def test_a_session_of_httpx_sends(case, api) -> None:
    with httpx.Client(headers={"X-Session": "yes"}) as session:
        response = case.call(session=session)
    assert (response.status_code, response.json()) == (200, {"id": 1})
    assert api.requests[0][1] == "/items/7?q=a%20b"
    assert api.requests[0][2]["x-session"] == "yes"
    assert api.requests[0][2]["x-checker-testcaseid"] == case.id


def test_a_session_of_requests_sends(case, api) -> None:
    with requests.Session() as session:
        session.headers["X-Session"] = "yes"
        response = case.call_and_validate(session=session)
    assert response.status_code == 200
    assert api.requests[0][1] == "/items/7?q=a%20b"
    assert api.requests[0][2]["x-session"] == "yes"


def test_the_base_url_of_a_session_serves_where_none_is_known(document, api) -> None:
    case = checker.openapi.from_dict(document)["/items"]["POST"].Case(body={})
    with httpx.Client(base_url=api.url) as session:
        assert case.call(session=session).status_code == 200


def test_credentials_are_given_as_user_and_password(case, api) -> None:
    case.call(auth=("user", "pass"))
    assert api.requests[0][2]["authorization"] == "Basic dXNlcjpwYXNz"


def test_objects_of_clients_authenticate(case, api) -> None:
    case.call(auth=httpx.BasicAuth("user", "pass"))
    assert api.requests[0][2]["authorization"] == "Basic dXNlcjpwYXNz"


def test_options_of_clients_are_handed_on(case, api) -> None:
    assert case.call(allow_redirects=False, timeout=5).status_code == 200


def test_what_is_no_client_is_refused(case) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="`session` must be a client of httpx"):
        case.call(session=object())


def test_what_a_case_says_itself_is_refused(case) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="a case says that itself"):
        case.call(json={})


def test_operations_are_asked_for_their_parameters(operation, schema) -> None:
    assert [one.name for one in operation.query] == ["q"]
    assert [one.name for one in operation.path_parameters] == ["id"]
    assert (operation.headers, operation.cookies, operation.body) == ((), (), ())
    assert [one.name for one in operation.iter_parameters()] == ["id", "q"]
    assert operation.get_parameter("q", "query").required is False
    assert operation.get_parameter("q", "path") is None
    with pytest.raises(checker.errors.IncorrectUsage, match="a location is one of path"):
        operation.get_parameter("q", "nowhere")
    both = schema["/both"]["POST"]
    assert both.get_request_payload_content_types() == [
        "application/json",
        "application/x-www-form-urlencoded",
    ]
    assert both.get_body_for_media_type("application/json").media_type == "application/json"
    assert both.get_body_for_media_type("text/plain") is None


def test_operations_judge_responses(operation) -> None:
    assert operation.is_valid_response(httpx.Response(200, json={"id": 1}))
    wrong = httpx.Response(200, json={"id": "x"})
    assert not operation.is_valid_response(wrong)
    with pytest.raises(checker.errors.FailureGroup, match="Response violates schema"):
        operation.validate_response(wrong)


def test_responses_of_clients_become_ours() -> None:
    found = checker.Response.from_httpx(httpx.Response(404, text="é", headers={"X-A": "1"}))
    assert (found.status_code, found.text, found.headers["x-a"]) == (404, "é", ["1"])
    assert checker.Response.from_any(found) is found
    with pytest.raises(TypeError, match="int is not a response"):
        checker.Response.from_any(1)
