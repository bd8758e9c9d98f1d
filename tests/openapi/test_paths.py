"""Paths of a document as they are written, and paths as they are sent."""

from collections.abc import Iterator
from typing import Any

import pytest

from checker.core.contract import Outcome
from checker.core.operation import BrokenOperation, Location
from checker.core.request import WireRequest
from checker.openapi.contents import Entry
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema

from .documents import opened, operation

OK = {"responses": {"200": {"description": "OK"}}}


def at(name: str, place: str = "path", **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": {"type": "integer", **schema}}


def outcome(tested: OpenApiOperation, target: str, *headers: tuple[bytes, bytes]) -> Outcome:
    return tested.judge_request(WireRequest(tested.method, target.encode(), [*headers])).outcome


NOTATIONS = [
    ("/a/{ID}", "id", "/a/{ID}"),
    ("/a/{user_id}", "userId", "/a/{user_id}"),
    ("/a/{id:[0-9]+}", "id", "/a/{id}"),
    ("/a/{id:[0-9]{3}}/b", "id", "/a/{id}/b"),
    ("/a/{id:[0-9]{3}}", "id:[0-9]{3}", "/a/{id}"),
    ("/a/{ id }", "id", "/a/{id}"),
    ("/a/{id?}", "id", "/a/{id}"),
    ("/a/{path*}", "path", "/a/{path}"),
    ("/a/{proxy+}", "proxy", "/a/{proxy}"),
    ("/a/{+name}", "name", "/a/{name}"),
    ("/a/{name=shelves/*}:get", "name", "/a/{name}:get"),
    ("a/{id}", "id", "/a/{id}"),
]


@pytest.mark.parametrize(("declared", "parameter", "sent"), NOTATIONS)
def test_a_variable_in_any_notation_is_the_parameter_that_it_names(declared: str, parameter: str, sent: str) -> None:
    tested = operation({"parameters": [at(parameter)], **OK}, path=declared)
    assert (tested.label, tested.path) == (f"GET {declared}", sent)
    (found,) = tested.parameters
    assert f"{{{found.name}}}" in sent
    assert found.schema.raw == {"type": "integer"}
    (warning,) = tested.warnings()
    assert warning.kind == "malformed_part"
    assert f"`{declared}`" in warning.message


def test_variables_whose_notations_have_one_name_stay_as_they_are() -> None:
    tested = operation({"parameters": [at("id:a"), at("id:b")], **OK}, path="/a/{id:a}/{id:b}")
    assert [one.name for one in tested.parameters] == ["id:a", "id:b"]


def test_a_parameter_of_the_exact_name_declares_a_variable() -> None:
    tested = operation({"parameters": [at("id", minimum=1), at("ID")], **OK}, path="/a/{ID}")
    assert [(one.name, one.schema.raw) for one in tested.parameters] == [("ID", {"type": "integer"})]
    (warning,) = tested.warnings()
    assert "`id` at #/paths/~1a~1{ID}/get/parameters/0 is no variable of `/a/{ID}`" in warning.message


def test_a_shared_parameter_keeps_its_name_elsewhere() -> None:
    item = {"get": {"parameters": [{"$ref": "#/components/parameters/Id"}], **OK}}
    schema = opened("3.0.3", {"/a/{ID}": item, "/b/{id}": item}, components={"parameters": {"Id": at("id")}})
    found = [one for one in schema.get_all_operations() if isinstance(one, OpenApiOperation)]
    assert [[one.name for one in tested.parameters] for tested in found] == [["ID"], ["id"]]


def test_no_verdict_depends_on_an_undeclared_variable() -> None:
    tested = operation({"parameters": [at("q", "query")], **OK}, path="/a/{id}")
    (warning,) = tested.warnings()
    assert "declares `{id}`; any text is sent, and no verdict depends on it" in warning.message
    assert outcome(tested, "/a/b?q=1") is Outcome.AMBIGUOUS
    assert outcome(tested, "/a/b?q=x") is Outcome.INVALID


@pytest.mark.parametrize(("path", "expected"), [("/a/{id:[0-9]{3}}", Outcome.AMBIGUOUS), ("/a/{ID}", Outcome.INVALID)])
def test_no_verdict_depends_on_a_variable_with_rules_of_its_own(path: str, expected: Outcome) -> None:
    assert outcome(operation({"parameters": [at("id")], **OK}, path=path), "/a/x") is expected


def test_the_fragment_of_a_path_names_an_operation_and_is_not_sent() -> None:
    schema = opened("3.0.3", {"/a/{id}#byId": {"get": OK}, "/a/{id}#byName": {"get": OK}})
    found = list(schema.get_all_operations())
    assert [str(one.label) for one in found] == ["GET /a/{id}#byId", "GET /a/{id}#byName"]
    assert {one.path for one in found} == {"/a/{id}"}
    assert [schema.place_of(one) for one in schema.entries()] == [("/a/{id}#byId", "GET"), ("/a/{id}#byName", "GET")]


def test_a_request_is_not_wrong_if_another_operation_of_its_path_may_accept_it() -> None:
    def by(name: str) -> dict[str, Any]:
        return {"get": {"parameters": [at(name, "query")], **OK}}

    schema = opened("3.0.3", {"/a#byId": by("id"), "/a#byAge": by("age"), "/b#only": by("id")})
    tested, other, alone = (one for one in schema.get_all_operations() if isinstance(one, OpenApiOperation))
    assert outcome(tested, "/a?age=1") is Outcome.AMBIGUOUS
    assert outcome(other, "/a?age=x") is Outcome.INVALID
    assert outcome(alone, "/b?age=1") is Outcome.INVALID


def test_parameters_below_a_path_with_a_fragment_have_their_definitions() -> None:
    (one,) = operation({"parameters": [at("q", "query")], **OK}, path="/#X-Target=A.b").parameters[:1]
    assert one.definition["name"] == "q"


class _Counted(OpenApiSchema):
    readings = 0
    """Readings of the table of contents."""

    def entries(self) -> Iterator[Entry | BrokenOperation]:
        self.readings += 1
        return super().entries()


def test_operations_of_the_same_path_are_looked_up_once() -> None:
    described = {"get": {"parameters": [at("id", "query")], **OK}}
    schema = opened("3.0.3", {"/a#one": described, "/a#two": described, "/b": {"get": OK}})
    counted = _Counted(schema.raw_schema)
    tested = counted.find("GET /a#one")
    assert isinstance(tested, OpenApiOperation)
    assert {outcome(tested, "/a?id=x") for _ in range(20)} == {Outcome.INVALID}
    assert counted.readings == 1


def test_a_fragment_that_names_a_header_gives_the_operation_that_header() -> None:
    described = {"name": "x-target", "in": "header", "required": True, "schema": {"enum": ["B"]}}
    paths = {"/#X-Target=A": {"post": OK}, "/#X-Target=B": {"post": {"parameters": [described], **OK}}}
    first, second = (one for one in opened("3.0.3", paths).get_all_operations() if isinstance(one, OpenApiOperation))
    (given,) = first.parameters
    assert (given.name, given.location, given.required) == ("X-Target", Location.HEADER, True)
    assert given.schema.raw == {"type": "string", "enum": ["A"]}
    assert [one.name for one in second.parameters] == ["x-target"]
    assert outcome(first, "/", (b"X-Target", b"A")) is Outcome.VALID
    assert outcome(first, "/", (b"X-Target", b"C")) is Outcome.INVALID
    assert outcome(first, "/", (b"X-Target", b"B")) is Outcome.AMBIGUOUS
