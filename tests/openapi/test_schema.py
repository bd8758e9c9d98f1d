from typing import Any

import pytest

from checker.core.operation import BrokenOperation
from checker.openapi.documents.neighbours import Provenance
from checker.openapi.loaders import from_dict
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema

from .documents import opened, operation

OK: dict[str, Any] = {"responses": {"200": {"description": "ok"}}}
PATHS = {
    "/users": {"get": {**OK, "tags": ["a", 1], "operationId": "list"}, "post": OK},
    "x-extra": {"get": OK},
    "/users/{id}": {"delete": {**OK, "deprecated": True}, "parameters": [], "summary": "s"},
}


def test_operations_come_in_document_order() -> None:
    labels = [found.label for found in opened("3.0.0", PATHS).get_all_operations()]
    assert labels == ["GET /users", "POST /users", "DELETE /users/{id}"]


def test_table_of_contents_reads_nothing() -> None:
    paths = {"/a": {"get": {"tags": ["t"], "parameters": 5}}}
    schema = opened("3.0.0", paths)
    assert [(entry.label, getattr(entry, "tags", None)) for entry in schema.entries()] == [("GET /a", ("t",))]
    assert isinstance(schema.find("GET /a"), BrokenOperation)
    assert schema.find("GET /b") is None


def test_operation_carries_what_filters_ask_for() -> None:
    schema = opened("3.0.0", PATHS)
    found, deleted = schema.find("GET /users"), schema.find("DELETE /users/{id}")
    assert isinstance(found, OpenApiOperation)
    assert isinstance(deleted, OpenApiOperation)
    assert (found.tags, found.operation_id, found.deprecated) == (("a",), "list", False)
    assert deleted.deprecated
    assert deleted.operation_id is None
    assert schema.find("GET /users") is found
    assert str(schema) == "<OpenApiSchema for T 1>"


def test_path_items_may_stand_elsewhere() -> None:
    paths = {"/a": {"$ref": "#/x-items/a~1b"}, "/b": {"$ref": "#/x-items/none"}, "/c": {"get": OK}}
    a, b, c = opened("3.0.0", paths, **{"x-items": {"a/b": {"get": OK}}}).get_all_operations()
    assert (a.label, c.label) == ("GET /a", "GET /c")
    assert isinstance(b, BrokenOperation)
    assert "points at nothing" in b.error


BASES: list[tuple[dict[str, Any], str | None, str | None, str]] = [
    ({}, None, None, "/"),
    ({"servers": [{"url": "https://h:1/v1/"}]}, None, "https://h:1/v1/", "/v1/"),
    ({"servers": [{"url": "../v2"}]}, "http://h/x/y/o.json", "http://h/x/v2", "/x/v2/"),
    ({"servers": [{"url": "//h2/v"}]}, "https://h/o.json", "https://h2/v", "/v/"),
    ({}, "http://h:2/o.json", "http://h:2/", "/"),
    ({"servers": [{"url": "http://{a.b}/{c}", "variables": {"a.b": {"default": "h"}}}]}, None, "http://h/{c}", "/{c}/"),
    ({"servers": [{"url": "http://[::1"}]}, "http://h/o", "http://[::1", "/"),
    ({"servers": "odd"}, None, None, "/"),
    ({"servers": [{"url": ""}]}, "http://h/docs/json/", "http://h/", "/"),
    ({"servers": [{"url": " {p}", "variables": {"p": {"default": ""}}}]}, "http://h/d", "http://h/", "/"),
]


@pytest.mark.parametrize(("more", "location", "url", "path"), BASES)
def test_base_url_of_openapi_3(more: dict[str, Any], location: str | None, url: str | None, path: str) -> None:
    schema = OpenApiSchema({"openapi": "3.0.0", **more}, Provenance(location))
    assert (schema.base_url, schema.base_path) == (url, path)


def test_the_nearest_servers_count_and_variables_are_replaced() -> None:
    server = {"url": "http://{host}/{v}", "variables": {"host": {"enum": ["a", "b"]}, "v": {"default": 1}}}
    item = {"servers": [{"url": "/item"}], "get": OK, "put": {**OK, "servers": [{"url": "http://own/x"}]}}
    root = {"openapi": "3.1.0", "servers": [server], "paths": {"/a": item, "/b": {"get": OK}}}
    schema = OpenApiSchema(root, Provenance("http://h/o.json"))
    urls = [one.base_url for one in schema.get_all_operations() if not isinstance(one, BrokenOperation)]
    assert urls == ["http://h/item", "http://own/x", "http://a/1"]
    schema.server_variables = {"v": "2"}
    assert schema.base_url == "http://a/2"


def test_variables_of_all_servers_are_known_also_of_those_behind_a_reference() -> None:
    def at(name: str) -> list[Any]:
        return [{"url": f"http://{{{name}}}/{{{name}-path}}"}, "no server"]

    item = {"servers": at("item"), "get": {**OK, "servers": at("own")}}
    root = {
        "openapi": "3.1.0",
        "servers": at("root"),
        "paths": {"/a": {"$ref": "#/components/pathItems/A"}, "/b": {"get": {**OK, "servers": 5}}},
        "components": {"pathItems": {"A": item}},
    }
    names = {"root", "item", "own"}
    expected = names | {f"{name}-path" for name in names}
    assert OpenApiSchema(root).server_variables_declared == dict.fromkeys(expected, frozenset())


SWAGGER: list[tuple[dict[str, Any], str | None, str | None, str]] = [
    ({"host": "h", "basePath": "/v1"}, None, "http://h/v1", "/v1/"),
    ({"host": "h:8", "schemes": ["https", "http"]}, None, "https://h:8/", "/"),
    ({"host": "h", "schemes": ["https", "http"]}, "http://x/o", "http://h/", "/"),
    ({"basePath": "v1"}, "https://x/o", "https://x/v1", "/v1/"),
    ({"basePath": "/v1"}, None, None, "/v1/"),
    ({"schemes": 5, "host": "h"}, None, "http://h/", "/"),
]


@pytest.mark.parametrize(("more", "location", "url", "path"), SWAGGER)
def test_base_url_of_swagger_2(more: dict[str, Any], location: str | None, url: str | None, path: str) -> None:
    schema = OpenApiSchema({"swagger": "2.0", **more}, Provenance(location))
    assert (schema.base_url, schema.base_path) == (url, path)


def test_given_base_url_replaces_what_is_declared() -> None:
    schema = from_dict({"openapi": "3.0.0", "servers": [{"url": "http://a/v1"}]}, base_url="http://b/v2")
    assert (schema.base_url, schema.base_path) == ("http://b/v2", "/v2/")


def test_strategy_without_an_engine_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match="load its schema"):
        operation(OK).as_strategy()


@pytest.mark.parametrize("version", ["2.0", "3.0.3", "3.1.0"])
@pytest.mark.parametrize(("told", "read"), [(True, True), (False, False), ("no", False), (5, None)])
def test_forbidding_an_empty_query_is_more_than_saying_nothing(version: str, told: Any, read: bool | None) -> None:
    kind: dict[str, Any] = {"type": "string"}
    kind = kind if version == "2.0" else {"schema": kind}
    parameters = [{"name": "q", "in": "query", "allowEmptyValue": told, **kind}, {"name": "r", "in": "query", **kind}]
    found = operation({**OK, "parameters": parameters}, version=version)
    assert [one.allow_empty for one in found.parameters] == [read, None]


def test_values_of_a_server_variable_are_those_that_its_servers_list() -> None:
    def server(name: str, *values: object) -> dict[str, Any]:
        return {"url": f"http://{{{name}}}", "variables": {name: {"default": "a", "enum": list(values)}}}

    own = {"servers": [server("port", 80, "8080")], "get": {**OK, "servers": [server("host")]}}
    root = {"openapi": "3.1.0", "servers": [server("host", "a"), server("zone", "x")], "paths": {"/a": own}}
    assert OpenApiSchema(root).server_variables_declared == {"host": frozenset(), "zone": {"x"}, "port": {"80", "8080"}}


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        (
            {"default": "prod", "enum": ["test", "stage"]},
            "'prod' of the server variable `env` at #/servers/0/variables/env",
        ),
        ({"default": "prod", "enum": ["prod"]}, None),
        ({"default": "prod"}, None),
        ({"default": 8443, "enum": ["8443"]}, None),
        ({"enum": ["test"]}, None),
        ("prod", None),
    ],
)
def test_a_default_that_the_enum_of_its_variable_lacks_is_told_where_it_is_used(
    variable: Any, words: str | None
) -> None:
    servers = [{"url": "http://{env}", "variables": {"env": variable}}]
    root = {"openapi": "3.1.0", "servers": servers, "paths": {"/a": {"get": OK}, "/b": {"get": OK}}}
    schema = OpenApiSchema(root)
    told = [one.warning for one in schema.dropped()]
    assert [(one.kind, one.label) for one in told] == ([] if words is None else [("malformed_part", "")])
    assert all(str(words) in one.message and "('test', 'stage')" in one.message for one in told)
    schema.server_variables = {"env": "test"}
    assert not schema.dropped()
    assert not OpenApiSchema(root, base_url="http://h").dropped()
