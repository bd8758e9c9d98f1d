import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.errors import LoaderError
from checker.core.operation import BrokenOperation
from checker.openapi.loaders import from_dict, open_normalised
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema

from .documents import opened, operation, warnings_of

OK = {"responses": {"200": {"description": "OK"}}}


def labels(schema: OpenApiSchema) -> list[str]:
    return [str(one.label) for one in schema.get_all_operations()]


METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]


@pytest.mark.parametrize(("version", "count"), [("2.0", 7), ("3.0.4", 8), ("3.1.1", 8), ("3.2.0", 9)])
def test_each_version_has_its_methods(version: str, count: int) -> None:
    item = {**dict.fromkeys(METHODS, OK), "x-get": OK, "summary": "no operation"}
    assert labels(opened(version, {"/a": item})) == [f"{m.upper()} /a" for m in METHODS[:count]]


def test_operations_of_other_methods_are_read_since_3_2() -> None:
    item = {"get": OK, "additionalOperations": {"COPY": OK, "purge": {}}}
    assert labels(opened("3.2.0", {"/a": item})) == ["GET /a", "COPY /a", "purge /a"]
    assert labels(opened("3.1.0", {"/a": item})) == ["GET /a"]


OTHERS = [
    ("2.0", "trace", {}, "Swagger 2.0"),
    ("2.0", "query", {}, "Swagger 2.0"),
    ("3.0.3", "query", OK, "OpenAPI 3.0"),
    ("3.1.0", "connect", {}, "OpenAPI 3.1"),
    ("3.1.0", "copy", OK, "OpenAPI 3.1"),
    ("3.2.0", "gett", {"operationId": "a"}, "OpenAPI 3.2"),
]


@pytest.mark.parametrize(("version", "method", "raw", "name"), OTHERS)
def test_method_that_a_version_does_not_know_is_named(version: str, method: str, raw: Any, name: str) -> None:
    schema = opened(version, {"/a": {method: raw, "get": OK}})
    assert labels(schema) == ["GET /a"]
    (found,) = [one for one in warnings_of(schema) if one.kind == "unknown_method"]
    assert (found.label, found.pointer) == (f"{method.upper()} /a", f"#/paths/~1a/{method}")
    assert found.message.endswith(f"is not known to {name}; it is not tested")


def test_methods_of_a_later_version_are_named() -> None:
    schema = opened("3.1.0", {"/a": {"additionalOperations": {"COPY": OK}, "get": OK}})
    (found,) = warnings_of(schema)
    assert found.label == "COPY /a"


def test_what_is_no_operation_is_not_named() -> None:
    item = {"x-trace": OK, "summary": "s", "servers": [], "parameters": [], "foo": {"a": 1}, "$ref": 5}
    assert warnings_of(opened("2.0", {"/a": item | {"trace": None}})) == ()


def test_methods_that_http_cannot_say_are_broken() -> None:
    others = {"A B": OK, "": OK, "M-SEARCH": OK}
    schema = opened("3.2.0", {"/a": {"additionalOperations": others}})
    found = list(schema.get_all_operations())
    assert [isinstance(one, BrokenOperation) for one in found] == [True, True, False]
    assert isinstance(found[0], BrokenOperation)
    assert "`A B` at #/paths/~1a/additionalOperations/A B" in found[0].error


@pytest.mark.parametrize("version", ["3.1.0-custom", "3.0.0-RC0", "3.2", " 3.1.0 ", 3.1, 3])
def test_versions_are_read_leniently(version: Any) -> None:
    assert labels(from_dict({"openapi": version, "paths": {"/a": {"get": OK}}})) == ["GET /a"]


@pytest.mark.parametrize("version", ["3.901.2323", "4.0.0", "1.2", "x", "", True, None, [3]])
def test_other_versions_are_refused(version: Any) -> None:
    with pytest.raises(LoaderError, match=r"not supported|not specified"):
        from_dict({"openapi": version, "paths": {}})


def test_what_stands_beside_the_reference_of_a_path_item_counts() -> None:
    shared = {"get": {"tags": ["far"], **OK}, "put": OK}
    item = {"$ref": "#/components/pathItems/A", "get": {"tags": ["near"], **OK}}
    schema = opened("3.1.0", {"/a": item}, components={"pathItems": {"A": shared}})
    assert labels(schema) == ["GET /a", "PUT /a"]
    near = schema.find("GET /a")
    assert isinstance(near, OpenApiOperation)
    assert near.tags == ("near",)


def test_a_tag_without_a_name_groups_nothing() -> None:
    schema = opened("3.1.0", {"/a": {"get": {"tags": ["", " ", "a", 5], **OK}}})
    found = schema.find("GET /a")
    assert isinstance(found, OpenApiOperation)
    assert found.tags == ("a",)


def test_the_reference_of_an_operation_is_followed() -> None:
    body = {"required": True, "content": {"application/json": {"schema": {"type": "string"}}}}
    target = {"operationId": "theirs", "requestBody": body, "tags": ["a"], **OK}
    elsewhere: dict[str, Any] = {"create": {"$ref": "#/x-operations/really"}, "really": target}
    definition = {"$ref": "#/x-operations/create", "operationId": "ours"}
    more: dict[str, Any] = {"x-operations": elsewhere}
    found = operation(definition, method="post", **more)
    assert (found.operation_id, tuple(found.tags)) == ("ours", ("a",))
    assert [one.media_type for one in found.bodies] == ["application/json"]


@pytest.mark.parametrize("reference", ["#/nowhere", "#/paths/~1a/get", 7, "#/info/title"])
def test_a_reference_that_leads_to_no_operation_breaks_that_one(reference: Any) -> None:
    schema = opened("3.0.3", {"/a": {"get": {"$ref": reference}, "put": OK}})
    broken, read = schema.get_all_operations()
    assert isinstance(broken, BrokenOperation)
    assert broken.label == "GET /a"
    assert read.label == "PUT /a"


def test_path_items_that_lead_in_circles_are_broken_alone() -> None:
    paths = {"/a": {"$ref": "#/paths/~1b"}, "/b": {"$ref": "#/paths/~1a"}, "/c": {"get": OK}}
    found = list(opened("3.0.0", paths).get_all_operations())
    assert [isinstance(one, BrokenOperation) for one in found] == [True, True, False]


@pytest.mark.parametrize("item", ["x", 5, [], True])
def test_path_item_that_is_no_object_is_broken_alone(item: Any) -> None:
    first, second = opened("3.0.0", {"/a": item, "/b": {"get": OK}, "/c": None}).get_all_operations()
    assert isinstance(first, BrokenOperation)
    assert "#/paths/~1a is not an object" in first.error
    assert second.label == "GET /b"


@pytest.mark.parametrize("paths", [[], "x", 5])
def test_paths_that_are_no_object_are_one_sentence(paths: Any) -> None:
    (found,) = opened("3.0.0", paths).get_all_operations()
    assert isinstance(found, BrokenOperation)
    assert found.error == "`paths` must be an object of path items; correct it"


def test_query_string_is_an_exploded_object() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    content = {"application/x-www-form-urlencoded": {"schema": schema}}
    whole = {"name": "q", "in": "querystring", "content": content}
    (found,) = operation({"parameters": [whole]}, version="3.2.0").parameters
    assert (found.location, found.style, found.explode, found.schema.raw) == ("query", "form", True, schema)
    whole["content"] = {"application/json": {"schema": schema}}
    (found,) = operation({"parameters": [whole]}, version="3.2.0").parameters
    assert (found.style, found.media_type) == ("querystring", "application/json")
    whole["content"] = {"application/x-unheard-of": {"schema": schema}}
    left = operation({"parameters": [whole]}, version="3.2.0")
    assert left.parameters == ()
    assert "cannot be sent" in next(iter(left.unusable_parameters.values()))


SECURITY = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "user": {"type": "http", "scheme": "Basic"},
    "odd": {"type": "apiKey", "in": "moon", "name": "x"},
    "alias": {"$ref": "#/components/securitySchemes/key"},
}


def test_security_alternatives_of_the_operation_replace_those_of_the_document() -> None:
    more: Any = {"components": {"securitySchemes": SECURITY}, "security": [{"key": []}]}
    own = operation({**OK, "security": [{"user": [], "alias": []}, {}, {"gone": []}]}, **more)
    both, none, lost = own.security
    assert [(s.name, s.type, s.scheme, s.location, s.parameter) for s in both.schemes] == [
        ("user", "http", "basic", None, ""),
        ("alias", "apiKey", "", "header", "X-Key"),
    ]
    assert (none.is_none, lost.is_none, lost.undeclared) == (True, False, ("gone",))
    (usual,) = operation(OK, **more).security
    assert [scheme.name for scheme in usual.schemes] == ["key"]
    assert operation({**OK, "security": []}, **more).security == ()


def test_security_of_swagger() -> None:
    definitions = {"u": {"type": "basic"}, "k": {"type": "apiKey", "in": "query", "name": "k"}}
    found = operation(OK, version="2.0", securityDefinitions=definitions, security=[{"u": []}, {"k": []}])
    assert [one.schemes[0].type for one in found.security] == ["http", "apiKey"]


GOOD: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "servers": [{"url": "http://{h}/v", "variables": {"h": {"default": "a"}}}],
    "security": [{"key": []}],
    "paths": {
        f"/p{number}/{{id}}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "post": {
                "tags": ["t"],
                "parameters": [
                    {"name": "q", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                    {"name": "c", "in": "query", "content": {"application/json": {"schema": {}}}},
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": {"$ref": f"#/components/schemas/S{number}"}},
                        "multipart/form-data": {
                            "schema": {"properties": {"a": {"type": "string"}}},
                            "encoding": {"a": {"contentType": "text/plain"}},
                        },
                    },
                },
                "responses": {
                    "200": {
                        "description": "",
                        "headers": {"X": {"schema": {"type": "integer"}}},
                        "content": {"application/json": {"schema": {"type": "object"}}},
                        "links": {"next": {"operationId": "x", "parameters": {"id": "$response.body#/id"}}},
                    }
                },
                "security": [{"key": []}, {}],
            },
        }
        for number in range(2)
    },
    "components": {
        "schemas": {
            f"S{number}": {
                "type": "object",
                "properties": {"a": {"$ref": f"#/components/schemas/S{number}"}, "b": {"enum": [1]}},
                "required": ["a"],
                "allOf": [{"minProperties": 1}],
            }
            for number in range(2)
        },
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "k"}},
    },
}
BROKEN = st.sampled_from([None, 5, "x", [], {}, [5], {"a": 5}, True, [None], {"$ref": "#/gone"}, {"$ref": 5}, "\ud800"])


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in nodes(item, (*path, key)))]


OF_THE_FIRST = [
    path for path in nodes(GOOD) if path[:2] == ("paths", "/p0/{id}") or path[:3] == ("components", "schemas", "S0")
]
ELSEWHERE = [path for path in nodes(GOOD) if path and path not in OF_THE_FIRST and path[0] not in ("openapi", "paths")]


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    root = copy.deepcopy(GOOD)
    owner = root
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = value
    return root


def read_to_the_end(one: OpenApiOperation) -> object:
    one.security, one.base_url, one.tags, repr(one)
    for status in (200, 404):
        body = one.contract.plan(status, "application/json").body
        if body is not None:
            body.is_valid(b"{}")
            body.opinions(b"5")
    return (
        [(p.name, p.location, p.required, p.style, p.schema.raw) for p in one.parameters],
        [(body.media_type, body.schema.raw) for body in one.bodies],
    )


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(OF_THE_FIRST), BROKEN)
def test_malformed_operation_costs_no_other_one(path: tuple[Any, ...], value: Any) -> None:
    untouched = from_dict(GOOD).find("POST /p1/{id}")
    assert isinstance(untouched, OpenApiOperation)
    schema = from_dict(changed(path, value))
    found = {one.label: one for one in schema.get_all_operations()}
    other = found["POST /p1/{id}"]  # type: ignore[index]
    assert isinstance(other, OpenApiOperation)
    assert read_to_the_end(other) == read_to_the_end(untouched)
    for one in found.values():
        if isinstance(one, BrokenOperation):
            assert one.error.count("\n") == 0
            assert one.error[-1] not in " ;"
        else:
            read_to_the_end(one)
    assert [str(label) for label in found] == labels(open_normalised(schema.normalised()))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.sampled_from(ELSEWHERE), BROKEN)
def test_malformed_node_outside_of_operations_is_no_crash(path: tuple[Any, ...], value: Any) -> None:
    schema = from_dict(changed(path, value))
    assert (schema.title, schema.base_path) is not None
    for one in schema.get_all_operations():
        if isinstance(one, OpenApiOperation):
            read_to_the_end(one)
