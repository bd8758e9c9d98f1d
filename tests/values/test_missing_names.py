"""What names in paths were learned from: refusals that deny them, and operations that take other names than ids."""

import json
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.constraints import Constraint
from checker.core.meta import CaseMetadata, GenerationMode, PhaseInfo
from checker.core.operation import BrokenOperation
from checker.core.request import Location
from checker.core.response import Response
from checker.openapi.resources import resource_model
from checker.values.consumers import is_name_missing
from checker.values.pool import ValuePool
from tests.openapi.documents import opened, operation

NAME = {"name": "base", "in": "path", "required": True, "schema": {"type": "string"}}


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (404, "no", True),
        (400, "Database [abc] does not exist", True),
        (422, "no such database: 'abc'", True),
        (400, "Database [abcd] does not exist", False),
        (400, "abc is too short", False),
        (400, "the owner does not exist", False),
        (400, "Collection ID is not a valid UUIDv4", True),
        (400, "owner is not a valid UUID", False),
        (500, "Database [abc] does not exist", False),
    ],
)
def test_a_refusal_denies_the_name_in_the_path_by_its_status_or_its_text(
    status: int, text: str, *, expected: bool
) -> None:
    made = operation({"parameters": [NAME]}, path="/bases/{base}/things")
    case = Case(made, "c", path_parameters={"base": "abc"}, body={"owner": 5})
    response = Response(status, [("Content-Type", "application/json")], json.dumps({"message": text}).encode())
    assert is_name_missing(case, response, status) is expected


def test_an_operation_takes_names_of_the_form_that_it_demands() -> None:
    create, read = _bases()
    pool = ValuePool(resource_model([create, read]), lambda label: ["name"])
    key = "7be2f285-187a-4b3d-afb8-094b8e6e9a77"
    pool.observe(_created(create, "north"), Response(200, [], json.dumps({"id": key}).encode()))

    def taken(*demands: Constraint) -> set[object]:
        picked = (pool.view(read, (), demands).pick(Location.PATH, "name", index) for index in range(64))
        return {one.literal for one in picked if one is not None}

    assert taken() == {"north", key}
    assert taken(Constraint("path", ("name",), "format", '"uuid"')) == {key}
    assert taken(Constraint("path", ("name",), "maxLength", "9")) == {"north"}
    assert taken(Constraint("path", ("other",), "maxLength", "9")) == {"north", key}


def test_numbers_are_names_as_well() -> None:
    create, read = _bases()
    pool = ValuePool(resource_model([create, read]), lambda label: ["name"])
    pool.observe(_created(create, "north"), Response(200, [], b'{"id": 77}'))
    demand = Constraint("path", ("name",), "pattern", '"^[0-9]+$"')
    picked = (pool.view(read, (), (demand,)).pick(Location.PATH, "name", index) for index in range(64))
    assert {one.literal for one in picked if one is not None} == {"77"}


def test_names_that_no_path_can_have_are_passed_over() -> None:
    create, read = _bases()
    pool = ValuePool(resource_model([create, read]), lambda label: ["name"])
    for name in ("a/b", "north", "\x00", "back\\slash", " blank ", "..", ""):
        pool.observe(_created(create, name), Response(200, [], b"{}"))
    view = pool.view(read)
    assert {one.literal for index in range(64) if (one := view.pick(Location.PATH, "name", index))} == {"north"}


def test_names_below_one_that_no_path_can_have_are_passed_over() -> None:
    parameters = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in ("a", "b")]
    ok: dict[str, Any] = {"responses": {"200": {"description": ""}}}
    paths = {
        "/as/{a}/bs": {"get": {"parameters": parameters[:1], **ok}},
        "/as/{a}/bs/{b}": {"get": {"parameters": parameters, **ok}},
    }
    listing, read = (one for one in opened("3.0.3", paths).get_all_operations() if not isinstance(one, BrokenOperation))
    pool = ValuePool(resource_model([listing, read]), lambda label: ["name"])
    for above, name in (("x/y", "north"), ("z", "south"), (" ", "east")):
        meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("fuzzing"))
        case = Case(listing, "c", path_parameters={"a": above}, meta=meta)
        pool.observe(case, Response(200, [("Content-Type", "application/json")], b'[{"name": "%s"}]' % name.encode()))
    picked = {one.literal for index in range(64) if (one := pool.view(read).pick(Location.PATH, "b", index))}
    assert picked == {"south"}


def test_a_creation_seldom_takes_the_name_of_a_known_resource() -> None:
    create, read = _bases()
    pool = ValuePool(resource_model([create, read]), lambda label: ["name"])
    pool.observe(_created(create, "north"), Response(200, [], b"{}"))
    view = pool.view(read)
    assert [one.literal for index in range(8) if (one := view.pick(Location.PATH, "name", index))] == ["north"] * 8
    view = pool.view(create)
    taken = [index for index in range(16) if view.pick(Location.BODY, "/name", index) is not None]
    assert taken == [7, 15]
    assert pool.own_names(create.label) == {"/name"}


def _bases() -> list[Any]:
    """The operations that create a base with a name in the body, and read it by its name."""
    body = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    ok: dict[str, Any] = {"responses": {"200": {"description": ""}}}
    paths = {
        "/bases": {"post": {"requestBody": {"content": {"application/json": {"schema": body}}}, **ok}},
        "/bases/{name}": {"get": {"parameters": [{**NAME, "name": "name"}], **ok}},
    }
    found = opened("3.0.3", paths).get_all_operations()
    return [one for one in found if not isinstance(one, BrokenOperation)]


def _created(create: Any, name: str) -> Case:
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("fuzzing"))
    return Case(create, "c", body={"name": name}, meta=meta)
