"""Cases in the hands of users: copies, changes, sessions of their own."""

import asyncio
import copy
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx
import pytest
import requests
from hypothesis import find

import checker


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
        ("body", checker.NOT_SET),
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
    document["components"] = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}
    document["security"] = [{"key": []}]
    case = checker.openapi.from_dict(document)["/items"]["POST"].Case(headers={"x-key": "s"})
    assert case.derive().headers == {}
    assert case.derive(keep_auth=True).headers == {"x-key": "s"}


def test_metadata_follow_what_users_make_of_a_case(operation) -> None:
    case = find(operation.as_strategy(), lambda case: True)
    assert case.meta is not None
    assert case.meta.mode == "positive"
    case.path_parameters["id"] = "abc"
    assert case.meta.mode == "negative"
    wrong = [place for place, part in case.meta.components.items() if part.mode.is_negative]
    assert [str(place) for place in wrong] == ["path"]
    case.path_parameters = {"id": 5}
    assert case.meta.mode is checker.GenerationMode.POSITIVE


@pytest.mark.thorough
def test_metadata_of_a_case_that_nobody_changed_are_as_drawn(operation) -> None:
    case = find(operation.as_strategy(generation_mode=checker.GenerationMode.NEGATIVE), lambda case: True)
    assert case.meta is case.meta
    assert case.meta.mode is checker.GenerationMode.NEGATIVE


def test_containers_hold_values(operation) -> None:
    case = find(operation.as_strategy(), lambda case: case.path_parameters["id"] > 3)
    assert case.path_parameters == {"id": 4}
    assert case.formatted_path == "/items/4"


def test_the_absent_body_survives_copies() -> None:
    assert copy.deepcopy(checker.NOT_SET) is checker.NOT_SET


def test_a_deep_copy_of_a_case_is_sent_alone(operation, api) -> None:
    drawn = find(operation.as_strategy(), lambda case: True)
    drawn.call()
    other = copy.deepcopy(drawn)
    assert other == drawn
    other.query["q"] = "changed"
    other.headers["X-Other"] = "yes"
    other.call()
    assert "q" not in drawn.query
    assert "X-Other" not in drawn.headers
    assert [asked[1] for asked in api.requests] == ["/items/0", "/items/0?q=changed"]


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


def test_threads_call_at_the_same_time(schema, api) -> None:
    cases = [schema["/items/{id}"]["GET"].Case(path_parameters={"id": number}) for number in range(2)]
    cases[0].call()
    api.together = Barrier(2, timeout=30)
    with ThreadPoolExecutor(2) as threads:
        responses = list(threads.map(lambda case: case.call_and_validate(), cases))
    assert [response.request.target for response in responses] == [b"/items/0", b"/items/1"]


def test_an_asynchronous_client_is_refused_and_can_send_by_itself(case, api) -> None:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient() as client:
            with pytest.raises(checker.errors.IncorrectUsage, match="`session` is asynchronous"):
                case.call(session=client)
            return await client.request(**case.as_transport_kwargs())

    response = asyncio.run(ask())
    case.validate_response(response)
    assert [path for _, path, _, _ in api.requests] == ["/items/7?q=a%20b"]


def test_a_path_parameter_without_a_value_is_named(schema, api) -> None:
    operation = schema["/items/{id}"]["GET"]
    message = r"GET /items/{id} needs `path_parameters` with id, got {'idd': 1}"
    with pytest.raises(checker.errors.IncorrectUsage, match=message):
        operation.Case(path_parameters={"idd": 1}).call()
    assert api.requests == []


def test_what_a_case_says_itself_is_refused(case) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="the case decides this"):
        case.call(content=b"")


@pytest.mark.parametrize(
    ("given", "content_type", "body"),
    [
        ({"json": {"a": 1}}, "application/json", b'{"a":1}'),
        ({"data": b"a: 1"}, "application/json", b"a: 1"),
        ({"data": "a: 1", "headers": {"content-type": "application/yaml"}}, "application/yaml", b"a: 1"),
        ({"data": {"a": 1, "b": "x y"}}, "application/x-www-form-urlencoded", b"a=1&b=x+y"),
        ({"data": [("a", "1"), ("a", "2")]}, "application/x-www-form-urlencoded", b"a=1&a=2"),
    ],
)
def test_a_body_of_the_caller_is_sent_in_place_of_the_case_s(schema, api, given, content_type, body) -> None:
    case = schema["/items"]["POST"].Case(body={"name": "mine"})
    case.call(**given)
    _, _, headers, sent = api.requests[-1]
    assert headers["content-type"] == content_type
    assert sent.replace(b"%20", b"+") == body
    assert case.body == {"name": "mine"}


def test_files_of_the_caller_are_sent_beside_fields(schema, api) -> None:
    case = schema["/items"]["POST"].Case(body={})
    for _ in range(2):
        case.call(files={"photo": ("a.png", b"PNG", "image/png")}, data={"title": "x"})
    _, _, headers, sent = api.requests[-1]
    assert headers["content-type"].startswith("multipart/form-data; boundary=")
    assert b'name="photo"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nPNG' in sent
    assert b'name="title"\r\n\r\nx' in sent
    assert sent == api.requests[-2][3]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"json": {}, "data": "x"}, "either `json`, or `data` and `files`"),
        ({"data": 3}, "`data` must be text, bytes, a dict, or pairs of a name and a value, got 3"),
        ({"files": {"a": 3}}, "`files` must be what clients take"),
    ],
)
def test_bodies_that_cannot_be_sent_are_named(schema, given, told: str) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match=told):
        schema["/items"]["POST"].Case(body={}).call(**given)


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
    assert both.get_request_payload_content_types() == ["application/json", "application/x-www-form-urlencoded"]
    assert both.get_body_for_media_type("application/json").media_type == "application/json"
    assert both.get_body_for_media_type("text/plain") is None


def test_operations_judge_responses(operation) -> None:
    assert operation.is_valid_response(httpx.Response(200, json={"id": 1}))
    wrong = httpx.Response(200, json={"id": "x"})
    assert not operation.is_valid_response(wrong)
    with pytest.raises(checker.errors.FailureGroup, match="Response violates schema"):
        operation.validate_response(wrong)


def test_checks_of_what_was_sent_say_that_nobody_knows_it(case) -> None:
    answer = checker.Response(200, [("Content-Type", "application/json")], b'{"id": 1}')
    case.validate_response(answer)
    with pytest.raises(checker.errors.IncorrectUsage, match="which this response does not contain; give it"):
        case.validate_response(answer, checks=["negative_data_rejection"])


def test_responses_of_clients_become_ours() -> None:
    found = checker.Response.from_httpx(httpx.Response(404, text="é", headers={"X-A": "1"}))
    assert (found.status_code, found.text, found.headers["x-a"]) == (404, "é", ["1"])
    assert checker.Response.from_any(found) is found
    with pytest.raises(TypeError, match="int is not a response"):
        checker.Response.from_any(1)


def test_cases_are_equal_when_they_send_the_same(operation) -> None:
    def case(**parts: Any) -> Any:
        return operation.Case(path_parameters={"id": 7}, **parts)

    assert case(headers={"X-A": "1", "b": "2"}) == case(headers={"B": "2", "x-a": "1"})
    assert len({case(query={"q": "1"}), case(query={"q": "1"}), case(query={"q": 1})}) == 2
    assert case(method="DELETE") != case()
    assert case() != 7


def test_another_verb_is_sent(operation, api) -> None:
    case = operation.Case(path_parameters={"id": 7}, method="post")
    assert case.method == "POST"
    case.call()
    assert api.requests[0][0] == "POST"


@pytest.mark.thorough
def test_frozen_metadata_stay_as_they_were(operation) -> None:
    drawn = find(operation.as_strategy(), lambda case: True)
    drawn.freeze_metadata()
    drawn.path_parameters["id"] = "seven"
    assert drawn.meta.mode is checker.GenerationMode.POSITIVE
    other = find(operation.as_strategy(), lambda case: True)
    other.path_parameters["id"] = "seven"
    assert other.meta.mode is checker.GenerationMode.NEGATIVE


def test_the_command_goes_to_the_given_place(case) -> None:
    command = case.as_curl_command({"X-B": "2"}, False, base_url="http://there/v1")
    assert command == "curl -X GET --insecure -H 'X-B: 2' -H 'X-A: 1' 'http://there/v1/items/7?q=a%20b'"


def test_headers_of_the_caller_stand_in_the_told_command(case) -> None:
    with pytest.raises(checker.errors.FailureGroup) as caught:
        case.validate_response(
            checker.Response(500, [], b""), headers={"X-Mine": "1"}, transport_kwargs={"verify": False}
        )
    assert "--insecure -H 'X-Mine: 1' -H 'X-A: 1'" in str(caught.value)
    # Also beside what a client says that it sent.
    sent = httpx.Response(500, request=httpx.Request("GET", "http://127.0.0.1/", headers={"x-a": "2"}))
    with pytest.raises(checker.errors.FailureGroup) as caught:
        case.validate_response(sent, headers={"X-Mine": "1", "X-A": "3"})
    assert "curl -X GET -H 'x-a: 2' -H 'X-Mine: 1' http://127.0.0.1/" in str(caught.value)


def test_users_without_names_have_no_identity(case) -> None:
    assert case.auth_identity is None


def test_what_a_client_sent_comes_with_its_response(case, api) -> None:
    sent = requests.post(f"{api.url}/items?a=1", data=b"{}", headers={"X-Mine": "1"}, timeout=10)
    told = checker.Response.from_requests(sent)
    assert told.request is not None
    assert (told.request.method, told.request.target) == ("POST", b"/items?a=1")
    assert told.request.body == b"{}"
    assert told.request.header(b"x-mine") == b"1"
    assert told.http_version == "1.0"
    with httpx.Client() as client:
        told = checker.Response.from_httpx(client.get(f"{api.url}/items/7"))
    assert told.request is not None
    assert (told.request.method, told.request.target) == ("GET", b"/items/7")


def test_the_request_of_a_response_is_read_as_in_any_client(case, api) -> None:
    response = case.call(headers={"X-Mine": "1"})
    assert response.request.method == "GET"
    assert response.request.url == f"{api.url}/items/7?q=a%20b"
    assert response.request.headers["x-mine"] == "1"
    assert response.request.headers["User-Agent"] == f"checker/{checker.__version__}"
    assert "Authorization" not in response.request.headers
    with requests.Session() as session:
        sent = case.call(session=session)
    assert sent.request.url == response.request.url


def test_the_told_command_goes_to_where_the_request_went(case, api) -> None:
    elsewhere = api.url.replace("127.0.0.1", "localhost")
    api.status = 500
    response = case.call(base_url=elsewhere)
    with pytest.raises(checker.errors.FailureGroup, match=f"{elsewhere}/items/7"):
        case.validate_response(response)


def test_the_told_command_holds_nothing_that_a_client_adds_to_each_request(schema, api) -> None:
    api.status = 500
    operation = schema["/items/{id}"]["GET"]
    for client in (requests, httpx):
        answer = client.get(f"{api.url}/items/7", headers={"X-Mine": "1"})
        with pytest.raises(checker.errors.FailureGroup) as caught:
            operation.validate_response(answer)
        told = str(caught.value)
        assert told.startswith("1. GET /items/{id}\n")
        command = told.rpartition("\n")[2].strip()
        assert command.lower() == f"curl -x get -h 'x-mine: 1' {api.url}/items/7"


def test_users_code_in_runs_reads_requests_in_the_same_way(schema, api) -> None:
    seen: dict[str, list[tuple[str, str]]] = {"hook": [], "check": []}

    @checker.hook
    def after_call(ctx, case, response) -> None:
        sent = response.request
        seen["hook"].append((sent.url, sent.headers["User-Agent"]))

    @checker.check
    def reads_requests(ctx, response, case) -> None:
        sent = response.request
        seen["check"].append((sent.url, sent.headers["User-Agent"]))

    schema.config.generation.update(max_examples=5)
    result = checker.run(schema.include(path="/items/{id}"))
    assert not result.errors
    for told in seen.values():
        assert told
        assert all(url.startswith(f"{api.url}/items/") for url, _ in told)


def test_operations_say_what_is_declared(schema) -> None:
    operation = schema["/items/{id}"]["GET"]
    assert operation.full_path == "/items/{id}"
    assert operation.schema is schema
    assert operation.app is None
    assert operation.definition.raw is schema.raw_schema["paths"]["/items/{id}"]["get"]
    assert list(operation.responses) == ["200"]
    assert operation.responses["200"]["content"]
    assert [one.name for one in operation.get_parameter_set("query")] == ["q"]
    number = operation.get_parameter("id", "path")
    assert number.is_required
    assert number.definition["in"] == "path"
    assert number.is_valid(1)
    assert not number.is_valid("a")
    with pytest.raises(ValueError, match="path parameter `id`: "):
        number.validate("a")
    number.validate(1)


def test_texts_of_containers(schema) -> None:
    written = schema["/items/{id}"]["GET"].get_parameter_serializers()
    assert written["path_parameters"]({"id": 7}) == {"id": "7"}
    assert written["query"]({"q": "a b"}) == {"q": "q=a%20b"}
    assert written["headers"]({"X-A": True}) == {"X-A": "true"}


def test_bodies_by_media_type_and_their_parts(schema) -> None:
    operation = schema["/both"]["POST"]
    found = operation.get_bodies_for_media_type("APPLICATION/JSON; charset=utf-8")
    assert [one.media_type for one in found] == ["application/json"]
    parts = operation.prepare_multipart({"a": 1, "b": b"x"}, {"a": "application/json"})
    assert parts[0] == ("a", (None, b"1", "application/json"))
    assert parts[1][1][:2] == ("b", b"x")


def test_a_parameter_can_be_added(operation) -> None:
    known = operation.get_parameter("q", "query")
    operation.add_parameter(dataclasses.replace(known, name="added", required=True))
    assert "added" in find(operation.as_strategy(), lambda case: True).query
