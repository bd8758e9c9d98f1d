"""Alternatives that are known to exclude each other need no validator."""

from typing import Any

import pytest

from checker.core.schema import Dialect, Direction
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.discrimination import are_disjoint
from checker.generation.normalization.forms import Facet
from checker.validation.referee import referee

from .making import bodies, opinions, program_of, schema_of


def kind(name: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": ["kind"], "properties": {"kind": {"const": name}}, **more}


OPTIONAL = {"type": "object", "properties": {"kind": {"const": "c"}}}
ANY_TYPE = {"required": ["kind"], "properties": {"kind": {"const": "c"}}}
CASES: list[tuple[list[Any], bool]] = [
    ([{"type": "string"}, {"type": "integer"}], True),
    ([{"type": "number"}, {"type": "integer"}], False),
    ([{"enum": [1, 2]}, {"const": 3}], True),
    ([{"enum": [1, 2]}, {"const": 2.0}], False),
    ([kind("a"), kind("b")], True),
    ([kind("a"), kind("b"), kind("a")], False),
    ([kind("a"), OPTIONAL], False),
    ([kind("a"), ANY_TYPE], True),
    ([{**kind("a"), "type": ["object", "null"]}, ANY_TYPE], False),
    ([kind("a"), {"$ref": "#/components/schemas/B"}, {"type": "null"}], True),
]


@pytest.mark.parametrize(("alternatives", "expected"), CASES)
def test_alternatives_exclude_each_other(alternatives: list[Any], expected: bool) -> None:
    schema = schema_of({"oneOf": alternatives}, components={"B": kind("b")})
    canon = Canon(schema.document, Dialect.OPENAPI31, Direction.REQUEST)
    (branches,) = canon.canonical((Facet(schema.raw, schema.pointer),)).branches
    assert are_disjoint(canon, branches) is expected


@pytest.mark.parametrize("alternatives", [case[0] for case in CASES])
def test_values_satisfy_exactly_one_alternative(alternatives: list[Any]) -> None:
    raw = {"oneOf": alternatives}
    components = {"B": kind("b")}
    is_valid = opinions(schema_of(raw, components=components))
    assert all(map(is_valid, bodies(raw, 40, components=components)))


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def animal(tag: Any, *, is_required: bool = True, **more: Any) -> dict[str, Any]:
    required = {"required": ["kind"]} if is_required else {}
    properties = {"kind": tag, "age": {"type": "integer"}}
    return {"type": "object", "properties": properties, **required, **more}


def one_of(*alternatives: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"oneOf": list(alternatives), "discriminator": {"propertyName": "kind", **more}}


TEXT = {"type": "string"}
CAT, DOG = animal({"enum": ["cat"]}), animal({"type": "string", "enum": ["dog", "hound"]})
TO_CAT = {"mapping": {"CAT": "#/components/schemas/Cat"}}
LISTED_BELOW = {
    "Pet": animal(ref("Kind")),
    "Kind": {"type": "string", "enum": ["cat", "dog"]},
    "Cat": {"allOf": [ref("Pet"), {"properties": {"kind": {"enum": ["cat"]}}}]},
    "Dog": {"allOf": [ref("Pet"), {"properties": {"kind": {"enum": ["dog"]}}}]},
}
FELINES = {"Lion": animal({"enum": ["lion"]}), "Tiger": animal(TEXT), "Dog": DOG}
TAGS: list[tuple[str, dict[str, Any], dict[str, Any], set[Any]]] = [
    ("listed", one_of(ref("Cat"), ref("Dog")), {"Cat": CAT, "Dog": DOG}, {"cat", "dog", "hound"}),
    ("of anyOf", {"anyOf": [ref("Cat"), ref("Dog")], "discriminator": {"propertyName": "kind"}},
     {"Cat": animal({"const": "cat"}, is_required=False), "Dog": DOG}, {"cat", "dog", "hound"}),
    ("mapped to another", one_of(ref("Cat"), **TO_CAT), {"Cat": CAT}, {"cat"}),
    ("mapped to one of them", one_of(ref("Cat"), **TO_CAT),
     {"Cat": animal({"enum": ["cat", "CAT"]})}, {"CAT"}),
    ("named by one of them", one_of(ref("Cat")), {"Cat": animal({"enum": ["Cat", "Dog"]})}, {"Cat"}),
    ("listed elsewhere", one_of(ref("Cat")), {"Cat": animal(ref("Kind")), "Kind": {"enum": ["cat"]}}, {"cat"}),
    ("listed in parts", one_of(ref("Cat"), ref("Dog")), LISTED_BELOW, {"cat", "dog"}),
    ("listed beside", {"properties": {"kind": {"enum": ["cat", "dog"]}}, "required": ["kind"], **one_of(ref("Cat"), ref("Dog"))},
     {"Cat": animal(TEXT), "Dog": animal(TEXT)}, {"cat", "dog"}),
    ("of another name", one_of(ref("Alias")), {"Alias": ref("Cat"), "Cat": CAT}, {"cat"}),
    ("of alternatives below", one_of(ref("Feline"), ref("Dog")),
     {"Feline": {"oneOf": [ref("Lion"), animal({"const": "puma"})]}, **FELINES}, {"lion", "puma", "dog", "hound"}),
    ("of names below", one_of(ref("Feline"), ref("Dog")),
     {"Feline": one_of(ref("Lion"), ref("Tiger")), **FELINES}, {"lion", "Tiger", "dog", "hound"}),
    ("of a base", one_of(ref("Pet")),
     {"Pet": animal({"enum": ["cat", "dog"]}, discriminator={"propertyName": "kind"})}, {"cat", "dog"}),
    ("by a pattern", one_of(ref("Cat")), {"Cat": animal({"type": "string", "pattern": "^cat-[12]$"})}, {"cat-1", "cat-2"}),
    ("that is no text", one_of(ref("Cat")), {"Cat": animal({"type": "integer", "enum": [1, 2]})}, {1, 2}),
    ("that there cannot be", one_of(ref("Cat"), ref("Dog")),
     {"Cat": {"type": "object", "additionalProperties": False, "properties": {"age": {"type": "integer"}}}, "Dog": DOG}, {None, "dog", "hound"}),
]  # fmt: skip


@pytest.mark.parametrize("dialect", [Dialect.OPENAPI30, Dialect.OPENAPI31])
@pytest.mark.parametrize(("raw", "components", "expected"), [case[1:] for case in TAGS], ids=[case[0] for case in TAGS])
def test_what_an_alternative_lists_wins_over_its_name(
    raw: dict[str, Any], components: dict[str, Any], expected: set[Any], dialect: Dialect
) -> None:
    if dialect is Dialect.OPENAPI30:
        components = {name: _in_words_of_30(schema) for name, schema in components.items()}
    schema = schema_of(raw, dialect, components)
    drawn = bodies(raw, 80, components=components, dialect=dialect)
    assert expected == {value.get("kind") for value in drawn}
    is_valid, second = opinions(schema), referee(schema, Direction.REQUEST)
    assert all(is_valid(value) and not list(second.errors(value)) for value in drawn)


def _in_words_of_30(raw: Any) -> Any:
    """Alternatives told apart by `enum` in place of `const`, which OpenAPI 3.0 does not have."""
    if isinstance(raw, dict):
        named = {"enum" if name == "const" else name: value for name, value in raw.items()}
        return {
            name: [value] if name == "enum" and not isinstance(value, list) else _in_words_of_30(value)
            for name, value in named.items()
        }
    return [_in_words_of_30(item) for item in raw] if isinstance(raw, list) else raw


def test_alternatives_of_all_kinds_are_drawn_beside_each_other() -> None:
    raw = one_of(ref("Cat"), TEXT, animal({"enum": ["fish"]}), {"type": "null"}, ref("Count"))
    components = {"Cat": CAT, "Count": {"type": "integer"}}
    drawn = bodies(raw, 80, components=components)
    assert {"cat", "fish"} == {value["kind"] for value in drawn if isinstance(value, dict)}
    assert {dict, str, int, type(None)} == set(map(type, drawn))


def test_an_optional_property_that_is_told_apart_does_not_vanish() -> None:
    raw = {"type": "object", "properties": {"pet": one_of(ref("Cat"))}}
    program = program_of(body=raw, components={"Cat": CAT})
    assert not program.left_out
    assert any("pet" in value for value in bodies(raw, 20, components={"Cat": CAT}))


def heir(*more: dict[str, Any], of: str = "Pet") -> dict[str, Any]:
    return {"allOf": [ref(of), *more]}


BASE = animal(TEXT, discriminator={"propertyName": "kind"})
OWN_NAME = {
    "Pet": BASE,
    "Cat": heir({"properties": {"lives": TEXT}}),
    "Lion": heir({"properties": {"mane": TEXT}}, of="Cat"),
}
MAPPED = animal(TEXT, discriminator={"propertyName": "kind", **TO_CAT})
INHERITED: list[tuple[str, dict[str, Any], dict[str, Any], set[Any]]] = [
    ("of the base", ref("Pet"), OWN_NAME, {"Cat", "Lion"}),
    ("of a base without heirs", ref("Pet"), {"Pet": BASE}, {"Pet"}),
    ("of a wrapped base", {"allOf": [ref("Pet")]}, OWN_NAME, {"Cat", "Lion"}),
    ("of a base beside more", {"allOf": [ref("Pet"), {"required": ["age"]}]}, OWN_NAME, {"Cat", "Lion"}),
    ("of a mapped base", ref("Pet"), {"Pet": MAPPED, "Cat": heir()}, {"CAT"}),
    ("of a base with a bare mapping", ref("Pet"),
     {"Pet": animal(TEXT, discriminator={"propertyName": "kind", "mapping": {"puss": "Cat"}}), "Cat": heir()}, {"puss"}),
    ("of a base in the mapping", ref("Pet"),
     {"Pet": animal(TEXT, discriminator={"propertyName": "kind", "mapping": {"pet": "#/components/schemas/Pet"}}), "Cat": heir()},
     {"pet", "Cat"}),
    ("of a base with its own name", ref("Pet"),
     {"Pet": animal({"enum": ["Pet", "Cat"]}, discriminator={"propertyName": "kind"}), "Cat": heir()}, {"Pet", "Cat"}),
    ("of a base with an extension for the name", ref("Pet"),
     {"Pet": BASE, "Cat": heir() | {"x-ms-discriminator-value": "#Cat"}}, {"#Cat"}),
    ("of a base without the property in `required`", ref("Pet"),
     {"Pet": animal(TEXT, is_required=False, discriminator={"propertyName": "kind"}), "Cat": heir()}, {"Cat"}),
    ("of a base that holds itself", ref("Pet"),
     {"Pet": animal(TEXT, discriminator={"propertyName": "kind"}), "Cat": heir({"properties": {"friends": {"type": "array", "items": ref("Pet")}}})},
     {"Cat"}),
    ("of an heir", ref("Cat"), OWN_NAME, {"Cat"}),
    ("of an heir of an heir", ref("Lion"), OWN_NAME, {"Lion"}),
    ("of one of them", {"anyOf": [ref("Cat"), ref("Lion")]}, OWN_NAME, {"Cat", "Lion"}),
    ("beside more", heir({"required": ["age"]}, of="Cat"), OWN_NAME, {"Cat"}),
    ("of a union with a name", ref("Any"), {**OWN_NAME, "Any": {"anyOf": [ref("Cat"), ref("Lion")]}}, {"Cat", "Lion"}),
    ("mapped", ref("Cat"), {"Pet": MAPPED, "Cat": heir({"required": ["age"]})}, {"CAT"}),
    ("mapped by the union", one_of(ref("Cat"), **TO_CAT), OWN_NAME, {"CAT"}),
    ("listed", ref("Cat"), {"Pet": BASE, "Cat": heir({"properties": {"kind": {"enum": ["cat"]}}})}, {"cat"}),
    ("that is no text", ref("Cat"), {"Pet": animal({"enum": [1, 2]}, discriminator={"propertyName": "kind"}), "Cat": heir()}, {1, 2}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "components", "expected"), [case[1:] for case in INHERITED], ids=[case[0] for case in INHERITED]
)
def test_heirs_of_a_base_say_what_they_are(raw: dict[str, Any], components: dict[str, Any], expected: set[Any]) -> None:
    is_valid = opinions(schema_of(raw, Dialect.OPENAPI30, components))
    drawn = bodies(raw, 60, components=components, dialect=Dialect.OPENAPI30)
    assert expected == {value["kind"] for value in drawn}
    assert all(map(is_valid, drawn))


def test_a_discriminator_of_swagger_is_the_name_of_a_property() -> None:
    components = {
        "Pet": {**BASE, "discriminator": "kind"},
        "Cat": heir({"required": ["lives"], "properties": {"lives": TEXT}}),
    }
    for name in components:
        drawn = bodies(ref(name), 40, components=components, dialect=Dialect.OPENAPI20)
        assert {"Cat"} == {value["kind"] for value in drawn}
        assert all("lives" in value for value in drawn)


def test_heirs_of_a_base_are_drawn_in_lists_and_properties() -> None:
    components = {"Pet": BASE, "Cat": heir({"required": ["lives"]}), "Dog": heir({"required": ["bark"]})}
    pets = {"type": "array", "items": ref("Pet"), "minItems": 1}
    for value in bodies(
        {"required": ["all"], "properties": {"all": pets}, "type": "object"}, 40, components=components
    ):
        for pet in value["all"]:
            assert {"Cat": "lives", "Dog": "bark"}[pet["kind"]] in pet
