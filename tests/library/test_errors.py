"""What users catch: every class, its place in the tree, and the mistake that raises it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import find

import checker
from checker import errors

TREE = """
CheckerError
  BudgetSpent
  ConfigError
    InvalidRateLimit
  CredentialError
  HookError
    CheckError
    HookExecutionError
    MetricError
  InternalError
  LoaderError
    ForeignDescription
    InvalidSchema
      InvalidHeadersExample
      InvalidRegexPattern
      InvalidRegexType
      InvalidTransition
      UnknownScalar
  SerializationError
    SerializationNotPossible
  UnreadableFile
  Unsatisfiable
    InfiniteRecursiveReference
    NothingToBreak
    UnresolvableBody
  UsageError
    IncorrectUsage
    NoLinksFound
      InvalidStateMachine
    OperationNotFound
"""


def drawn(kind: type[Exception], depth: int = 0) -> list[str]:
    known = {getattr(errors, name) for name in errors.__all__}
    below = sorted(kind.__subclasses__(), key=lambda one: one.__name__)
    lines = ["  " * depth + kind.__name__]
    return lines + [line for one in below if one in known for line in drawn(one, depth + 1)]


def test_the_tree_of_errors() -> None:
    assert drawn(errors.CheckerError) == TREE.split("\n")[1:-1]
    assert issubclass(errors.OperationNotFound, LookupError)
    assert issubclass(errors.FailureGroup, ExceptionGroup)
    # As which unittest and Allure tell it from a test that is broken.
    assert issubclass(errors.FailureGroup, AssertionError)
    assert issubclass(errors.Failure, AssertionError)
    assert issubclass(errors.ServerError, errors.Failure)


def described(schema: Any, place: str = "query", **more: Any) -> checker.BaseSchema:
    document = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": {
            "/a": {
                "get": {
                    "parameters": [{"name": "p", "in": place, "required": True, "schema": schema, **more}],
                    "responses": {"200": {"description": ""}},
                }
            }
        },
        "components": {"schemas": {"Endless": ENDLESS}},
    }
    return checker.openapi.from_dict(document)


ENDLESS = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Endless"}}, "required": ["next"]}


@pytest.mark.parametrize(
    ("kind", "schema", "pointer"),
    [
        (errors.InvalidRegexPattern, {"type": "string", "pattern": "("}, "schema/pattern"),
        (errors.InvalidRegexType, {"type": "string", "pattern": 5}, "schema/pattern"),
    ],
)
def test_faults_of_schemas(kind, schema, pointer) -> None:
    with pytest.raises(errors.InvalidSchema) as told:
        described(schema).validate()
    (fault,) = told.value.errors
    assert type(fault) is kind
    place = f"#/paths/~1a/get/parameters/0/{pointer}"
    assert fault.location == errors.SchemaLocation("GET /a", place)
    assert told.value.extras == [fault.message]


def test_an_example_of_a_header_that_is_no_value_of_it() -> None:
    with pytest.raises(errors.InvalidSchema) as told:
        described({"type": "integer"}, "header", example="seven").validate()
    assert [type(one) for one in told.value.errors] == [errors.InvalidHeadersExample]
    with pytest.raises(errors.InvalidSchema) as told:
        described({"type": "integer"}, "query", example="seven").validate()
    assert [type(one) for one in told.value.errors] == [errors.InvalidSchema]


def test_a_scalar_that_nobody_knows() -> None:
    schema = checker.graphql.from_file("scalar Odd type Query { a(x: Odd!): Int }")
    with pytest.raises(errors.InvalidSchema) as told:
        schema.validate()
    assert [type(one) for one in told.value.errors] == [errors.UnknownScalar]


def test_links_of_which_none_can_be_followed(document) -> None:
    answer = {"description": "", "links": {"Gone": {"operationId": "none"}}}
    document["paths"] = {
        "/a": {"get": {"responses": {"200": answer}}},
        "/both": {"get": {"responses": {"200": {"description": ""}}}},
    }
    schema = checker.openapi.from_dict(document)
    with pytest.raises(errors.InvalidStateMachine, match="the link `Gone` at") as told:
        schema.as_state_machine()
    assert [type(one) for one in told.value.errors] == [errors.InvalidTransition]
    with pytest.raises(errors.NoLinksFound) as told_of_none:
        schema.include(path="/both").as_state_machine()
    assert not isinstance(told_of_none.value, errors.InvalidStateMachine)


def test_a_schema_that_requires_itself() -> None:
    schema = described({"$ref": "#/components/schemas/Endless"})
    with pytest.raises(errors.InfiniteRecursiveReference, match="every value contains itself"):
        find(schema["/a"]["GET"].as_strategy(), lambda case: True)


def test_a_reference_that_leads_nowhere() -> None:
    with pytest.raises(errors.InvalidSchema, match=r"`#/no` at .* points at nothing"):
        described({"$ref": "#/no"})["/a"]["GET"]


@pytest.mark.parametrize("said", ["5/year", "fast"])
def test_a_rate_that_is_none(said, tmp_path) -> None:
    sentence = re.escape(f"but got '{said}'")
    with pytest.raises(errors.InvalidRateLimit, match=sentence):
        checker.Config.from_dict({"rate-limit": said})
    with pytest.raises(errors.InvalidRateLimit, match=sentence):
        checker.Config().update(rate_limit=said)
    (tmp_path / "checker.toml").write_text(f'rate-limit = "{said}"')
    with pytest.raises(errors.InvalidRateLimit, match=sentence):
        checker.Config.from_path(tmp_path / "checker.toml")
    with pytest.raises(errors.ConfigError) as told:
        checker.Config.from_dict({"rate-limit": said, "workers": "many"})
    assert type(told.value) is errors.ConfigError


def test_bodies_that_nothing_writes(schema_of_bodies) -> None:
    operation = schema_of_bodies["/a"]["POST"]
    with pytest.raises(errors.SerializationNotPossible, match="no serialiser for application/odd"):
        operation.Case(body={}, media_type="application/odd").call()
    with pytest.raises(errors.SerializationError) as told:
        operation.Case(body={"a": object()}, media_type="application/json").call()
    assert type(told.value) is errors.SerializationError


@pytest.fixture
def schema_of_bodies(api):
    content: dict[str, Any] = {"application/odd": {}, "application/json": {}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "servers": [{"url": api.url}],
        "paths": {"/a": {"post": {"requestBody": {"content": content}, "responses": {}}}},
    }
    return checker.openapi.from_dict(document)


def test_our_own_mistakes_are_told_as_such(document, api, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("checker.workers.loop.Worker.run", broken)
    schema = checker.openapi.from_dict(document)
    schema.config.update(base_url=api.url)
    with pytest.raises(errors.InternalError, match="ZeroDivisionError: planted"):
        checker.engine.from_schema(schema).execute().finish()


NOT_READ: dict[str, Callable[[Any], object]] = {
    "connection_other": lambda api: checker.openapi.from_url("http://127.0.0.1:1/a"),
    "connection_ssl": lambda api: checker.openapi.from_url(api.url.replace("http", "https")),
    "network_other": lambda api: answering(api, 302, location="/again"),
    "invalid_certificate": lambda api: checker.openapi.from_url(
        api.url, config=checker.Config.from_dict({"tls-verify": __file__})
    ),
    "http_server_error": lambda api: answering(api, 500),
    "http_client_error": lambda api: answering(api, 418),
    "http_not_found": lambda api: answering(api, 404),
    "http_forbidden": lambda api: answering(api, 403),
    "syntax_error": lambda api: answering(api, 200, b"{: :"),
    "unexpected_content_type": lambda api: answering(api, 200, b"<html>"),
    "open_api_invalid_schema": lambda api: answering(api, 200, b"[]"),
    "open_api_unspecified_version": lambda api: answering(api, 200, b"{}"),
    "open_api_unsupported_version": lambda api: answering(api, 200, b'{"openapi": "4.0"}'),
    "graphql_invalid_schema": lambda api: checker.graphql.from_url(api.url),
}


def answering(api: Any, status: int, content: bytes = b"", location: str = "") -> object:
    api.status, api.content, api.location = status, content, location
    return checker.openapi.from_url(f"{api.url}/openapi.json")


@pytest.mark.parametrize("kind", NOT_READ)
def test_what_kept_a_description_from_being_read(api, kind: str) -> None:
    with pytest.raises(errors.LoaderError) as told:
        NOT_READ[kind](api)
    assert told.value.kind is errors.LoaderErrorKind(kind)
    assert told.value.url is not None
    assert re.match("https?://127.0.0.1:", told.value.url)


def test_the_url_that_was_asked_for_shows_no_password(api) -> None:
    api.status = 404
    with pytest.raises(errors.LoaderError) as told:
        checker.openapi.from_url(api.url.replace("//", "//u:secret@"))
    assert told.value.url is not None
    assert "secret" not in told.value.url
    assert api.url.rpartition("/")[2] in told.value.url


@pytest.mark.parametrize("status", [404, 503])
def test_of_applications_and_runs_it_is_told_as_well(api, status: int) -> None:
    def application(environ: Any, start: Any) -> list[bytes]:
        start(f"{status} No", [])
        return [b""]

    wanted = {404: "http_not_found", 503: "http_server_error"}[status]
    for module in (checker.openapi, checker.graphql):
        with pytest.raises(errors.LoaderError) as told:
            module.from_wsgi("/openapi.json", application)
        assert (told.value.kind, told.value.url) == (wanted, None)
    api.status = status
    with pytest.raises(errors.LoaderError) as told:
        checker.run(f"{api.url}/openapi.json", config=checker.Config())
    assert (told.value.kind, told.value.url) == (wanted, f"{api.url}/openapi.json")


def test_what_is_not_from_the_network_has_no_url() -> None:
    for load, text in ((checker.openapi.from_file, "- a"), (checker.graphql.from_file, "no SDL")):
        with pytest.raises(errors.LoaderError) as told:
            load(text)
        assert told.value.url is None
        assert told.value.kind.endswith("invalid_schema")
    with pytest.raises(errors.InvalidSchema) as of_validation:
        checker.graphql.from_file("scalar Odd type Query { a(x: Odd!): Int }").validate()
    assert of_validation.value.kind is errors.LoaderErrorKind.GRAPHQL_INVALID_SCHEMA
