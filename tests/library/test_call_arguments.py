"""What `before_call` hooks put into `kwargs` changes the one request that is sent."""

import socket
from typing import Any

import pytest

import checker


@pytest.fixture
def operation(document, api) -> Any:
    found = checker.openapi.from_dict(document)
    found.config.update(base_url=api.url)
    return found["/items/{id}"]["GET"]


def hooked(**given: Any) -> None:
    @checker.hook
    def before_call(ctx, case, kwargs) -> None:
        kwargs.update(given)


def test_parameters_cookies_and_credentials_are_sent_and_the_case_stays(operation, api) -> None:
    hooked(
        params={"q": "a b", "more": 1}, cookies={"c": "2"}, headers={"x-own": b"3", "User-Agent": None}, auth=("u", "p")
    )
    case = operation.Case(path_parameters={"id": 7}, query={"q": "x"}, cookies={"d": "1"})
    case.call()
    _, path, headers, _ = api.requests[0]
    assert path == "/items/7?q=a%20b&more=1"
    assert headers["cookie"] == "d=1; c=2"
    assert (headers["x-own"], headers["authorization"]) == ("3", "Basic dTpw")
    assert "user-agent" not in headers
    assert (case.query, case.cookies) == ({"q": "x"}, {"d": "1"})


def test_a_header_of_a_call_may_be_bytes_and_is_left_out_if_it_is_none(document, api) -> None:
    document["components"] = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}
    document["security"] = [{"key": []}]
    schema = checker.openapi.from_dict(document)
    schema.config.update(base_url=api.url, headers={"X-Tenant": "acme"}, auth_openapi={"key": {"api_key": "s"}})
    case = schema["/items/{id}"]["GET"].Case(path_parameters={"id": 7}, headers={"X-A": "1"})
    case.call()
    case.call(headers={"x-key": None, "x-tenant": None, "X-A": None, "User-Agent": None, "X-B": b"2"})
    with_all, without = [headers for _, _, headers, _ in api.requests]
    names = {"x-key", "x-tenant", "x-a", "x-b", "user-agent"}
    assert {name: value for name, value in without.items() if name in names} == {"x-b": "2"}
    assert names - set(with_all) == {"x-b"}


def test_a_header_of_a_hook_stands_over_its_user_and_password(operation, api) -> None:
    hooked(headers={"authorization": "mine"}, auth=("u", "p"))
    operation.Case(path_parameters={"id": 7}).call()
    assert api.requests[0][2]["authorization"] == "mine"


@pytest.mark.parametrize("name", ["allow_redirects", "follow_redirects"])
def test_redirects_are_followed_unless_a_hook_says_otherwise(operation, api, name) -> None:
    api.statuses, api.location = {"GET": 302}, "/items/8"
    hooked(**{name: False})
    response = operation.Case(path_parameters={"id": 7}).call()
    assert response.status_code == 302
    assert [path for _, path, *_ in api.requests] == ["/items/7"]


def test_a_time_limit_of_a_hook_ends_a_call(operation) -> None:
    hooked(timeout=0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TimeoutError):
            operation.Case(path_parameters={"id": 7}).call(base_url=url)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"parms": {}},
            "kwargs can change `headers`, `params`, `cookies`, `auth`, `timeout`, `verify`, "
            "`allow_redirects`, `follow_redirects`, found `parms`. Did you mean 'params'?",
        ),
        ({"headers": "X: 1"}, "kwargs: `headers` must be a mapping of names to values, got 'X: 1'"),
        ({"headers": {"X": "\u20ac"}}, "kwargs: `headers` must be a mapping of texts in Latin-1"),
        ({"params": 5}, "kwargs: `params` must be a mapping of names to values, got 5"),
        ({"auth": "u:p"}, "kwargs: `auth` must be a user and a password, got 'u:p'"),
        ({"timeout": 0}, "kwargs: `timeout` must be a number of seconds above 0, got 0"),
        ({"verify": "/none"}, "kwargs: `verify` must be True, False, or a file or folder of certificates, got '/none'"),
        ({"allow_redirects": 1}, "kwargs: `allow_redirects` must be True or False, got 1"),
    ],
)
def test_what_a_hook_cannot_change_is_one_sentence(operation, api, given, said) -> None:
    hooked(**given)
    with pytest.raises(checker.errors.HookError) as caught:
        operation.Case(path_parameters={"id": 7}).call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert api.requests == []


def test_hooks_change_requests_of_runs(document, api) -> None:
    hooked(params={"from_hook": "1"}, timeout=5, verify=False)
    del document["paths"]["/broken"]
    schema = checker.openapi.from_dict(document)
    schema.config.update(base_url=api.url)
    schema.config.phases.update(phases=["fuzzing"])
    schema.config.generation.update(max_examples=3)
    result = checker.run(schema.include(path="/items/{id}"))
    assert api.requests
    assert all("from_hook=1" in path for _, path, *_ in api.requests)
    assert not result.errors


@pytest.mark.parametrize(
    ("use", "told"),
    [
        (lambda it: it.schema.parametrize(print), r"write `@schema.parametrize\(\)`"),
        (lambda it: it.schema.override(query="a=1"), "`query` must be a dict of names and values"),
        (lambda it: it.Case(path_parameters=[1]), r"`path_parameters` must be .* got \[1\]"),
        (lambda it: it.Case(path_parameters={"id": 1}).call(headers=[("a", "b")]), "`headers` must"),
        (lambda it: it.Case(path_parameters={"id": 1}).call(params=3), "`params` must be a dict"),
    ],
)
def test_values_without_names_are_named(operation, use, told: str) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match=told):
        use(operation)


ANYHOW: Any = checker
"""With arguments of any kind."""


def _call(**arguments: object):
    return lambda it: it.Case(path_parameters={"id": 1}).call_and_validate(**arguments)


def _judged(response: object = None, **arguments: object):
    case_of = lambda it: it.Case(path_parameters={"id": 1})  # noqa: E731
    made = ANYHOW.Response(200, {}) if response is None else response
    return lambda it: case_of(it).validate_response(made, **arguments)


def _drawn(mode: object):
    return lambda it: it.as_strategy(generation_mode=mode)


class _Above:
    """A class of tests."""


@pytest.mark.parametrize(
    ("use", "told"),
    [
        (_call(base_url=3), "`base_url` must be a text, got 3"),
        (_call(checks=3), "`checks` must be checks: functions, classes or names, got 3"),
        (_call(additional_checks=[3]), r"`additional_checks` must be .* got \[3\]"),
        (_call(excluded_checks=3), "`excluded_checks` must be"),
        (_call(headers={3: "a"}), r"`headers` must be a dict of names and values, got \{3: 'a'\}"),
        (_call(auth=3), "`auth` must be user and password, or an object that signs requests"),
        (_call(cert=3), "`cert` must be a path, or those of certificate and key"),
        (_judged(recorder=3), "`recorder` must be an object with a method `checked`"),
        (_judged(transport_kwargs=3), "`transport_kwargs` must be a dict"),
        (_judged(headers=3), "`headers` must be a dict"),
        (lambda it: it.Case().as_curl_command(headers=3), "`headers` must be a dict"),
        (lambda it: it.Case().derive(query=3), "`query` must be a dict"),
        (lambda it: it.Case(method=3), "`method` must be a text"),
        (lambda it: it.validate_response(ANYHOW.Response(200, {}), case=3), "`case` must be"),
        (lambda it: it.add_parameter(3), "`parameter` must be one of an operation"),
        (_drawn("wrong"), "`generation_mode` must be `positive` or `negative`, got 'wrong'"),
        (lambda it: it.schema.find_operation_by_path("GET", 3), "`path` must be a text"),
        (lambda it: it.schema.include(lambda: True), "a filter function takes one argument"),
        (lambda it: it.schema.parametrize()(_Above), "`parametrize` .* above each of its methods"),
        (lambda it: it.schema.given(a=1)(3), "`given` decorates a function, got 3"),
        (lambda it: it.schema.hooks.apply(print, name=3), "`name` must be a text"),
        (lambda it: it.schema.hook("map_query")(3), "`hook` must be a function, got 3"),
        (lambda it: ANYHOW.run(3), "`location` must be a URL, the path of a file or a loaded"),
        (lambda it: ANYHOW.openapi.from_dict(3), "`schema` must be a dict"),
        (lambda it: ANYHOW.openapi.from_path("a.json", encoding=3), "`encoding` must be"),
        (lambda it: ANYHOW.openapi.from_url("http://a", headers={3: "a"}), "`headers` must be"),
        (lambda it: ANYHOW.Config.from_dict([]), "`document` must be a dict"),
        (lambda it: ANYHOW.Config.from_str(b""), "`text` must be a text in TOML"),
        (lambda it: ANYHOW.Config.from_path(3), "`path` must be the path of a file"),
        (lambda it: ANYHOW.Config.discover(3), "`folder` must be the path of a folder"),
        (lambda it: ANYHOW.Response("200", {}), "`status_code` must be a number such as 200"),
        (lambda it: ANYHOW.Response(200, None), "`headers` must be names and values"),
        (lambda it: ANYHOW.Response(200, {"a": 3}), "`headers` must be names and values"),
        (lambda it: ANYHOW.Response(200, {}, "text"), "`content` must be bytes, got 'text'"),
        (lambda it: ANYHOW.check(statuses=200), "`statuses` must be a list of statuses"),
        (lambda it: ANYHOW.check(modes="wrong"), "`generation_mode` must be"),
        (lambda it: ANYHOW.check()(3), "`check` must be a function or a class"),
        (lambda it: ANYHOW.serializer.alias(3, "text/csv"), "`target` must be a media type"),
        (lambda it: ANYHOW.phases.register(3), "`row` must be a `checker.phases.Phase`"),
        (lambda it: ANYHOW.reports.register(3), "`report format` must be an object with a `name`"),
    ],
)
def test_arguments_of_another_kind_are_named(operation, use, told: str) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match=told):
        use(operation)


def test_what_is_no_path_is_found_in_no_schema(operation) -> None:
    schema = operation.schema
    assert 3 not in schema
    assert schema.get(3) is None
    with pytest.raises(checker.errors.OperationNotFound, match="`3` not found"):
        schema[3]


def test_names_in_a_configuration_are_texts() -> None:
    config = checker.Config.from_dict({})
    with pytest.raises(checker.errors.ConfigError, match="Must have texts as names, got 3"):
        config.update(parameters={3: 4})
    with pytest.raises(checker.errors.ConfigError, match="Unknown properties"):
        checker.Config.from_dict({"generation": {3: 4}})
