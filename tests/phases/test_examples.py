"""The examples phase: every value that a description gives is sent, and nothing that its schema forbids."""

from typing import Any

import pytest

from checker.config.overrides import Override, Overrides
from checker.core.case import NOT_SET, Case
from checker.core.errors import HookError
from checker.core.hooks import HookContext, HookRegistry
from checker.core.meta import GenerationMode, Origin
from checker.core.operation import Example, Location
from checker.core.schema import SchemaWarning
from checker.generation.boundaries.examples import rows
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.settings import GenerationSettings, ListingSettings
from checker.openapi.operation import OpenApiOperation
from checker.phases.listed_phases import declared_examples
from checker.phases.listing import ListingContext
from tests.openapi.documents import operation

INTEGER = {"type": "integer"}


def query(name: str, schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **more}


def body(schema: Any, **more: Any) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema, **more}}}


def listed(
    found: OpenApiOperation,
    settings: GenerationSettings | None = None,
    hooks: ComponentHooks = NO_HOOKS,
    warned: list[SchemaWarning] | None = None,
) -> list[Case]:
    warnings: list[SchemaWarning] = [] if warned is None else warned
    context = ListingContext(settings or GenerationSettings(), hooks, warnings.append)
    return [
        one if isinstance(one, Case) else one.case(found, str(number))
        for number, one in enumerate(declared_examples(found, context))
    ]


def test_each_value_is_in_one_case_at_least_and_names_go_together() -> None:
    parameters = [
        query("a", INTEGER, examples={"cat": {"value": 1}, "dog": {"value": 2}}),
        query("b", {"type": "string"}, examples={"dog": {"value": "d"}, "cat": {"value": "c"}}),
        query("c", {"type": "boolean"}, example=True),
    ]
    schema = {"properties": {"n": INTEGER}, "type": "object"}
    examples = {name: {"value": {"n": n}} for n, name in enumerate(("ant", "dog", "cat", "eel"))}
    found = operation({"parameters": parameters, "requestBody": body(schema, examples=examples)}, method="post")
    cases = listed(found)
    assert [(case.query, case.body) for case in cases] == [
        ({"a": 1, "b": "c", "c": True}, {"n": 2}),
        ({"a": 2, "b": "d", "c": True}, {"n": 1}),
        ({"a": 1, "b": "d", "c": True}, {"n": 0}),
        ({"a": 2, "b": "c", "c": True}, {"n": 3}),
    ]
    meta = cases[0].meta
    assert meta is not None
    assert (meta.phase.name, meta.mode) == ("examples", GenerationMode.POSITIVE)
    assert meta.phase.data["scenario"] == "example_value"
    assert meta.phase.data["description"] == "Example cat"


def test_examples_inside_schemas_count_at_any_depth() -> None:
    pet = {
        "type": "object",
        "required": ["kind", "owner"],
        "properties": {
            "kind": {"type": "string", "enum": ["cat", "dog"]},
            "owner": {"allOf": [{"$ref": "#/components/schemas/Person"}]},
            "tags": {"type": "array", "items": {"type": "string", "example": "small"}},
        },
    }
    person = {"type": "object", "properties": {"name": {"type": "string", "example": "Ann"}}}
    found = operation({"requestBody": body(pet)}, method="post", components={"schemas": {"Person": person}})
    (case,) = listed(found)
    assert case.body == {"kind": "cat", "owner": {"name": "Ann"}, "tags": ["small"]}


def test_whole_examples_of_a_schema_and_of_alternatives_are_sent() -> None:
    schema = {
        "type": "object",
        "example": {"a": 5},
        "properties": {"a": INTEGER},
        "oneOf": [
            {"required": ["a"], "properties": {"a": {"example": 7}}},
            {"required": ["b"], "properties": {"b": {"type": "string", "example": "x"}}},
        ],
    }
    found = operation({"requestBody": body(schema)}, method="post")
    warned: list[SchemaWarning] = []
    assert [case.body for case in listed(found, warned=warned)] == [{"a": 5}, {"a": 7}, {"b": "x"}]
    assert warned == []


@pytest.mark.parametrize("required", [True, False])
def test_defaults_count_where_a_parameter_is_required(required: bool) -> None:
    parameters = [query("a", {"type": "integer", "default": 3}, required=required)]
    cases = listed(operation({"parameters": parameters}))
    assert [case.query for case in cases] == ([{"a": 3}] if required else [])


def test_what_is_required_is_there_and_what_is_optional_is_not() -> None:
    parameters = [
        query("a", INTEGER, example=5),
        query("b", {"type": "integer", "minimum": 8}, required=True),
        query("c", INTEGER),
    ]
    found = operation({"parameters": parameters, "requestBody": body({"type": "integer", "minimum": 2})}, method="post")
    (case,) = listed(found)
    assert (case.query, case.body) == ({"a": 5, "b": 8}, 2)


def test_invalid_values_are_left_out_with_a_warning_of_their_place() -> None:
    schema = {"properties": {"n": {"type": "integer", "examples": ["no", 4]}}, "type": "object"}
    parameters = [query("a", INTEGER, examples={"bad": {"value": "x"}, "good": {"value": 1}})]
    found = operation({"parameters": parameters, "requestBody": body(schema)}, method="post", version="3.1.0")
    warned: list[SchemaWarning] = []
    assert [(case.query, case.body) for case in listed(found, warned=warned)] == [({"a": 1}, {"n": 4})]
    (inside,) = warned
    assert inside.pointer.endswith("/application~1json/schema/properties/n/examples/0")
    assert '"no"' in inside.message
    # Those beside a schema are told by the operation, in whatever phase.
    assert [one.pointer for one in found.warnings()] == ["#/paths/~1a/post/parameters/0/examples/bad/value"]


def test_examples_of_bodies_are_completed_with_what_is_required() -> None:
    line = {"type": "object", "required": ["sku", "count"], "properties": {"sku": {}, "count": INTEGER}}
    schema = {
        "type": "object",
        "required": ["name", "size"],
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "integer", "default": 9},
            "lines": {"type": "array", "items": line},
        },
    }
    examples = {"short": {"value": {"name": "a", "lines": [{"sku": "b"}]}}, "wrong": {"value": {"name": 5}}}
    found = operation({"requestBody": body(schema, examples=examples)}, method="post")
    case, wrong = listed(found)
    assert case.body == {"name": "a", "lines": [{"sku": "b", "count": 0}], "size": 9}
    # Completing it does not make it valid: the service may know better than the schema.
    assert wrong.body == {"name": 5}


def test_examples_of_extensions_inside_schemas_count() -> None:
    properties = {
        "a": {"type": "string", "x-example": "one"},
        "b": {"type": "string", "x-examples": {"cat": {"value": "two"}, "dog": "three"}},
        "c": {"type": "string", "x-examples": ["four"]},
    }
    found = operation({"requestBody": body({"type": "object", "properties": properties})}, method="post")
    assert [case.body for case in listed(found)] == [
        {"a": "one", "b": "two", "c": "four"},
        {"a": "one", "b": "three", "c": "four"},
    ]
    field = {"name": "q", "in": "formData", "type": "string", "x-example": "said"}
    form = operation({"parameters": [field]}, version="2.0", method="post")
    assert [case.body for case in listed(form)] == [{"q": "said"}]


def test_missing_examples_are_filled_on_demand() -> None:
    found = operation({"parameters": [query("a", INTEGER, required=True), query("b", INTEGER)]})
    assert listed(found) == []
    (case,) = listed(found, GenerationSettings(listing=ListingSettings(fills_missing_examples=True)))
    assert (case.query, case.body) == ({"a": 0}, NOT_SET)


def test_wrong_data_alone_leaves_no_examples() -> None:
    found = operation({"parameters": [query("a", INTEGER, example=5)]})
    assert listed(found, GenerationSettings(mode=GenerationMode.NEGATIVE)) == []


def test_what_a_user_forces_wins() -> None:
    forced = Overrides((Override(Location.QUERY, ("a",), (9,)),))
    parameters = [query("a", INTEGER, example=5), query("b", INTEGER, example=6)]
    (case,) = listed(operation({"parameters": parameters}), GenerationSettings(overrides=forced))
    assert case.query == {"a": 9, "b": 6}


def test_every_media_type_has_its_cases() -> None:
    content = {
        "application/json": {"schema": INTEGER, "example": 1},
        "text/plain": {"schema": {"type": "string"}, "example": "one"},
        "application/xml": {"schema": {"type": "string"}},
    }
    found = operation({"requestBody": {"content": content}}, method="post")
    assert [(case.media_type, case.body) for case in listed(found)] == [("application/json", 1), ("text/plain", "one")]


def test_hooks_see_all_examples_and_may_add_others() -> None:
    registry = HookRegistry()

    def before_add_examples(context: HookContext, examples: list[Case]) -> None:
        examples.append(context.operation.Case(query={"a": 77}))

    registry.register(before_add_examples)
    found = operation({"parameters": [query("a", INTEGER, example=5)]})
    hooks = ComponentHooks.from_registry(registry, HookContext(found))
    assert [case.query for case in listed(found, hooks=hooks)] == [{"a": 5}, {"a": 77}]


def test_an_example_of_a_hook_that_is_no_case_names_the_hook() -> None:
    registry = HookRegistry()

    def before_add_examples(context: HookContext, examples: list[Case]) -> list[Any]:
        return [*examples, 5]

    registry.register(before_add_examples)
    found = operation({"parameters": [query("a", INTEGER, example=5)]})
    hooks = ComponentHooks.from_registry(registry, HookContext(found))
    with pytest.raises(HookError, match="hook before_add_examples gave the example 5; it has to be a case"):
        listed(found, hooks=hooks)


def test_parts_come_from_examples() -> None:
    (case,) = listed(operation({"parameters": [query("a", INTEGER, example=5)]}))
    assert case.meta is not None
    assert case.meta.components[Location.QUERY].origin is Origin.EXAMPLE
    assert case.meta.components[Location.QUERY].outside == ()


def test_rows_are_as_few_as_show_every_value() -> None:
    columns = {
        (Location.QUERY, name): [Example(number, "#") for number in range(size)]
        for name, size in (("a", 1), ("b", 3), ("c", 2))
    }
    found = rows(columns)
    assert len(found) == 3
    for (location, name), column in columns.items():
        assert {row[location, name].value for row in found} == {one.value for one in column}
