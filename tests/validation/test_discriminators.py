"""A value that names an alternative has to fit that one; a name that nobody has fits none."""

from typing import Any

import pytest

from checker.core.schema import Dialect, Direction
from checker.validation.referee import referee

from .schemas import schema_of, verdicts

CAT = {
    "type": "object",
    "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}},
    "required": ["lives"],
}
DOG = {"type": "object", "properties": {"kind": {"type": "string"}}}
BIRD = {"allOf": [DOG, {"properties": {"kind": {"enum": ["tweety"]}}}]}
BRANCHES = [{"$ref": "#/names/Cat"}, {"$ref": "#/names/Dog"}, {"$ref": "#/names/Bird"}]
TOLD = {"propertyName": "kind", "mapping": {"cat": "#/names/Cat", "hound": "Dog"}}
RIGHT: list[Any] = [
    {"kind": "cat", "lives": 9},
    {"kind": "Cat", "lives": 9},
    {"kind": "hound"},
    {"kind": "Dog", "lives": "?"},
    {"kind": "tweety"},
    {"lives": 1},
]
WRONG: list[Any] = [{"kind": "cat"}, {"kind": "Cat", "lives": "?"}, {"kind": "cow"}, {"kind": "Bird"}, {"kind": 1}]


@pytest.mark.parametrize("dialect", [Dialect.OPENAPI30, Dialect.OPENAPI31])
@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
@pytest.mark.parametrize("direction", list(Direction))
def test_a_value_fits_the_alternative_that_it_names(dialect: Dialect, keyword: str, direction: Direction) -> None:
    raw = {keyword: BRANCHES, "discriminator": TOLD}
    schema = schema_of(raw, dialect, Cat=CAT, Dog=DOG, Bird=BIRD)
    for value in RIGHT:
        assert verdicts(schema, value, direction) == (True, True), value
    for value in WRONG:
        assert verdicts(schema, value, direction) == (False, False), value


def test_an_alternative_that_is_written_out_takes_what_fits() -> None:
    raw = {"oneOf": [*BRANCHES, {"type": "null"}, {"required": ["wheels"]}], "discriminator": TOLD}
    schema = schema_of(raw, Dialect.OPENAPI31, Cat=CAT, Dog=DOG, Bird=BIRD)
    for value in (None, {"kind": "car", "wheels": 4}):
        assert verdicts(schema, value) == (True, True)
    assert verdicts(schema, {"kind": "car"}) == (False, False)


def test_other_names_fall_to_the_default() -> None:
    told = TOLD | {"defaultMapping": "#/names/Dog"}
    names: dict[str, Any] = {"Cat": CAT, "Dog": DOG, "Bird": BIRD}
    raw = {"oneOf": BRANCHES[:2], "discriminator": told}
    schema = schema_of(raw, Dialect.OPENAPI31, **names)
    for value in ({"kind": "cow"}, {"kind": "cat", "lives": 9}, {"kind": "hound"}):
        assert verdicts(schema, value) == (True, True), value
    assert verdicts(schema, {"kind": 1}) == (False, False)
    # One that is none of the alternatives may take anything, so nobody is held to a name.
    elsewhere = {"oneOf": BRANCHES[:1], "discriminator": told}
    assert verdicts(schema_of(elsewhere, **names), {"kind": "cow", "lives": 1}) == (True, True)


def test_alternatives_of_alternatives_keep_their_names() -> None:
    pet = {"oneOf": BRANCHES, "discriminator": TOLD}
    raw = {"oneOf": [{"$ref": "#/names/Pet"}, {"$ref": "#/names/Car"}], "discriminator": {"propertyName": "kind"}}
    schema = schema_of(raw, Pet=pet, Car={"type": "object"}, Cat=CAT, Dog=DOG, Bird=BIRD)
    for value in ({"kind": "hound"}, {"kind": "Car"}, {"kind": "tweety"}):
        assert verdicts(schema, value) == (True, True)
    assert verdicts(schema, {"kind": "cow"}) == (False, False)


def test_an_unknown_name_is_told_as_such() -> None:
    schema = schema_of({"oneOf": BRANCHES, "discriminator": TOLD}, Cat=CAT, Dog=DOG, Bird=BIRD)
    assert [e.keyword for e in referee(schema, Direction.RESPONSE).errors({"kind": "cow"})] == ["discriminator"]
    (wrong,) = referee(schema, Direction.RESPONSE).errors({"kind": "cat", "lives": "?"})
    assert wrong.schema_pointer.startswith("#/names/Cat")


def test_what_an_alternative_lists_names_it_wherever_it_stands() -> None:
    lion = {"properties": {"kind": {"allOf": [{"enum": ["lion"]}]}}, "required": ["kind"]}
    feline = {"oneOf": [lion, {"properties": {"kind": {"enum": ["tiger"]}}, "required": ["kind"]}]}
    raw = {"oneOf": [{"$ref": "#/names/Feline"}], "discriminator": {"propertyName": "kind"}}
    schema = schema_of(raw, Feline=feline)
    for value in ({"kind": "lion"}, {"kind": "tiger"}):
        assert verdicts(schema, value) == (True, True), value
    for value in ({"kind": "Feline"}, {"kind": "cow"}):
        assert verdicts(schema, value) == (False, False), value


@pytest.mark.parametrize("tag", [{"type": "string", "pattern": "^c-"}, {"pattern": "^c-"}])
def test_an_alternative_that_admits_none_of_its_names_takes_what_fits(tag: dict[str, Any]) -> None:
    cat = {"type": "object", "properties": {"kind": tag}}
    raw = {"oneOf": [{"$ref": "#/names/Cat"}, BRANCHES[1]], "discriminator": TOLD}
    schema = schema_of(raw, Cat=cat, Dog=DOG)
    assert verdicts(schema, {"kind": "c-1"}) == (True, True)
    assert verdicts(schema, {"kind": "cow"}) == (False, False)


def test_what_is_said_of_all_alternatives_wins_over_their_names() -> None:
    listed = {"properties": {"kind": {"enum": ["puss", "hound"]}}}
    raw = {**listed, "oneOf": BRANCHES[:2], "discriminator": TOLD}
    schema = schema_of(raw, Cat=CAT, Dog=DOG)
    for value in ({"kind": "puss", "lives": 1}, {"kind": "hound"}):
        assert verdicts(schema, value) == (True, True), value
    assert verdicts(schema, {"kind": "puss"}) == (False, False)
