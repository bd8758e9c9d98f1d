"""Cases of a list respect the relations between values, but for the value that they test."""

from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.operation import Label
from checker.generation.program import GenerationSettings
from checker.phases.case_factory import CaseFactory, GenerationRules
from tests.openapi.documents import operation

NUMBER = {"type": "integer"}


def test_a_case_keeps_the_number_of_a_pair_that_it_tests() -> None:
    pair = {"type": "object", "required": ["min", "max"], "properties": {"min": NUMBER, "max": NUMBER}}
    body = {"required": True, "content": {"application/json": {"schema": pair}}}
    label = Label("POST /a")
    rules = GenerationRules.alike(GenerationSettings(mode=GenerationMode.POSITIVE))
    factory = CaseFactory({label: operation({"requestBody": body}, method="post")}, rules)
    bodies = [factory.listed(label, 1, index, PhaseInfo("coverage")).case.body for index in range(8)]
    assert any(one["min"] > 1 << 31 for one in bodies)
    assert all(one["min"] <= one["max"] for one in bodies)


def test_a_case_keeps_the_example_where_it_tests_another_property() -> None:
    thing = {"type": "object", "required": ["name", "size"], "properties": {"name": {"type": "string"}, "size": NUMBER}}
    media = {"schema": thing, "example": {"name": "my thing", "size": 12}}
    label, body = Label("POST /a"), {"required": True, "content": {"application/json": media}}
    rules = GenerationRules.alike(GenerationSettings(mode=GenerationMode.POSITIVE))
    factory = CaseFactory({label: operation({"requestBody": body}, method="post")}, rules)
    bodies = [factory.listed(label, 1, index, PhaseInfo("coverage")).case.body for index in range(10)]
    assert len({one["size"] for one in bodies}) > 2
    # One case has the first values of the schema in all places.
    plain = [one for one in bodies if one["size"] != 12 and not one["name"].startswith("my thing")]
    assert len(plain) == 1


def test_examples_stay_as_they_are_and_sets_of_properties_do_as_well() -> None:
    text = {"type": "string"}
    thing = {
        "type": "object",
        "required": ["colour", "size"],
        "properties": {"colour": text, "size": NUMBER, "kind": text, "note": text},
    }
    examples = [{"colour": "thing", "size": 12, "kind": "big"}, {"colour": "other", "size": 0, "note": "x"}]
    media = {"schema": thing, "examples": {f"{number}": {"value": one} for number, one in enumerate(examples)}}
    label, body = Label("PUT /a"), {"required": True, "content": {"application/json": media}}
    rules = GenerationRules.alike(GenerationSettings(mode=GenerationMode.POSITIVE))
    factory = CaseFactory({label: operation({"requestBody": body}, method="put")}, rules)
    bodies = [factory.listed(label, 1, index, PhaseInfo("coverage")).case.body for index in range(20)]
    assert all(one in bodies for one in examples)
    names = {frozenset(one) for one in bodies}
    assert {frozenset(("colour", "size", *more)) for more in ((), ("kind",), ("note",), ("kind", "note"))} <= names
