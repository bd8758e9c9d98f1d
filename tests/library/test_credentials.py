"""Sources of credentials in the Python library: calls carry what they give, and nothing shown holds it."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import find, settings

import checker
from checker.core.credentials import CREDENTIAL_SOURCES
from checker.credentials import Credentials, CredentialSource, register
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
}


class Counted(CredentialSource):
    name = "counted"

    def __init__(self) -> None:
        self.fetched = 0

    def fetch(self, case: checker.Case) -> Credentials:
        self.fetched += 1
        return Credentials({"X-Ticket": f"number-{self.fetched}-of-many"})

    def carried(self, held: Credentials, case: checker.Case) -> Credentials | None:
        return held

    def is_refused(self, response: checker.Response) -> bool:
        return bool(response.status_code == 401)


@pytest.fixture
def source() -> Iterator[Counted]:
    made = register(Counted())
    yield made
    del CREDENTIAL_SOURCES[made.name]


def second_only(request: Request) -> Reply:
    is_second = request.headers.get("x-ticket") == "number-2-of-many"
    return json_reply({}, 500 if is_second else 401)


def test_a_call_is_sent_again_with_newer_credentials_and_shows_none(source: Counted) -> None:
    with serving(second_only, DOCUMENT) as app:
        schema = checker.openapi.from_url(app.document_url)
        with pytest.raises(checker.errors.FailureGroup) as caught:
            schema["/a"]["GET"].Case().call_and_validate()
    assert (source.fetched, len(app.seen)) == (2, 2)
    assert "X-Ticket: [Filtered]" in str(caught.value)
    assert "of-many" not in str(caught.value)


def test_credentials_go_to_no_server_that_the_description_alone_names(source: Counted) -> None:
    schema = checker.openapi.from_dict({**DOCUMENT, "servers": [{"url": "http://127.0.0.1:9"}]})
    with pytest.raises(checker.errors.UsageError, match="source counted"):
        schema["/a"]["GET"].Case().call()
    assert source.fetched == 0


def test_a_name_is_taken_once(source: Counted) -> None:
    assert register(source) is source
    with pytest.raises(checker.errors.IncorrectUsage, match="'counted' is already registered"):
        register(Counted())


KEYED = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "components": {
        "securitySchemes": {
            "Key": {"type": "apiKey", "in": "query", "name": "key"},
            "Token": {"type": "http", "scheme": "bearer"},
        }
    },
    "paths": {
        "/key": {"get": {"security": [{"Key": []}], "responses": {"200": {"description": ""}}}},
        "/token": {"get": {"security": [{"Token": []}], "responses": {"200": {"description": ""}}}},
        "/open": {"get": {"responses": {"200": {"description": ""}}}},
    },
}


def test_calls_carry_what_is_configured_for_the_schemes_of_their_operation() -> None:
    logins: list[bytes] = []

    def answer(request: Request) -> Reply:
        if request.target == b"/login":
            logins.append(request.body)
        return json_reply({"token": "of-the-login"})

    with serving(answer, KEYED) as app:
        schema = checker.openapi.from_url(app.document_url)
        values = {
            "auth": {
                "openapi": {"Key": {"api_key": "a b"}},
                "dynamic": {"openapi": {"Token": {"path": "/login", "extract_selector": "/token"}}},
            }
        }
        config = checker.Config.from_dict(values)
        schema = checker.openapi.from_url(app.document_url, config=config)
        for path in ("/key", "/token", "/open", "/token"):
            schema[path]["GET"].Case().call()
        command = schema["/key"]["GET"].Case().as_curl_command()
    sent = [(one.target, one.headers.get("authorization")) for one in app.seen]
    token = (b"/token", "Bearer of-the-login")
    assert sent == [(b"/key?key=a%20b", None), (b"/login", None), token, (b"/open", None), token]
    assert "a%20b" not in command


def test_a_provider_of_one_schema_stands_over_those_of_all() -> None:
    with serving(lambda _: json_reply({}), KEYED) as app:
        mine, other = (checker.openapi.from_url(app.document_url) for _ in range(2))

        @mine.auth(refresh_interval=None).apply_to(path="/token")
        class Mine:
            def __init__(self) -> None:
                self.asked = 0

            def get(self, case: checker.Case, ctx: checker.AuthContext) -> int:
                self.asked += 1
                return self.asked

            def set(self, case: checker.Case, data: int, ctx: checker.AuthContext) -> None:
                case.headers["X-Number"] = f"number {data}"

        for schema in (mine, mine, other):
            schema["/token"]["GET"].Case().call()
        mine["/open"]["GET"].Case().call()
    numbers = [one.headers.get("x-number") for one in app.seen]
    # Nothing is kept: it is asked for each request.
    assert numbers == ["number 1", "number 2", None, None]


def test_functions_of_filters_see_only_operations_with_the_attributes() -> None:
    seen = set()

    def is_seen(ctx: checker.AuthContext) -> bool:
        seen.add(ctx.operation.path)
        return True

    with serving(lambda _: json_reply({}), KEYED) as app:
        schema = checker.openapi.from_url(app.document_url)

        @schema.auth().apply_to(is_seen, path="/token")
        class Mine:
            def get(self, case: checker.Case, ctx: checker.AuthContext) -> str:
                return "mine"

            def set(self, case: checker.Case, data: str, ctx: checker.AuthContext) -> None:
                case.headers["X-By"] = data

        for path in ("/open", "/token"):
            schema[path]["GET"].Case().call()
    assert [one.headers.get("x-by") for one in app.seen] == [None, "mine"]
    assert seen == {"/token"}


def _with_body(content: dict[str, Any]) -> dict[str, Any]:
    responses = {"200": {"description": ""}}
    post = {"requestBody": {"content": content}, "responses": responses}
    return {"openapi": "3.0.3", "info": {"title": "B", "version": "1"}, "paths": {"/b": {"post": post}}}


@pytest.mark.parametrize(
    ("media_type", "sent"),
    [
        ("application/json", b'{"a":"b","token":"s3cret-1"}'),
        ("application/x-www-form-urlencoded", b"a=b&token=s3cret-1"),
        ("multipart/form-data", b'name="token"\r\n\r\ns3cret-1\r\n'),
    ],
)
def test_what_a_provider_puts_into_the_body_is_sent_and_shown_to_nobody(media_type: str, sent: bytes) -> None:
    with serving(lambda _: json_reply({}, 500), _with_body({media_type: {}})) as app:
        schema = checker.openapi.from_url(app.document_url)

        @schema.auth()
        class Mine:
            def get(self, case: checker.Case, ctx: checker.AuthContext) -> str:
                return "s3cret-1"

            def set(self, case: checker.Case, data: str, ctx: checker.AuthContext) -> None:
                case.body["token"] = data

        case = schema["/b"]["POST"].Case(body={"a": "b"})
        with pytest.raises(checker.errors.FailureGroup) as caught:
            case.call_and_validate()
    (request,) = app.seen
    assert sent in request.body
    assert request.headers["content-type"].startswith(media_type)
    assert case.body == {"a": "b"}
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lambda: checker.auth(object), "object is no authentication provider: it has no `get`"),
        (lambda: checker.auth().apply_to(tags="a"), "there is no filter 'tags'"),  # type: ignore[call-arg]
        (
            lambda: checker.auth().apply_to(path="/a").skip_for(path="/a"),
            "the filter path='/a' is already there; remove one of them",
        ),
        (lambda: checker.auth().apply_to(path="/a", path_regex="a"), "'path' and 'path_regex' contradict each other"),
        (lambda: checker.auth().skip_for(), "a filter needs a function or one of"),
        (lambda: checker.auth().apply_to(path_regex="["), "invalid regular expression"),
        (lambda: checker.auth().apply_to(path=1), "must be a string or a list of strings, got 1"),  # type: ignore[arg-type]
    ],
)
def test_a_registration_that_means_nothing_is_one_sentence(given, expected: str) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match=expected):
        given()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"refresh_interval": "5"}, "`refresh_interval` must be a number of seconds"),
        ({"refresh_interval": -1}, "`refresh_interval` must be a number of seconds"),
        ({"cache_by_key": 5}, "`cache_by_key` must be a function"),
        ({"retry_on": "401"}, "`retry_on` must be a list of statuses"),
        ({"retry_on": [40]}, "`retry_on` must be a list of statuses"),
    ],
)
def test_options_of_providers_that_mean_nothing_are_one_sentence(options, said) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match=said):
        checker.auth(**options)


def test_what_signs_nothing_is_refused() -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="takes an object such as"):
        checker.auth.set_from_requests(("user", "pass"))
    assert not checker.auth.signers


def test_cases_show_the_headers_that_are_added_at_sending(schema, api) -> None:
    seen: dict[str, dict[str, str]] = {}
    schema.config.update(headers={"X-Tenant": "acme"})
    one = schema.include(path="/items/{id}")

    @one.auth()
    class Provider:
        def get(self, case, ctx):
            return "secret-of-provider"

        def set(self, case, data, ctx) -> None:
            case.headers["X-Token"] = data

    @one.hook
    def map_case(ctx, case):
        seen["map_case"] = dict(case.headers)
        return case

    @one.hook
    def after_call(ctx, case, response) -> None:
        seen["after_call"] = dict(case.headers)

    shown = {"X-Tenant": "acme", "X-Token": "secret-of-provider"}
    strategy = one["/items/{id}"]["GET"].as_strategy(generation_mode="positive")
    case = find(strategy, lambda case: not case.query, settings=settings(database=None))
    assert case.headers == shown
    # They are no data of the case: they neither change its mode nor stand in what Hypothesis prints.
    assert case.meta.mode is checker.GenerationMode.POSITIVE
    assert "secret-of-provider" not in repr(case) + case.as_curl_command()
    case.call_and_validate()
    assert case.headers == shown
    assert seen == {"map_case": shown, "after_call": shown}
    case.headers |= {"X-Tenant": "other", "X-Token": "wrong"}
    case.call()
    sent = [(headers["x-tenant"], headers["x-token"]) for _, _, headers, _ in api.requests]
    assert sent == [("acme", "secret-of-provider"), ("other", "wrong")]


@pytest.mark.parametrize("hook", ["map_case", "after_call"])
def test_hooks_of_runs_see_the_headers_that_are_added_at_sending(schema, api, hook: str) -> None:
    seen = []
    schema.config.update(headers={"X-Tenant": "acme"})
    schema.config.phases.update(phases=["fuzzing"])
    schema.config.generation.update(max_examples=2, mode="positive")

    def note(ctx, case, *response):
        seen.append(case.headers.get("X-Tenant"))
        return case

    function = (lambda ctx, case: note(ctx, case)) if hook == "map_case" else (lambda ctx, case, r: note(ctx, case, r))
    schema.hook(hook)(function)
    records = list(checker.engine.from_schema(schema.include(path="/items/{id}")).execute())
    assert records
    assert set(seen) == {"acme"}
    assert {headers["x-tenant"] for _, _, headers, _ in api.requests} == {"acme"}
