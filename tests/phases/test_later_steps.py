"""Steps of sequences, made again from what is recorded of them: values were drawn, taken from a pool, or set over them."""

import json
from typing import Any

import pytest
from msgspec import Struct

from checker.config.overrides import NO_OVERRIDES, Override, Overrides
from checker.core.constraints import Constraint
from checker.core.meta import Binding, GenerationMode, PhaseInfo
from checker.core.operation import BrokenOperation, Label, Location, Operation, Place
from checker.generation.boundaries.values import likeness
from checker.generation.program import GenerationSettings
from checker.openapi.loaders import from_dict
from checker.phases.case_factory import CaseFactory, GenerationRules, KnownValues, ReusedValues
from tests.phases.demanding import Demanding

MESSAGES, ROOMS = Label("POST /rooms/{room_id}/messages"), Label("POST /rooms")
STATEFUL = PhaseInfo("stateful")
ID = {"type": "integer", "minimum": 1}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Chat", "version": "1"},
    "paths": {
        "/rooms/{room_id}/messages": {
            "post": {
                "parameters": [
                    {"name": "room_id", "in": "path", "required": True, "schema": ID},
                    {"name": "thread", "in": "query", "required": True, "schema": ID},
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["text"],
                                "properties": {"text": {"type": "string"}},
                            }
                        }
                    },
                },
                "responses": {"201": {"description": ""}},
            }
        }
    },
}
ROOM = Binding(Location.PATH, "room_id", ROOMS, "/id", 0, 7, json.dumps("$response.body#/id"), 0)


class Threads(Struct):
    """A pool that knows values of one parameter, or nothing."""

    is_empty: bool

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        known = not self.is_empty and name == "thread" and index % 2
        return Binding(location, name, ROOMS, "/thread", index, 900 + index) if known else None

    def was_shown(self, place: Place, value: object) -> bool:
        return False


def factory(pool: KnownValues, overrides: Overrides = NO_OVERRIDES) -> CaseFactory:
    (messages,) = from_dict(DOCUMENT).get_all_operations()
    assert not isinstance(messages, BrokenOperation)
    rules = GenerationRules.alike(GenerationSettings(reuse=True, overrides=overrides))
    return CaseFactory({MESSAGES: messages}, rules, ReusedValues(lambda *_: pool, (STATEFUL.name,)))


def test_a_later_step_is_made_again_as_it_was_wherever_its_values_are_from() -> None:
    taken: set[frozenset[str]] = set()
    for pool in (Threads(is_empty=True), Threads(is_empty=False)):
        makes = factory(pool)
        for index in range(100):
            made = makes.make_step(MESSAGES, (5, index, 1), STATEFUL, (ROOM,), is_wrong=False)
            again = makes.remake(made.step, name="again", phase=STATEFUL)
            assert likeness(again.case) == likeness(made.case)
            assert again.step == made.step
            assert again.case.path_parameters == {"room_id": 7}
            taken.add(frozenset(one.name for one in made.bindings))
    assert taken == {frozenset({"room_id"}), frozenset({"room_id", "thread"})}


def test_what_the_user_forces_stands_where_an_answer_gave_a_value_too() -> None:
    text = Binding(Location.BODY, "/text", ROOMS, "/id", 0, "said", json.dumps("$response.body#/name"), 0)
    forced = Overrides((Override(Location.PATH, ("room_id",), (77,)), Override(Location.BODY, ("text",), ("mine",))))
    for overrides, room, said in ((forced, 77, "mine"), (NO_OVERRIDES, 7, "said")):
        makes = factory(Threads(is_empty=True), overrides)
        made = makes.make_step(MESSAGES, (5, 1, 1), STATEFUL, (ROOM, text), is_wrong=False)
        assert made.case.path_parameters == {"room_id": room}
        assert isinstance(made.case.body, dict)
        assert made.case.body["text"] == said


RENAMING, TODOS = Label("PUT /todos/{id}"), Label("POST /todos")


@pytest.mark.parametrize("is_demanded", [False, True])
def test_a_body_repeats_the_name_that_an_answer_gave_to_its_path(*, is_demanded: bool) -> None:
    todo = {"type": "object", "required": ["title"], "properties": {"id": ID, "title": {"type": "string"}}}
    path = {"name": "id", "in": "path", "required": True, "schema": ID}
    content = {"application/json": {"schema": todo}}
    put = {"parameters": [path], "requestBody": {"required": True, "content": content}, "responses": {"200": {}}}
    (replaces,) = from_dict({**DOCUMENT, "paths": {"/todos/{id}": {"put": put}}}).get_all_operations()
    assert not isinstance(replaces, BrokenOperation)
    rules = GenerationRules.alike(GenerationSettings(mode=GenerationMode.POSITIVE))
    makes = CaseFactory({RENAMING: replaces}, rules)
    at = Binding(Location.PATH, "id", TODOS, "/id", 0, 7, json.dumps("$response.body#/id"), 0)
    demanded = [Constraint("body", ("id",), "same", '"id"')] if is_demanded else []
    makes.learner = Demanding(demanded)
    made = [makes.make_step(RENAMING, (5, index, 1), STATEFUL, (at,), is_wrong=False) for index in range(60)]
    bodies = [one.case.body for one in made if isinstance(one.case.body, dict)]
    repeating = [body["id"] == 7 for body in bodies if "id" in body]
    assert 0 < len(repeating) < len(bodies)
    assert all(repeating) if is_demanded else len(repeating) / 2 < sum(repeating) < len(repeating)
    again = [makes.remake(one.step, name="again", phase=STATEFUL) for one in made]
    assert [likeness(one.case) for one in again] == [likeness(one.case) for one in made]


def test_settings_of_an_operation_are_not_made_for_each_step() -> None:
    (messages,) = from_dict(DOCUMENT).get_all_operations()
    assert not isinstance(messages, BrokenOperation)
    asked: list[str] = []

    def settings(operation: Operation, phase: str) -> GenerationSettings:
        asked.append(phase)
        return GenerationSettings()

    makes = CaseFactory({MESSAGES: messages}, GenerationRules(settings))
    for index in range(9):
        makes.make_step(MESSAGES, (5, index, 1), STATEFUL, (ROOM,), is_wrong=False)
    assert asked == [STATEFUL.name]
