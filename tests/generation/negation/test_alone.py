"""Keywords that are hard to break alone, because what stands beside them seems to forbid it."""

from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from checker.core.meta import GenerationMode
from checker.core.schema import Dialect
from checker.generation.negation.breaches import LazyAlternatives
from checker.generation.program import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Rejected

from ..making import cases, program_of
from .keywords import NEW, leaf_keywords, listed, values
from .test_parts import wrong_part

_ASKS_FOR_BAR = {"properties": {"bar": {"const": "bar"}}, "required": ["bar"]}
_TWO_OR_THREE = [{"prefixItems": [True, {"const": "bar"}]}, {"prefixItems": [True, {"const": "baz"}]}]
HARD: list[tuple[str, Any, Dialect]] = [
    ("anyOf", {"anyOf": [{"type": "integer"}, {"minimum": 2}]}, NEW),
    ("anyOf", {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, NEW),
    ("oneOf", {"oneOf": [{"minimum": 2}, {"type": "string", "minLength": 2}]}, NEW),
    ("not", {"not": {"not": _ASKS_FOR_BAR}, "unevaluatedProperties": False}, NEW),
    (
        "additionalProperties",
        {"dependentSchemas": {"foo": {"properties": {"bar": {}}, "additionalProperties": False}}},
        NEW,
    ),
    (
        "const",
        {
            "properties": {"foo": {"type": "string"}},
            "dependentSchemas": {"foo": _ASKS_FOR_BAR},
            "unevaluatedProperties": False,
        },
        NEW,
    ),
    (
        "type",
        {
            "properties": {"foo": {"type": "string"}},
            "dependentSchemas": {"foo": _ASKS_FOR_BAR},
            "unevaluatedProperties": False,
        },
        NEW,
    ),
    ("unevaluatedItems", {"prefixItems": [{"const": "foo"}], "oneOf": _TWO_OR_THREE, "unevaluatedItems": False}, NEW),
    (
        "then",
        {
            "if": {"required": ["kind"]},
            "then": {
                "required": ["kind"],
                "properties": {name: {"type": "array", "minItems": 1, "maxItems": 1} for name in "abcdef"},
            },
        },
        NEW,
    ),
]


@pytest.mark.parametrize(("keyword", "raw", "dialect"), HARD, ids=lambda item: str(item)[:40])
def test_hard_keyword_is_broken_alone(keyword: str, raw: Any, dialect: Dialect) -> None:
    compiler, found = listed(raw, dialect)
    errors = []
    for breach in found:
        if breach.keyword == keyword:
            with suppress(Rejected):
                errors += [leaf_keywords(raw, dialect, value) for value, _ in values(compiler, breach, 12)]
    assert any(len(one) == 1 and keyword in one[0] for one in errors), errors


PETS = {
    "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
    "discriminator": {"propertyName": "kind", "mapping": {"dog": "#/components/schemas/Dog"}},
}
KINDS = {
    name: {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}
    for name in ("Cat", "Dog")
}


def test_a_discriminator_names_nothing_now_and_then() -> None:
    program = program_of(
        body=PETS,
        components=KINDS,
        dialect=Dialect.OPENAPI30,
        settings=GenerationSettings(mode=GenerationMode.NEGATIVE),
    )
    broken = [
        (violation, case.body)
        for case in cases(program, 300)
        for _, violation in [wrong_part(case)]
        if violation.keyword == "discriminator"
    ]
    assert len({body["kind"] for _, body in broken}) > 3
    assert not {body["kind"] for _, body in broken} & {"Cat", "Dog", "dog"}
    assert all(violation.pointer.endswith("/discriminator") for violation, _ in broken)


def test_what_comes_to_nothing_gives_way_to_the_next() -> None:
    asked = []

    def make(name: str) -> str | None:
        asked.append(name)
        return name if name in "bd" else None

    some = LazyAlternatives([partial(make, name) for name in "abcde"])
    assert asked == []
    assert [some.at(index) for index in (4, 2, 0, 1, 3)] == ["b", "d", "b", "b", "d"]
    assert sorted(asked) == ["a", "b", "c", "d", "e"]
    assert {some.drawn(RandomSource(seed)) for seed in range(20)} == {"b", "d"}


def test_nothing_comes_of_nothing() -> None:
    assert LazyAlternatives[int]([]).at(0) is None
    assert LazyAlternatives[int]([lambda: None, lambda: None]).at(1) is None
