"""What names in paths were learned from: refusals that deny them, and operations that take other names than ids."""

import json
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.constraints import Constraint
from checker.core.meta import Binding, CaseMetadata, GenerationMode, PhaseInfo
from checker.core.operation import BrokenOperation, Label
from checker.core.request import Location
from checker.core.response import Response
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.openapi.resources import resource_model
from checker.phases.bindings import BoundPool
from checker.values.consumers import is_name_missing
from checker.values.pool import ValuePool
from tests.generation.making import PHASE, parameter_of, program_of
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


def test_names_that_responses_showed_need_not_respect_demands() -> None:
    # One operation takes ids and refuses names for their form, and another one takes names.
    learned = (Constraint("path", ("base",), "format", '"uuid"'),)
    settings = GenerationSettings(reuse=True, learned=learned)
    program = program_of(parameter_of({"type": "string"}, Location.PATH, "base"), settings=settings)
    pool = BoundPool.of((Binding(Location.PATH, "base", Label("GET /bases"), "/name", 0, "north"),))
    drawn = [program.draw(RandomSource(seed), case_id="c", phase=PHASE, pool=pool) for seed in range(100)]
    names = [case.path_parameters["base"] for case in drawn]
    assert names.count("north") > 80
    assert all(len(one) == 36 for one in names if one != "north")


def test_names_that_no_path_can_have_are_passed_over() -> None:
    create, read = _bases()
    pool = ValuePool(resource_model([create, read]), lambda label: ["name"])
    for name in ("a/b", "north", "\x00", "back\\slash", " blank ", "..", ""):
        pool.observe(_created(create, name), Response(200, [], b"{}"))
    view = pool.view(read)
    assert {one.literal for index in range(64) if (one := view.pick(Location.PATH, "name", index))} == {"north"}


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
