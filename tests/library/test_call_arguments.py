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
        params={"q": "a b", "more": 1},
        cookies={"c": "2"},
        headers={"x-own": b"3", "User-Agent": None},
        auth=("u", "p"),
    )
    case = operation.Case(path_parameters={"id": 7}, query={"q": "x"}, cookies={"d": "1"})
    case.call()
    _, path, headers, _ = api.requests[0]
    assert path == "/items/7?q=a%20b&more=1"
    assert headers["cookie"] == "d=1; c=2"
    assert (headers["x-own"], headers["authorization"]) == ("3", "Basic dTpw")
    assert "user-agent" not in headers
    assert (case.query, case.cookies) == ({"q": "x"}, {"d": "1"})


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
        (
            {"verify": "/none"},
            "kwargs: `verify` must be True, False, or a file or folder of certificates, got '/none'",
        ),
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
        (
            lambda it: it.Case(path_parameters={"id": 1}).call(headers=[("a", "b")]),
            "`headers` must",
        ),
        (lambda it: it.Case(path_parameters={"id": 1}).call(params=3), "`params` must be a dict"),
    ],
)
def test_values_without_names_are_named(operation, use, told: str) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match=told):
        use(operation)
