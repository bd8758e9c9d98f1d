"""Links that names of fields and parameters suggest, and how the model travels with the document."""

import json
from typing import Any

import pytest

from checker.core.operation import Label
from checker.core.resources import ResourceModel, ResourceUse
from checker.openapi.loaders import from_dict
from checker.openapi.schema import open_normalised

ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def answered(schema: Any, status: str = "200") -> dict[str, Any]:
    return {"responses": {status: {"description": "", "content": {"application/json": {"schema": schema}}}}}


def taking(schema: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


USER = {"$ref": "#/components/schemas/UserResponse"}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "t", "version": "1"},
    "paths": {
        "/users": {
            "post": answered({"type": "object", "properties": {"data": USER}}, "201"),
            "get": answered({"type": "object", "properties": {"items": {"type": "array", "items": USER}}}),
        },
        "/users/{user_id}": {
            "parameters": [{**ID, "name": "user_id"}],
            "delete": {"responses": {"204": {"description": ""}}},
        },
        "/users/{owner}/notes": {
            "parameters": [{**ID, "name": "owner"}],
            "post": answered({"type": "object", "properties": {"id": {"type": "integer"}}}, "201"),
        },
        "/users/{user}/notes/{id}": {
            "parameters": [{**ID, "name": "user"}, ID],
            "get": answered({"type": "object", "properties": {"text": {"type": "string"}}}),
        },
        "/orders": {
            "post": taking(
                {
                    "type": "object",
                    "properties": {
                        "amount": {"type": "integer"},
                        "shipping": {"type": "object", "properties": {"user_id": {"type": "string"}}},
                    },
                }
            )
            | answered({"type": "object", "properties": {"ok": {"type": "boolean"}}}, "201")
        },
    },
    "components": {
        "schemas": {
            "UserResponse": {"type": "object", "properties": {"uuid": {"type": "string"}, "userId": {"type": "string"}}}
        }
    },
}


def found(model: ResourceModel) -> dict[str, dict[str, Any]]:
    return {
        one.title: {f"{value.location.value}.{value.name}": value.value for value in one.values}
        for one in model.transitions
    }


FIELDS = ("id", "name", "email", "city")


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/users/email/{email}", "/email"),
        ("/users/by-email/{email}", "/email"),
        ("/v1/users/name/{name}", "/name"),
        ("/users/city/{city}", "/city"),
        ("/users/{id}/name/{name}", None),
        ("/shops/name/{name}", None),
    ],
)
def test_a_path_may_look_up_a_resource_by_a_field(path: str, pointer: str | None) -> None:
    user = {"type": "object", "properties": {key: {"type": "string"} for key in FIELDS}}
    parameters = [{**ID, "name": one} for one in FIELDS if f"{{{one}}}" in path]
    paths = {"/v1/users": {"post": answered(user, "201")}, path: {"get": {"parameters": parameters, "responses": {}}}}
    name = parameters[-1]["name"]
    given = [each.get(f"path.{name}") for each in found(from_dict(DOCUMENT | {"paths": paths}).resources()).values()]
    assert list(filter(None, given)) == ([] if pointer is None else [f"$response.body#{pointer}"])


def test_names_of_fields_and_parameters_suggest_links() -> None:
    assert found(from_dict(DOCUMENT).resources()) == {
        "POST /users -> [201] DeleteUser -> DELETE /users/{user_id}": {"path.user_id": "$response.body#/data/userId"},
        "GET /users -> [200] DeleteUser -> DELETE /users/{user_id}": {"path.user_id": "$response.body#/items/*/userId"},
        "POST /users -> [201] CreateNote -> POST /users/{owner}/notes": {"path.owner": "$response.body#/data/uuid"},
        "GET /users -> [200] CreateNote -> POST /users/{owner}/notes": {"path.owner": "$response.body#/items/*/uuid"},
        "POST /users -> [201] GetNote -> GET /users/{user}/notes/{id}": {"path.user": "$response.body#/data/uuid"},
        "GET /users -> [200] GetNote -> GET /users/{user}/notes/{id}": {"path.user": "$response.body#/items/*/uuid"},
        "POST /users/{owner}/notes -> [201] GetNote -> GET /users/{user}/notes/{id}": {
            "path.id": "$response.body#/id",
            "path.user": "$request.path.owner",
        },
        "POST /users -> [201] CreateOrder -> POST /orders": {"body./shipping/user_id": "$response.body#/data/userId"},
        "GET /users -> [200] CreateOrder -> POST /orders": {"body./shipping/user_id": "$response.body#/items/*/userId"},
    }


@pytest.mark.parametrize("name", ["UserOut", "UserPublic", "user_read_response", "Account", "Users", "UO"])
def test_things_are_those_of_the_path_whatever_their_schema_is_called(name: str) -> None:
    user = {"type": "object", "properties": {"id": {"type": "string"}}}
    for variable in ("id", "user_id"):
        paths = {
            "/users": {"post": answered({"$ref": f"#/components/schemas/{name}"}, "201")},
            f"/users/{{{variable}}}": {"parameters": [{**ID, "name": variable}], "get": answered({})},
        }
        model = from_dict({**DOCUMENT, "paths": paths, "components": {"schemas": {name: user}}})
        assert found(model.resources()) == {
            f"POST /users -> [201] GetUser -> GET /users/{{{variable}}}": {f"path.{variable}": "$response.body#/id"}
        }


def named_by_clients(answer: Any) -> ResourceModel:
    made = answered(answer, "201") | taking(
        {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}
    )
    paths = {"/boxes": {"post": made}, "/boxes/{box}": {"parameters": [{**ID, "name": "box"}], "get": answered({})}}
    return from_dict({**DOCUMENT, "paths": paths}).resources()


def test_who_creates_a_thing_names_it_where_the_answer_does_not() -> None:
    assert found(named_by_clients({"type": "object"})) == {
        "POST /boxes -> [201] GetBox -> GET /boxes/{box}": {"path.box": "$request.body#/name"}
    }
    identified = {"type": "object", "properties": {"id": {"type": "string"}}}
    assert [list(one.values()) for one in found(named_by_clients(identified)).values()] == [["$response.body#/id"]]


def test_no_value_is_taken_for_a_property_that_is_only_read() -> None:
    user = {"type": "string"}
    inner = {"type": "object", "properties": {"user_id": user}}
    order = {
        "type": "object",
        "properties": {
            "user_id": {**user, "readOnly": True},
            "audit": {"allOf": [inner], "readOnly": True},
            "shipping": inner,
        },
    }
    paths = {**DOCUMENT["paths"], "/orders": {"post": taking(order)}}
    model = from_dict({**DOCUMENT, "paths": paths}).resources()
    taken = {value.name for one in model.transitions if one.target == "POST /orders" for value in one.values}
    assert taken == {"/shipping/user_id"}


def test_what_is_declared_takes_the_place_of_what_is_inferred() -> None:
    links = {"gone": {"operationId": "remove", "parameters": {"user_id": "$response.body#/data/uuid"}}}
    document = DOCUMENT | {"paths": {**DOCUMENT["paths"]}}
    created = document["paths"]["/users"]["post"]["responses"]["201"] | {"links": links}
    document["paths"]["/users"] = {"post": {"responses": {"201": created}}}
    document["paths"]["/users/{user_id}"] = {
        "parameters": [{**ID, "name": "user_id"}],
        "delete": {"operationId": "remove", "responses": {"204": {"description": ""}}},
    }
    model = from_dict(document).resources()
    (one,) = [link for link in model.transitions if link.target == "DELETE /users/{user_id}"]
    assert (one.name, one.is_inferred) == ("gone", False)
    assert one.values[0].value == "$response.body#/data/uuid"


def test_who_opens_the_normalised_document_builds_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = from_dict(DOCUMENT)
    data, model = schema.normalised(), schema.resources()
    monkeypatch.setattr("checker.openapi.schema.linked.resource_model", None)
    again = open_normalised(data).resources()
    assert (again.uses, again.transitions) == (model.uses, model.transitions)


@pytest.mark.parametrize(
    ("path", "asked", "name", "expected"),
    [
        ("/users/{id}", "/users/{user}/notes/{id}", "user", ["id"]),
        ("/users/{user}/notes/{id}", "/users/{id}", "id", ["user"]),
        ("/users/{id}", "/orders/{id}", "id", []),
        # Several from one place: they are no members of one collection.
        ("/p/{a}/{b}/{c}", "/p/{a}/{b}/{c}", "b", ["b"]),
        ("/p/{a}/{b}/{c}", "/p/{x}", "x", []),
        ("/p/{a}", "/p/{a}/{b}/{c}", "c", []),
        ("/p/{a}", "/p/{a}/{b}/{c}", "a", ["a"]),
    ],
)
def test_variables_of_one_path_that_name_what_those_of_another_do(
    path: str, asked: str, name: str, expected: list[str]
) -> None:
    one, other = (ResourceUse.of(Label(f"GET {each}"), "GET", each) for each in (path, asked))
    assert one.variables_for(other, name) == expected


@pytest.mark.parametrize(
    ("parameter", "fields", "pointer"),
    [
        ("cursor", ("cursor", "next_cursor"), "/next_cursor"),
        ("pageToken", ("nextPageToken",), "/nextPageToken"),
        ("continuation_token", ("continuation_token",), "/continuation_token"),
        ("starting_after", ("next_cursor",), "/next_cursor"),
        ("cursor", ("total", "page"), None),
        ("name", ("next_name",), None),
    ],
)
def test_a_list_leads_to_its_next_page(parameter: str, fields: tuple[str, ...], pointer: str | None) -> None:
    properties = {name: {"type": "string", "nullable": True} for name in fields}
    listed = answered({"type": "object", "properties": properties})
    asked = {"name": parameter, "in": "query", "schema": {"type": "string"}}
    document = {**DOCUMENT, "paths": {"/notes": {"get": {**listed, "parameters": [asked]}}}}
    label = Label("GET /notes")
    found = from_dict(document).resources().transitions_to(label, label)
    taken = [(value.name, value.value) for one in found for value in one.values]
    assert taken == ([] if pointer is None else [(parameter, f"$response.body#{pointer}")])


@pytest.mark.parametrize(
    ("about", "taken"),
    [
        ("`token` of the session", {"X-Mark": "/token"}),
        ("A `secret` from a session, for an hour", {"X-Mark": "/secret"}),
        ("`token` of the invoice", {}),
        ("`name`, in lower case", {}),
        (None, {}),
    ],
)
def test_a_description_names_the_field_that_holds_a_value(about: str | None, taken: dict[str, str]) -> None:
    fields = {name: {"type": "string"} for name in ("token", "secret", "name")}
    told = {} if about is None else {"description": about}
    asked = {"name": "X-Mark", "in": "header", "schema": {"type": "string"}, **told}
    session = answered({"type": "object", "properties": fields}, "201")
    paths = {"/sessions": {"post": session}, "/me": {"get": {**answered({}), "parameters": [asked]}}}
    model = from_dict({**DOCUMENT, "paths": paths}).resources()
    ways = model.transitions_to(Label("GET /me"), Label("POST /sessions"))
    found = {value.name: value.value for one in ways for value in one.values}
    assert found == {name: f"$response.body#{pointer}" for name, pointer in taken.items()}


def test_a_description_names_the_field_with_the_next_page() -> None:
    listed = answered({"type": "object", "properties": {"next": {"type": "string"}}})
    asked = {"name": "after", "in": "query", "schema": {"type": "string"}, "description": "`next` of the previous page"}
    paths = {"/notes": {"get": {**listed, "parameters": [asked]}}}
    label = Label("GET /notes")
    found = from_dict({**DOCUMENT, "paths": paths}).resources().transitions_to(label, label)
    assert [(value.name, value.value) for one in found for value in one.values] == [("after", "$response.body#/next")]


@pytest.mark.parametrize(
    ("kind", "known_by", "pointer"),
    [
        ("integer", {"id": "integer", "number": "integer"}, "/id"),
        ("string", {"id": "integer", "name": "string", "code": "string"}, "/code"),
        ("string", {"weight": "string"}, None),
        ("object", {"id": "integer"}, None),
    ],
)
def test_a_noun_alone_names_a_thing_of_its_collection(kind: str, known_by: dict[str, str], pointer: str | None) -> None:
    doctor = {"type": "object", "properties": {name: {"type": of} for name, of in known_by.items()}}
    visit = {"type": "object", "properties": {"doctor": {"type": kind}, "room": {"type": kind}}}
    paths = {"/doctors": {"post": answered(doctor, "201")}, "/visits": {"post": taking(visit)}}
    model = from_dict({**DOCUMENT, "paths": paths}).resources()
    ways = model.transitions_to(Label("POST /visits"), Label("POST /doctors"))
    taken = [(value.name, value.value) for one in ways for value in one.values]
    assert taken == ([] if pointer is None else [("/doctor", f"$response.body#{pointer}")])


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        ({"id": "integer", "user": {"id": "integer"}}, "/user/id"),
        ({"user": {"id": "integer"}, "id": "integer"}, "/user/id"),
        ({"id": "integer", "user": {"id": "boolean"}}, None),
    ],
)
@pytest.mark.parametrize("asked", ["path.id", "path.userId", "body./userId"])
def test_an_id_belongs_to_the_object_around_it(answer: dict[str, Any], pointer: str | None, asked: str) -> None:
    place, _, name = asked.partition(".")
    if place == "path":
        target = f"GET /users/{{{name}}}"
        path = {"get": answered({}) | {"parameters": [{**ID, "name": name, "schema": {"type": "integer"}}]}}
    else:
        target = "POST /visits"
        visit = {"type": "object", "properties": {name.strip("/"): {"type": "integer"}}}
        path = {"post": taking(visit) | answered({})}
    paths = {"/orders": {"post": answered(written(answer), "201")}, target.partition(" ")[2]: path}
    ways = from_dict({**DOCUMENT, "paths": paths}).resources().transitions_to(Label(target), Label("POST /orders"))
    taken = [value.value for one in ways for value in one.values]
    assert taken == ([] if pointer is None else [f"$response.body#{pointer}"])


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        ({"user": {"id": "integer"}, "data": {"id": "integer"}}, "/data/id"),
        ({"user": {"id": "integer"}, "order": {"id": "integer"}}, "/order/id"),
        ({"user": {"id": "integer"}, "item": {"id": "integer"}}, "/item/id"),
        ({"user": {"id": "integer"}, "envelope": {"id": "integer"}}, "/envelope/id"),
        ({"user": {"id": "integer"}}, None),
    ],
)
@pytest.mark.parametrize("asked", ["id", "order_id"])
def test_an_id_of_another_resource_inside_a_resource_is_not_its_own(
    answer: dict[str, Any], pointer: str | None, asked: str
) -> None:
    parameter = {**ID, "name": asked, "schema": {"type": "integer"}}
    paths = {
        "/orders": {"post": answered(written(answer), "201")},
        f"/orders/{{{asked}}}": {"parameters": [parameter], "get": answered({})},
        "/users": {"post": answered(written({"id": "integer"}), "201")},
        "/items": {"post": answered(written({"id": "integer"}), "201")},
    }
    model = from_dict({**DOCUMENT, "paths": paths}).resources()
    ways = model.transitions_to(Label(f"GET /orders/{{{asked}}}"), Label("POST /orders"))
    assert [value.value for one in ways for value in one.values] == (
        [] if pointer is None else [f"$response.body#{pointer}"]
    )


def test_a_token_is_known_by_its_field_of_the_same_name() -> None:
    about = {"parameters": [{"name": "token", "in": "query", "schema": {"type": "integer"}}]} | answered({})
    made = {"post": answered(written({"id": "integer", "token": "integer"}), "201")}
    model = from_dict({**DOCUMENT, "paths": {"/tokens": made, "/whoami": {"get": about}}}).resources()
    assert [value.value for one in model.transitions for value in one.values] == ["$response.body#/token"]


def written(types: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these types of its members."""
    members = {name: written(of) if isinstance(of, dict) else {"type": of} for name, of in types.items()}
    return {"type": "object", "properties": members}


SHOWN = {"notes": [{"key": "a1", "text": "x"}], "meta": {"total": 1}}


def test_a_url_refers_to_a_member_of_the_nearest_collection_of_its_noun() -> None:
    url = {"type": "string", "format": "uri"}
    country = {"type": "object", "properties": {"name": {"type": "string"}, "flag": url, "url": url}}
    lists = {"get": answered({"type": "array", "items": country})}
    sent = taking({"type": "object", "properties": {"country": url}})
    document = {
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "paths": {
            "/shop/admin/countries": lists,
            "/shop/countries": lists,
            "/shop/addresses": {"post": sent | answered({})},
            "/shop/admin/taxes": {"post": sent | answered({})},
        },
    }
    transitions = from_dict(document).resources().transitions
    assert [(one.source, one.target, value.value) for one in transitions for value in one.values] == [
        ("GET /shop/countries", "POST /shop/addresses", "$response.body#/*/url"),
        ("GET /shop/admin/countries", "POST /shop/admin/taxes", "$response.body#/*/url"),
        ("GET /shop/countries", "POST /shop/admin/taxes", "$response.body#/*/url"),
    ]


def test_a_url_refers_to_a_collection_below_the_one_that_the_body_names_beside_it() -> None:
    url = {"type": "string", "format": "uri"}
    lists = {"get": answered({"type": "array", "items": {"type": "object", "properties": {"url": url}}})}
    line = taking({"type": "object", "properties": {"product": url, "stock": url}})
    paths = {
        "/products": lists,
        "/admin/stocks": lists,
        "/products/{id}/stocks": {"parameters": [ID], **lists},
        "/lines": {"post": line | answered({})},
    }
    document = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths}
    transitions = from_dict(document).resources().transitions
    assert [(one.source, value.name) for one in transitions if one.target == "POST /lines" for value in one.values] == [
        ("GET /products", "/product"),
        ("GET /products/{id}/stocks", "/stock"),
    ]


def test_a_place_that_names_nothing_takes_the_urls_of_what_its_example_names() -> None:
    url = {"type": "string", "format": "uri"}
    lists = {"get": answered({"type": "array", "items": {"type": "object", "properties": {"url": url}}})}
    body = {"schema": {"type": "object", "properties": {"note": {"type": "string"}}}}
    example = {"url": "https://example.com/v2/products/7", "link": "https://example.com/v2/orders/7"}
    adding = {"requestBody": {"content": {"application/json": {**body, "example": example}}}} | answered({})
    paths = {"/products": lists, "/orders": lists, "/cart/add": {"post": adding}}
    model = from_dict({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths}).resources()
    found = [(one.source, value.name, value.value) for one in model.transitions for value in one.values]
    assert found == [("GET /products", "/url", "$response.body#/*/url")]
    assert model.naming_places == {"POST /cart/add": ("/url",)}


@pytest.mark.parametrize(
    "answer",
    [
        {"example": SHOWN},
        {"example": json.dumps(SHOWN)},
        {"schema": {"type": "object"}, "examples": {"one": {"value": SHOWN}}},
    ],
)
def test_examples_say_what_answers_hold_where_schemas_do_not(answer: dict[str, Any]) -> None:
    listed = {"responses": {"200": {"description": "", "content": {"application/json": answer}}}}
    asked = {"parameters": [{**ID, "name": "key"}], "get": answered({"type": "object"})}
    paths = {"/notes": {"get": listed}, "/notes/{key}": asked}
    model = from_dict({**DOCUMENT, "paths": paths}).resources()
    (way,) = model.transitions_to(Label("GET /notes/{key}"), Label("GET /notes"))
    assert [value.value for value in way.values] == ["$response.body#/notes/*/key"]


def test_forms_that_begin_with_one_shared_field_are_read_apart() -> None:
    def taking_form(field: str) -> dict[str, Any]:
        fields = [{"$ref": "#/parameters/Token"}, {"name": field, "in": "formData", "type": "integer"}]
        return {"post": {"parameters": fields, "responses": {"200": {"description": ""}}}}

    room = {"type": "object", "properties": {"id": {"type": "integer"}}}
    made = {"post": {"responses": {"201": {"description": "", "schema": room}}}}
    model = from_dict({
        "swagger": "2.0", "info": {"title": "T", "version": "1"},
        "parameters": {"Token": {"name": "token", "in": "formData", "type": "string"}},
        "paths": {"/alarms": taking_form("loudness"), "/bookings": taking_form("room_id"), "/rooms": made},
    }).resources()  # fmt: skip
    assert [(one.source, one.target) for one in model.transitions] == [("POST /rooms", "POST /bookings")]


def test_examples_of_the_second_version_are_read() -> None:
    responses = {"200": {"description": "", "examples": {"application/json": SHOWN}}}
    asked = {"name": "key", "in": "path", "required": True, "type": "string"}
    paths = {
        "/notes": {"get": {"responses": responses}},
        "/notes/{key}": {"get": {"parameters": [asked], "responses": responses}},
    }
    document = {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": paths}
    transitions = from_dict(document).resources().transitions
    assert ("GET /notes", "GET /notes/{key}") in {(one.source, one.target) for one in transitions}


_ACCOUNT = {"type": "object", "properties": {"id": {"type": "integer"}}}
_BOOKING = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "confirmation_code": {"type": "string"}, "total": {"type": "integer"}},
}


def linked(path: str, name: str, kind: str) -> dict[str, str]:
    """Return producer -> expression, for a field of the body of one request."""
    transitions = from_dict(booked(path, name, kind)).resources().transitions
    return {one.source: value.value for one in transitions for value in one.values if value.name == f"/{name}"}


def booked(path: str, name: str, kind: str) -> dict[str, Any]:
    """Return a description of accounts, bookings and an operation with one field in its body."""
    below = {"parameters": [{**ID, "name": "booking_id"}]} if "{" in path else {}
    return {
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "paths": {
            "/accounts": {"post": answered(_ACCOUNT, "201")},
            "/bookings": {"post": answered(_BOOKING, "201")},
            "/categories": {"post": answered(_ACCOUNT, "201")},
            path: below
            | {"post": taking({"type": "object", "properties": {name: {"type": kind}}}) | answered(_ACCOUNT)},
        },
    }


@pytest.mark.parametrize(
    "name",
    [
        *("account_id", "source_account_id", "fromAccountId", "other_account_id", "to_account", "destinationAccount"),
        *("payee-account-id", "parentAccount", "new_savings_account_id"),
    ],
)
def test_a_qualified_name_refers_to_the_same_resource(name: str) -> None:
    assert linked("/transfers", name, "integer") == {"POST /accounts": "$response.body#/id"}


@pytest.mark.parametrize("name", ["total_account", "accountant_id", "note", "source"])
def test_a_name_that_only_contains_a_noun_refers_to_nothing(name: str) -> None:
    assert linked("/transfers", name, "integer") == {}


@pytest.mark.parametrize("name", ["parentId", "parent_category_id", "replacedCategory", "previousId", "reply_to"])
def test_a_resource_may_refer_to_another_of_its_collection(name: str) -> None:
    is_linked = linked("/categories", name, "integer") == {"POST /categories": "$response.body#/id"}
    assert is_linked is (name != "replacedCategory")


@pytest.mark.parametrize(
    ("action", "name", "kind", "pointer"),
    [
        ("confirm", "code", "string", "/confirmation_code"),
        ("confirm", "confirmationCode", "string", "/confirmation_code"),
        ("confirm", "token", "string", "/confirmation_code"),
        ("confirm", "pin", "string", "/confirmation_code"),
        ("confirm", "word", "string", None),
        ("pay", "amount", "integer", "/total"),
        ("refund", "total", "integer", "/total"),
        ("pay", "quantity", "integer", None),
        ("pay", "amount", "string", None),
    ],
)
def test_a_step_below_a_resource_repeats_what_that_showed(
    action: str, name: str, kind: str, pointer: str | None
) -> None:
    expected = {} if pointer is None else {"POST /bookings": f"$response.body#{pointer}"}
    assert linked(f"/bookings/{{booking_id}}/{action}", name, kind) == expected


def test_a_step_repeats_what_an_action_of_another_collection_showed_of_its_resource() -> None:
    amount = {"type": "object", "properties": {"amount": {"type": "integer"}}}
    document = {
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "components": {"schemas": {"Booking": _BOOKING}},
        "paths": {
            "/offers/{offer_id}/accept": {
                "parameters": [{**ID, "name": "offer_id"}],
                "post": answered({"$ref": "#/components/schemas/Booking"}, "201"),
            },
            "/bookings/{booking_id}/pay": {
                "parameters": [{**ID, "name": "booking_id"}],
                "post": taking(amount) | answered(_ACCOUNT),
            },
        },
    }
    transitions = from_dict(document).resources().transitions
    found = {one.source: value.value for one in transitions for value in one.values if value.name == "/amount"}
    assert found == {"POST /offers/{offer_id}/accept": "$response.body#/total"}


def test_codes_and_amounts_that_others_gave_out_are_taken_like_names() -> None:
    assert naming("confirm", "confirmation_code", "string") == ("/confirmation_code",)
    assert naming("pay", "amount", "integer") == ("/amount",)
    # A request may choose a total of its own.
    assert naming("refund", "total", "integer") == ()
    assert naming("confirm", "word", "string") == ()


def naming(action: str, name: str, kind: str) -> tuple[str, ...]:
    """Return the places of the body of an action on a booking that name something."""
    path = f"/bookings/{{booking_id}}/{action}"
    return from_dict(booked(path, name, kind)).resources().naming_places.get(Label(f"POST {path}"), ())


_LEDGERS = [("accounts", "account_id"), ("ledgers", "ledger_id")]


@pytest.mark.parametrize(
    ("names", "kind", "summary", "found"),
    [
        (("source", "target"), "integer", "", {"POST /accounts", "POST /ledgers"}),
        (("from", "to"), "integer", "Move money between accounts", {"POST /accounts"}),
        (("payer", "payee"), "integer", "", {"POST /accounts", "POST /ledgers"}),
        (("source", "target"), "string", "", set()),
        (("source", "note"), "integer", "", set()),
        (("minimum", "maximum"), "integer", "", set()),
    ],
)
def test_two_ends_without_a_noun_refer_to_members_of_few_collections(
    names: tuple[str, str], kind: str, summary: str, found: set[str]
) -> None:
    sent = taking({"type": "object", "properties": {name: {"type": kind} for name in names}})
    paths: dict[str, Any] = {"/transfers": {"post": {"summary": summary, **sent, **answered(_ACCOUNT)}}}
    for collection, variable in _LEDGERS:
        paths[f"/{collection}"] = {"post": answered(_ACCOUNT, "201")}
        paths[f"/{collection}/{{{variable}}}"] = {
            "parameters": [{**ID, "name": variable, "schema": {"type": "integer"}}],
            "delete": {"responses": {"204": {"description": ""}}},
        }
    document = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths}
    transitions = from_dict(document).resources().transitions
    into = {(one.source, value.name) for one in transitions for value in one.values if one.target == "POST /transfers"}
    assert into == {(source, f"/{name}") for source in found for name in names}


def located_model(count: int, answer: dict[str, Any]) -> ResourceModel:
    """Return the model of as many operations whose resources no operation lists or creates, and as many others."""
    paths: dict[str, Any] = {f"/jobs{n}": {"post": {"responses": answer}} for n in range(count)}
    for number in range(count):
        paths[f"/results{number}/{{id}}"] = {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": {"responses": {"200": {"description": ""}}},
        }
    return from_dict({"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}).resources()


@pytest.mark.parametrize("status", ["200", "202"])
def test_an_operation_waits_for_few_operations_that_may_show_its_urls(status: str) -> None:
    preceding = located_model(40, {status: {"description": ""}}).preceding
    assert {len(before) for before in preceding.values()} == {32}


@pytest.mark.parametrize(
    ("field", "is_url"),
    [
        ({"href": {"type": "string"}}, True),
        ({"next": {"type": "string", "format": "uri-reference"}}, True),
        ({"next": {"type": "string"}}, False),
    ],
)
def test_an_operation_waits_for_fields_that_names_or_formats_call_urls(field: dict[str, Any], is_url: bool) -> None:
    answer = answered({"type": "object", "properties": field})["responses"]
    assert any(located_model(1, answer).preceding.values()) is is_url


def texts(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object; None is a text."""
    given = {name: {"type": "string"} if one is None else one for name, one in properties.items()}
    return {"type": "object", "properties": given}


@pytest.mark.parametrize(
    ("order", "pointer"),
    [
        (texts(lines={"type": "array", "items": texts(id=None)}), "/lines/*/id"),
        (texts(lines={"type": "array", "items": texts(line_id=None)}), "/lines/*/line_id"),
        (texts(parcel=texts(rows={"type": "array", "items": texts(lineId=None)})), "/parcel/rows/*/lineId"),
        (texts(first_note=None, line_id=None), "/line_id"),
        (texts(outline_id=None, lines=None), None),
    ],
)
def test_a_resource_that_nothing_lists_is_found_where_another_refers_to_it(
    order: dict[str, Any], pointer: str | None
) -> None:
    def model(more: dict[str, Any]) -> ResourceModel:
        paths = {
            "/orders": {"get": answered({"type": "array", "items": texts(id=None)})},
            "/orders/{id}": {"parameters": [ID], "get": answered(order), "put": answered(order)},
            "/lines/{line_id}": {"parameters": [{**ID, "name": "line_id"}], "get": answered(texts(text=None))},
        }
        return from_dict({**DOCUMENT, "paths": paths | more}).resources()

    shown, line = Label("GET /orders/{id}"), Label("GET /lines/{line_id}")
    alone = model({})
    assert {value.value for one in alone.transitions_to(line, shown) for value in one.values} == (
        set() if pointer is None else {f"$response.body#{pointer}"}
    )
    assert (alone.layers[line] > alone.layers[shown]) is (pointer is not None)
    assert (shown in alone.producers) is (pointer is not None)
    listed = model({"/lines": {"get": answered({"type": "array", "items": texts(id=None)})}})
    assert Label("GET /lines") in listed.sources[line]
    assert shown not in listed.producers


URI = {"type": "string", "format": "uri"}
PRODUCT = {"type": "object", "properties": {"site": URI}}
RECORD = {"type": "object", "properties": {"id": {"type": "integer"}, "url": URI}}


def shop(line: dict[str, Any]) -> ResourceModel:
    """Return the model of products with stock records, and of lines."""
    lines = {"type": "object", "properties": line}
    paths: dict[str, Any] = {
        "/products": {"post": taking(PRODUCT) | answered(PRODUCT, "201")},
        "/products/{product}/stockrecords": {
            "parameters": [{**ID, "name": "product"}],
            "get": answered({"type": "array", "items": RECORD}),
        },
        "/lines": {"post": taking(lines) | answered(lines, "201")},
    }
    return from_dict({"openapi": "3.0.3", "info": {"title": "", "version": ""}, "paths": paths}).resources()


@pytest.mark.parametrize("line", [{"stockrecord": URI}, {"stockrecordId": {"type": "integer"}}])
def test_an_operation_waits_for_the_list_that_shows_what_its_body_names(line: dict[str, Any]) -> None:
    layers = shop(line).layers
    lists, lines = "GET /products/{product}/stockrecords", "POST /lines"
    assert layers[Label("POST /products")] < layers[Label(lists)] < layers[Label(lines)]


def test_fields_of_one_format_close_no_circle() -> None:
    # Both operations take any URL, and both show some.
    model = shop({"homepage": URI})
    ends = [Label("POST /products"), Label("POST /lines")]
    assert not any(set(ends) <= model.needed_by([end]) | {end} for end in ends)
    assert model.layers[ends[0]] < model.layers[Label("GET /products/{product}/stockrecords")]


def test_lists_that_bodies_refer_to_close_no_circle() -> None:
    def numbers(*names: str) -> dict[str, Any]:
        return {"type": "object", "properties": {name: {"type": "integer"} for name in names}}

    def listed(name: str) -> dict[str, Any]:
        return {"parameters": [{**ID, "name": name}], "get": answered({"type": "array", "items": numbers("id")})}

    # A user has a role of a team, a team has a member of a user.
    paths: dict[str, Any] = {
        "/users": {"post": taking(numbers("roleId")) | answered(numbers("id"), "201")},
        "/teams": {"post": taking(numbers("memberId")) | answered(numbers("id"), "201")},
        "/users/{user}/members": listed("user"),
        "/teams/{team}/roles": listed("team"),
    }
    model = from_dict({"openapi": "3.0.3", "info": {"title": "", "version": ""}, "paths": paths}).resources()
    assert sorted(model.layers.values()) == [0, 1, 2, 3]
