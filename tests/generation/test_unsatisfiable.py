import gc
from types import TracebackType
from typing import Any

import pytest

from checker.core.errors import BudgetSpent, InfiniteRecursiveReference, NothingToBreak, Unsatisfiable
from checker.core.meta import GenerationMode
from checker.core.operation import Location
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.context import Budget

from .making import PlainOperation, bodies, body_of, cases, parameter_of, program_of, schema_of

CLOSED = GenerationSettings(allow_extra_parameters=False)
REFUSED: list[tuple[Any, str, str]] = [
    (
        {"type": "integer", "minimum": 5, "maximum": 2},
        "#/s/maximum",
        "minimum 5 and maximum 2 exclude every number",
    ),
    (
        {"type": "integer", "minimum": 1.2, "maximum": 1.8},
        "#/s/maximum",
        "minimum 1.2 and maximum 1.8 exclude every integer",
    ),
    (
        {"type": "integer", "minimum": 1, "maximum": 6, "multipleOf": 7},
        "#/s/maximum",
        "multipleOf 7 exclude every integer",
    ),
    ({"type": "string", "minLength": 3, "maxLength": 2}, "#/s/maxLength", "exclude every size"),
    ({"type": "array", "minItems": 3, "maxItems": 2}, "#/s/maxItems", "minItems 3 and maxItems 2"),
    ({"type": "object", "minProperties": 1, "maxProperties": 0}, "#/s/maxProperties", "every size"),
    ({"type": "integer", "minimum": 3, "enum": [1, 2]}, "#/s/enum", "none of the listed values"),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "#/s/allOf/1/type", "exclude each other"),
    (False, "#/s", "`false` admits nothing"),
    (
        {"type": "object", "required": ["a"], "properties": {"b": {}}, "additionalProperties": False},
        "#/s/required",
        "'a' is required, but additionalProperties forbids it",
    ),
    (
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 2, "maximum": 1}}},
        "#/s/properties/a/maximum",
        "exclude every number",
    ),
    ({"oneOf": [{"type": "string"}, True, True, {"type": "string"}]}, "#/s/oneOf", "occurs twice"),
    ({"anyOf": [False, {"enum": []}]}, "#/s/anyOf", "no alternative can be chosen"),
    (
        {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 3},
        "#/s/minItems",
        "only 2 different items",
    ),
    ({"$ref": "#/components/schemas/Endless"}, "#/components/schemas/Endless", "never ends"),
    ({"$ref": "#/components/schemas/Missing"}, "#/s", "points at nothing"),
    ({"type": "array", "minItems": 10**9}, "#/s/minItems", "more than the 100000 that are sent"),
    ({"type": "string", "format": "uuid", "maxLength": 24}, "#/s/maxLength", "format uuid, which has at least 36"),
    ({"type": "string", "minLength": 10**9}, "#/s/minLength", "more than the"),
]  # fmt: skip
ENDLESS = {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/components/schemas/Endless"}}}


@pytest.mark.parametrize(("raw", "pointer", "reason"), REFUSED)
def test_contradictions_are_explained(raw: Any, pointer: str, reason: str) -> None:
    with pytest.raises(Unsatisfiable) as found:
        program_of(body=raw, components={"Endless": ENDLESS})
    assert found.value.pointer == pointer
    assert reason in found.value.reason


def test_optional_property_that_cannot_be_is_left_out() -> None:
    raw = {"type": "object", "properties": {"a": False, "b": {"$ref": "#/components/schemas/Endless"}, "c": {}}}
    assert {"c"} == {name for value in bodies(raw, components={"Endless": ENDLESS}, settings=CLOSED) for name in value}


def test_optional_parameter_that_cannot_be_is_left_out_with_the_reason() -> None:
    impossible = parameter_of({"type": "integer", "minimum": 2, "maximum": 1}, name="a", required=False)
    program = program_of(impossible)
    assert dict(program.left_out) == {"#/s/maximum": "minimum 2 and maximum 1 exclude every number"}
    assert cases(program, 1)[0].query == {}


def test_required_parameter_that_cannot_be_is_refused() -> None:
    with pytest.raises(Unsatisfiable):
        program_of(parameter_of(False, Location.PATH))


def test_one_impossible_media_type_leaves_the_others() -> None:
    operation = PlainOperation(bodies=(body_of(schema_of(False)), body_of(schema_of({"const": 1}), "text/json")))
    program = compile_operation(operation, GenerationSettings())
    assert {("text/json", 1)} == {(case.media_type, case.body) for case in cases(program, 5)}


def test_opaque_node_without_values_is_named_when_drawn() -> None:
    program = program_of(
        body={
            "type": "object",
            "properties": {"a": {"type": "integer", "not": {"unevaluatedItems": False}}},
            "required": ["a"],
        }
    )
    with pytest.raises(Unsatisfiable) as found:
        cases(program, 1)
    assert found.value.pointer == "#/s/properties/a"


def test_compiling_stops_when_the_budget_is_spent() -> None:
    raw = {"type": "object", "properties": {f"p{index}": {"type": "string"} for index in range(100)}}
    operation = PlainOperation(bodies=(body_of(schema_of(raw)),))
    with pytest.raises(BudgetSpent):
        compile_operation(operation, GenerationSettings(), budget=Budget(steps=50))


def test_what_takes_everything_has_no_negative_cases() -> None:
    with pytest.raises(Unsatisfiable, match="Impossible to generate negative test cases"):
        program_of(
            body={},
            media_type="text/plain",
            body_required=False,
            settings=GenerationSettings(mode=GenerationMode.NEGATIVE),
        )


def test_endless_bounds_say_nothing() -> None:
    raw = {"type": "number", "minimum": float("-inf"), "maximum": float("inf")}
    assert all(isinstance(value, int | float) for value in bodies(raw, 5))


def test_many_names_are_found() -> None:
    found = bodies({"type": "object", "minProperties": 2000}, 1)
    assert len(found[0]) >= 2000


@pytest.mark.parametrize(
    "error", [Unsatisfiable("#/a", "never"), InfiniteRecursiveReference("#/a"), NothingToBreak("#/a", "b")]
)
def test_what_is_raised_again_holds_nothing_of_the_stack(error: Unsatisfiable) -> None:
    with pytest.raises(Unsatisfiable):
        raise error
    again = error.again()
    assert type(again) is type(error)
    assert (again.pointer, again.reason, str(again)) == (error.pointer, error.reason, str(error))
    assert error.__traceback__ is not None
    assert again.__traceback__ is None
    assert again.__context__ is None


def test_what_cannot_be_made_is_remembered_without_the_stack_that_found_it() -> None:
    """Thousands of schemas cannot be: with all that was on the stack they took more memory than what can."""
    never = {"type": "integer", "minimum": 2, "maximum": 1}
    schema = {
        "type": "object",
        "properties": {
            name: {"anyOf": [never, {"type": "string"}, {"type": "array", "items": never}]} for name in "abc"
        },
    }
    program = program_of(body=schema, settings=GenerationSettings(mode=GenerationMode.NEGATIVE))
    assert cases(program, 200)
    gc.collect()
    # By `type`: objects of other libraries do not like to be asked what they are.
    kept = [one for one in gc.get_objects() if type(one) is TracebackType]
    files = {one.tb_frame.f_code.co_filename for one in kept}
    assert not [name for name in files if "generation" in name and "checker" in name]
    assert program.size_bytes > 0
