import gzip
import socket
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

import checker
from checker.core.operation import BrokenOperation
from checker.core.response import Response

GROUP = """\
1. Test Case ID: {id}

- Server error

[500] Internal Server Error:

    `{{"id": 1}}`

Reproduce with:

    curl -X GET {url}/items/7"""


@pytest.fixture
def schema(document, api):
    found = checker.openapi.from_dict(document)
    found.config.update(base_url=api.url)
    return found


@pytest.fixture
def operation(schema):
    return schema["/items/{id}"]["GET"]


def test_operations_come_in_document_order_and_broken_ones_are_values(schema) -> None:
    found = list(schema.get_all_operations())
    assert [one.label for one in found] == ["GET /items/{id}", "POST /items", "POST /both", "GET /broken"]
    assert isinstance(found[-1], BrokenOperation)


def test_case_made_by_hand_is_sent_as_it_is(operation, api) -> None:
    case = operation.Case(path_parameters={"id": 7}, query={"q": "a b"}, headers={"X-A": "1"})
    response = case.call()
    method, path, headers, body = api.requests[0]
    assert (response.status_code, response.json()) == (200, {"id": 1})
    assert (method, path, body) == ("GET", "/items/7?q=a%20b", b"")
    assert headers["x-checker-testcaseid"] == case.id
    assert headers["user-agent"] == f"checker/{checker.__version__}"
    assert headers["x-a"] == "1"


def test_case_without_parts_is_a_request(schema, api) -> None:
    case = schema["/items"]["POST"].Case()
    assert case.body is checker.NOT_SET
    case.call()
    assert api.requests[0][3] == b""


def test_body_takes_the_only_media_type(schema, api) -> None:
    case = schema["/items"]["post"].Case(body={"a": 1})
    case.call()
    assert case.media_type == "application/json"
    assert api.requests[0][3] == b'{"a":1}'


def test_body_of_several_media_types_needs_one(schema) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="accepts several media types"):
        schema["/both"]["POST"].Case(body={})
    assert schema["/both"]["POST"].Case(body={}, media_type="application/json").body == {}


def test_arguments_of_call_replace_single_keys(operation, api) -> None:
    case = operation.Case(
        path_parameters={"id": 7}, query={"q": "a", "r": "b"}, headers={"X-A": "1", "X-B": "2"}, cookies={"c": "1"}
    )
    case.call(headers={"x-a": "9"}, params={"q": "z"}, cookies={"d": "2"})
    _, path, headers, _ = api.requests[0]
    assert path == "/items/7?q=z&r=b"
    assert (headers["x-a"], headers["x-b"], headers["cookie"]) == ("9", "2", "c=1; d=2")
    assert case.headers == {"X-A": "1", "X-B": "2"}


def test_configuration_applies_from_its_change_on_and_arguments_win(schema, operation, api) -> None:
    case = operation.Case(path_parameters={"id": 7})
    case.call()
    schema.config.update(headers={"X-Key": "config"})
    case.call()
    case.call(headers={"x-key": "call"})
    assert [one[2].get("x-key") for one in api.requests] == [None, "config", "call"]


def test_base_url_of_call_beats_the_configuration(operation, api, schema) -> None:
    schema.config.update(base_url="http://127.0.0.1:1")
    operation.Case(path_parameters={"id": 7}).call(f"{api.url}/v1")
    assert api.requests[0][1] == "/v1/items/7"


def test_schema_without_a_server_needs_a_base_url(document) -> None:
    case = checker.openapi.from_dict(document)["/items"]["POST"].Case()
    with pytest.raises(checker.errors.UsageError, match="The `base_url` argument is required"):
        case.call()


def test_refused_connection_is_an_error(operation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionError):
        operation.Case(path_parameters={"id": 7}).call(f"http://127.0.0.1:{port}")


def test_silent_server_is_a_time_out(operation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(TimeoutError):
            operation.Case(path_parameters={"id": 7}).call(url, timeout=0.05)


@pytest.mark.parametrize("timeout", [(3, 3), (None, 3), (None, None), [1.5, 2]])
def test_a_timeout_is_a_pair_as_requests_takes_it(operation, timeout) -> None:
    assert operation.Case(path_parameters={"id": 7}).call(timeout=timeout).status_code == 200


def test_a_pair_limits_the_whole_call(operation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(TimeoutError):
            operation.Case(path_parameters={"id": 7}).call(url, timeout=(0.02, 0.03))


@pytest.mark.parametrize("timeout", [0, -1, (1, 0), (1, 2, 3), True, "1"])
def test_a_timeout_is_a_number_above_zero(operation, timeout) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="a number of seconds above 0"):
        operation.Case(path_parameters={"id": 7}).call(timeout=timeout)


def test_who_records_is_told_of_each_result(operation) -> None:
    told: list[Any] = []

    class Recorder:
        def checked(self, case, response, results) -> None:
            told.extend(results)

    case = operation.Case(path_parameters={"id": 7})
    names = ["not_a_server_error", "status_code_conformance"]
    with pytest.raises(checker.errors.FailureGroup):
        case.validate_response(checker.Response(500, [], b""), checks=names, recorder=Recorder())
    assert {name: status for name, status, _ in told} == {
        "not_a_server_error": "failure",
        "status_code_conformance": "success",
    }
    told.clear()
    case.validate_response(checker.Response(200, [], b""), checks=names, recorder=Recorder())
    assert told == [(name, "success", None) for name in names]


def test_good_response_passes(operation) -> None:
    case = operation.Case(path_parameters={"id": 7})
    assert case.call_and_validate().status_code == 200


def test_failures_come_as_one_group_with_the_block_of_the_console(operation, api) -> None:
    api.status = 500
    case = operation.Case(path_parameters={"id": 7})
    with pytest.raises(checker.errors.FailureGroup) as caught:
        case.call_and_validate(checks=["not_a_server_error"])
    assert str(caught.value) == GROUP.format(id=case.id, url=api.url)
    assert [one.check for one in caught.value.exceptions] == ["not_a_server_error"]


def test_each_distinct_failure_is_a_member(operation, api) -> None:
    def never(ctx, response, case) -> None:
        raise AssertionError("never")

    api.status = 500
    with pytest.raises(checker.errors.FailureGroup) as caught:
        operation.Case(path_parameters={"id": 7}).call_and_validate(additional_checks=[never])
    assert [one.check for one in caught.value.exceptions] == ["not_a_server_error", "never"]


def test_an_undocumented_server_error_is_one_failure(operation, api) -> None:
    api.status = 500
    case = operation.Case(path_parameters={"id": 7})
    with pytest.raises(checker.errors.FailureGroup, match="Undocumented HTTP status code") as caught:
        case.call_and_validate()
    assert [one.check for one in caught.value.exceptions] == ["not_a_server_error"]
    with pytest.raises(checker.errors.FailureGroup) as caught:
        case.call_and_validate(excluded_checks=["not_a_server_error"])
    assert [one.check for one in caught.value.exceptions] == ["status_code_conformance"]


def test_schema_of_the_response_is_checked(operation, api) -> None:
    api.body = {"id": "x"}
    with pytest.raises(checker.errors.FailureGroup, match="Response violates schema"):
        operation.Case(path_parameters={"id": 7}).call_and_validate()


def test_excluded_and_configured_checks_do_not_run(schema, operation, api) -> None:
    api.status = 500
    case = operation.Case(path_parameters={"id": 7})
    schema.config.checks.update(excluded_check_names=["not_a_server_error"])
    assert case.call_and_validate(excluded_checks=("status_code_conformance",)).status_code == 500


def test_checks_that_there_are_not_cannot_be_excluded(operation) -> None:
    case = operation.Case(path_parameters={"id": 7})
    case.call_and_validate(excluded_checks=["positive_data_acceptance"])
    with pytest.raises(checker.errors.UsageError, match="unknown check 'status_code'; choose from"):
        case.call_and_validate(excluded_checks=["status_code"])


def test_a_check_that_needs_users_judges_nothing_without(operation) -> None:
    case = operation.Case(path_parameters={"id": 7})
    response = case.call_and_validate(checks=["object_level_authorization"])
    assert response.request is not None, "it was sent, and nothing is said of it"


def test_an_argument_that_nothing_takes_names_the_call(operation) -> None:
    case = operation.Case(path_parameters={"id": 7})
    with pytest.raises(TypeError) as caught:
        case.call(header={"X": "1"})
    assert str(caught.value) == (
        "case.call() takes headers, params, cookies, timeout, verify, session, auth, cert, proxies, "
        "allow_redirects, follow_redirects, stream, json, data, files, but got 'header'. "
        "Did you mean 'headers'?"
    )


def test_additional_checks_are_functions(operation) -> None:
    def has_a_name(ctx, response, case) -> None:
        assert "name" in response.json(), f"no name in {response.json()}"

    with pytest.raises(checker.errors.FailureGroup) as caught:
        operation.Case(path_parameters={"id": 7}).call_and_validate(additional_checks=[has_a_name])
    failure = caught.value.exceptions[0]
    assert (failure.check, failure.title) == ("has_a_name", "Custom check failed: `has_a_name`")
    assert failure.message.startswith("no name in {'id': 1}")


def test_registered_checks_run_without_being_named(operation) -> None:
    @checker.check
    def never(ctx, response, case) -> None:
        raise AssertionError("never")

    with pytest.raises(checker.errors.FailureGroup, match="Custom check failed: `never`"):
        operation.Case(path_parameters={"id": 7}).call_and_validate()


def test_check_that_breaks_is_a_hook_error(operation) -> None:
    @checker.check
    def broken(ctx, response, case) -> None:
        raise KeyError("x")

    with pytest.raises(checker.errors.CheckError, match="check broken raised KeyError"):
        operation.Case(path_parameters={"id": 7}).call_and_validate()


def test_hooks_run_around_every_call_once(operation, api) -> None:
    seen = []

    @checker.hook
    def before_call(ctx, case, kwargs) -> None:
        kwargs["headers"] = {"X-Hook": ctx.operation.label}

    @checker.hook
    def after_call(ctx, case, response) -> None:
        seen.append(response.status_code)

    operation.Case(path_parameters={"id": 7}).call_and_validate()
    assert api.requests[0][2]["x-hook"] == "GET /items/{id}"
    assert seen == [200]


def test_responses_of_other_clients_are_judged(operation) -> None:
    case = operation.Case(path_parameters={"id": 7})
    case.validate_response(httpx.Response(200, json={"id": 1}))
    bad = httpx.Response(200, json={"id": "x"})
    werkzeug = SimpleNamespace(
        status_code=200, headers={"Content-Type": "application/json"}, get_data=lambda: b'{"id": "x"}'
    )
    for response in (bad, werkzeug):
        with pytest.raises(checker.errors.FailureGroup, match="Response violates schema"):
            case.validate_response(response)
    with pytest.raises(TypeError, match="int is not a response"):
        case.validate_response(1)


def test_curl_command_masks_sensitive_values(operation, api) -> None:
    case = operation.Case(path_parameters={"id": 7}, query={"token": "s3"}, headers={"X-A": "1"})
    command = case.as_curl_command({"X-Token": "s3cret"}, verify=False)
    assert command == (
        f"curl -X GET --insecure -H 'X-Token: [Filtered]' -H 'X-A: 1' '{api.url}/items/7?token=%5BFiltered%5D'"
    )


def test_formatted_path(operation) -> None:
    assert operation.Case(path_parameters={"id": 7}).formatted_path == "/items/7"


def test_sanitization_can_be_switched_off_while_running(schema, operation, api) -> None:
    case = operation.Case(path_parameters={"id": 7}, headers={"X-Token": "a"})
    assert "X-Token: [Filtered]" in case.as_curl_command()
    schema.config.output.sanitization.update(enabled=False)
    assert "X-Token: a" in case.as_curl_command()


def test_checks_registered_after_the_first_call_run(operation) -> None:
    case = operation.Case(path_parameters={"id": 7})
    case.call_and_validate()

    @checker.check
    def late(ctx, response, case) -> None:
        raise AssertionError

    with pytest.raises(checker.errors.FailureGroup, match="Custom check failed: `late`"):
        case.call_and_validate()


def test_client_that_decompresses_is_not_asked_to_do_it_twice() -> None:
    packed = gzip.compress(b'{"id": 1}')
    foreign = httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=packed)
    found = Response.from_any(foreign)
    assert found.json() == {"id": 1}
    assert found.readable.content == b'{"id": 1}'


def test_a_class_check_keeps_its_instance(operation) -> None:
    @checker.check
    class Once:
        def __init__(self) -> None:
            self.count = 0

        def after_response(self, ctx, response, case) -> None:
            self.count += 1
            assert self.count < 2, "twice"

    operation.Case(path_parameters={"id": 7}).call_and_validate()
    with pytest.raises(checker.errors.FailureGroup, match="Custom check failed: `Once`"):
        operation.Case(path_parameters={"id": 7}).call_and_validate()


def test_without_a_limit_each_response_comes_in_time(operation) -> None:
    case, answer = operation.Case(path_parameters={"id": 7}), Response(200, [], b"", elapsed=9.0)
    case.validate_response(answer, checks=["max_response_time"])
    found = operation.engine.call_and_validate(case, None, additional_checks=["max_response_time"])
    assert found.status_code == 200
    operation.schema.config.checks.update(max_response_time=5.0)
    with pytest.raises(checker.errors.FailureGroup, match="Response time limit exceeded"):
        case.validate_response(answer, checks=["max_response_time"])
