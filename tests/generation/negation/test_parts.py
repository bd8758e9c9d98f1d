import json
import re
from collections import Counter
from typing import Any

import pytest

from checker.core.case import NOT_SET, Case
from checker.core.errors import Unsatisfiable
from checker.core.meta import GenerationMode, Violation
from checker.core.operation import Location
from checker.generation.hooks import ComponentHooks, PartHooks
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.replay import ReplaySource

from ..making import PHASE, PlainOperation, cases, drawer, parameter_of, parts, program_of

NEGATIVE = GenerationSettings(mode=GenerationMode.NEGATIVE)
BOTH = GenerationSettings(mode=None)
ITEM = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "minLength": 2}, "size": {"type": "integer"}},
}
PAGE = parameter_of({"type": "integer", "minimum": 1}, name="page", required=False)
IDENTITY = parameter_of({"type": "integer"}, Location.PATH, "id")


def wrong_part(case: Case) -> tuple[Location, Violation]:
    assert case.meta is not None
    (found,) = [(place, part.violation) for place, part in case.meta.components.items() if part.mode.is_negative]
    assert found[1] is not None
    return found[0], found[1]


def program(**options: Any) -> OperationProgram:
    return program_of(IDENTITY, PAGE, body=ITEM, settings=options.pop("settings", NEGATIVE), **options)


def test_one_part_is_wrong_and_the_others_are_valid() -> None:
    seen: Counter[Location] = Counter()
    for case in cases(program(), 300):
        place, violation = wrong_part(case)
        seen[place] += 1
        assert case.meta is not None
        assert case.meta.generation.mode is GenerationMode.NEGATIVE
        if place is not Location.PATH:
            assert isinstance(case.path_parameters["id"], int)
        if place is not Location.QUERY:
            assert case.query.get("page", 1) >= 1
        if place is not Location.BODY:
            assert len(case.body["name"]) >= 2
        assert violation.pointer.startswith("#/")
    assert min(seen[place] for place in (Location.PATH, Location.QUERY, Location.BODY)) > 60


def test_both_modes_mix_evenly() -> None:
    modes = Counter(case.meta.generation.mode for case in cases(program(settings=BOTH), 400) if case.meta)
    assert 150 < modes[GenerationMode.NEGATIVE] < 250
    assert modes.total() == 400


def test_optional_parameter_that_is_wrong_is_there() -> None:
    found = [case for case in cases(program(), 200) if wrong_part(case)[0] is Location.QUERY]
    assert found
    assert all("page" in case.query for case in found)


def test_required_parts_are_left_out_now_and_then() -> None:
    needed = parameter_of({"type": "integer"}, name="needed")
    found = cases(program_of(needed, body=ITEM, settings=NEGATIVE), 400)
    left_out = [case for case in found if wrong_part(case)[1].keyword == "required"]
    assert any("needed" not in case.query for case in left_out)
    assert any(case.body is NOT_SET for case in left_out)
    assert 10 < sum("needed" not in case.query for case in found) < 60


def test_text_of_any_length_is_wrong_only_when_it_is_not_there() -> None:
    free = parameter_of({"type": "string"}, name="free")
    for case in cases(program_of(free, settings=NEGATIVE), 20):
        assert wrong_part(case)[1].keyword == "required"
        assert case.query == {}


def test_both_modes_of_what_cannot_be_wrong_are_positive() -> None:
    free = parameter_of({"type": "string"}, name="free", required=False)
    found = cases(program_of(free, settings=BOTH), 30)
    assert {case.meta.generation.mode for case in found if case.meta} == {GenerationMode.POSITIVE}
    with pytest.raises(Unsatisfiable, match=r"POST .*Impossible to generate"):
        program_of(free, settings=NEGATIVE)


def test_json_bodies_are_broken_in_their_syntax_too() -> None:
    found = [case for case in cases(program(), 1500) if wrong_part(case)[1].keyword == "syntax"]
    assert len(found) > 10
    for case in found:
        assert isinstance(case.body, bytes)
        assert case.media_type == "application/json"
        assert 1 <= len(case.body) <= 1100
        with pytest.raises(ValueError, match=r".*"):
            json.loads(case.body)


def test_body_that_admits_everything_is_broken_in_its_syntax_alone() -> None:
    found = cases(program_of(body={}, settings=NEGATIVE, body_required=False), 20)
    assert {wrong_part(case)[1].keyword for case in found} == {"syntax"}


def test_forms_are_never_broken_by_what_is_text_anyway() -> None:
    raw = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    found = cases(
        program_of(body=raw, media_type="application/x-www-form-urlencoded", settings=NEGATIVE, body_required=False), 60
    )
    assert {wrong_part(case)[1].keyword for case in found} == {"additionalProperties"}


def test_headers_that_are_sent_as_the_user_wants_are_not_broken() -> None:
    trace = parameter_of({"type": "integer"}, Location.HEADER, "X-Trace")
    settings = GenerationSettings(mode=GenerationMode.NEGATIVE, fixed_headers=frozenset({"x-trace"}))
    found = cases(program_of(trace, body=ITEM, settings=settings), 60)
    assert {wrong_part(case)[0] for case in found} == {Location.BODY}


def test_headers_that_are_always_sent_are_not_left_out() -> None:
    accept = parameter_of({"type": "string"}, Location.HEADER, "Accept")
    with pytest.raises(Unsatisfiable):
        program_of(accept, settings=NEGATIVE)


def test_hooks_see_negative_values() -> None:
    seen: list[Any] = []

    def remember(context: object, query: dict[str, Any]) -> dict[str, Any]:
        seen.append(query)
        return query

    hooks = ComponentHooks(query=PartHooks(map=(remember,)))
    found = cases(program_of(PAGE, settings=NEGATIVE, hooks=hooks), 20)
    assert [case.query for case in found] == seen


def test_values_that_hooks_have_repaired_are_not_called_negative() -> None:
    hooks = ComponentHooks(query=PartHooks(map=(lambda context, query: {"page": 5},)))
    drawn = program_of(PAGE, settings=NEGATIVE, hooks=hooks)
    with pytest.raises(Unsatisfiable, match="20 cases"):
        cases(drawn, 1)


def test_negative_cases_replay_with_what_they_break() -> None:
    draw = drawer(program(settings=BOTH))
    source = RandomSource()
    for seed in range(60):
        source.reset(seed)
        case = draw(source)
        again = draw(ReplaySource(source.choices))
        assert parts(case) == parts(again)
        assert case.meta is not None
        assert again.meta is not None
        assert case.meta.components == again.meta.components


def test_positive_cases_of_a_program_with_both_modes_carry_no_violation() -> None:
    drawn = program(settings=BOTH)
    source = RandomSource()
    for seed in range(100):
        source.reset(seed)
        case = drawn.draw(source, case_id="c", phase=PHASE)
        assert case.meta is not None
        if case.meta.generation.mode is GenerationMode.POSITIVE:
            assert not any(part.violation for part in case.meta.components.values())


def test_parameter_without_a_valid_value_is_wrong_beside_others() -> None:
    never = {"type": "string", "pattern": "^[a-c]{4}$", "not": {"pattern": "[abc]"}}
    operation = PlainOperation((parameter_of(never), parameter_of({"type": "integer"}, name="page", required=False)))
    found = cases(compile_operation(operation, NEGATIVE), 200)
    assert len({repr(case.query) for case in found}) > 50


def test_text_that_cannot_travel_is_broken_by_other_text() -> None:
    # Blanks at the ends of a header are lost, so no valid value is there to be changed.
    blank = parameter_of({"type": "string", "pattern": "^ +x$"}, Location.HEADER, required=False)
    program = compile_operation(PlainOperation((blank,)), NEGATIVE)
    found = [case.headers.get("q") for case in cases(program, 30)]
    assert not any(re.fullmatch(" +x", value) for value in found if isinstance(value, str))


def test_variables_that_touch_each_other_are_not_broken() -> None:
    operation = PlainOperation((IDENTITY,), path="/things/{id}{format}")
    with pytest.raises(Unsatisfiable):
        compile_operation(operation, NEGATIVE)
