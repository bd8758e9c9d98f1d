"""What is written out for chance draws what the parts of the program draw, choice by choice."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.generation.corpora import operations
from checker.config.overrides import Overrides, TypeWords
from checker.core.errors import Unsatisfiable
from checker.core.meta import Binding, GenerationMode
from checker.core.operation import Location
from checker.generation.fusion.fused import fused
from checker.generation.fusion.sizes import Sizes
from checker.generation.fusion.writing import Function
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources import alphabets
from checker.generation.sources.basic import texts
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.recipes import Draw

from .making import LABEL, PHASE, parameter_of, program_of

SMOKE = Path(__file__).parent.parent / "data" / "smoke"
FILES = sorted(path for path in SMOKE.iterdir() if path.suffix != ".md")
SEEDS = 40
REUSING = GenerationSettings(reuse=True)


Given = Callable[[str, int], Any]
"""What a pool has for a name and an index; None for nothing."""


@dataclass
class Pool:
    """Remembers who asked."""

    given: Given
    asked: list[tuple[Location, str, int]] = field(default_factory=list)

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        self.asked.append((location, name, index))
        value = self.given(name, index)
        return None if value is None else Binding(location, name, LABEL, "/id", index, value)


def sometimes(name: str, index: int) -> Any:
    """A text, a number or nothing."""
    return (None, f"{name}!", index)[index % 3]


POOLS: dict[str, Given] = {
    "nothing": lambda name, index: None,
    "always": lambda name, index: index,
    "sometimes": sometimes,
    "what does not fit": lambda name, index: (-0.5, "\n", True)[index % 3],
}


def drawn(program: OperationProgram, seed: int, given: Given = sometimes) -> tuple[object, ...]:
    """Everything about a case and how it came about, or why it did not."""
    source, pool = RandomSource(seed), Pool(given)
    try:
        case = program.draw(source, case_id="x", phase=PHASE, pool=pool)
    except Unsatisfiable as error:
        return f"nothing at {error.pointer}", pool.asked
    parts = (case.path_parameters, case.query, case.headers, case.cookies, case.body)
    assert case.meta is not None
    provenance = (case.media_type, case.meta.components, case.meta.bindings)
    return repr((parts, provenance)), list(source.choices), pool.asked


def assert_fused_is_equal(make: Any, seeds: int = SEEDS, given: Given = sometimes) -> None:
    plain, hot = make(), make()
    hot.heat()
    for seed in range(seeds):
        assert drawn(hot, seed, given) == drawn(plain, seed, given), (plain.operation.label, seed)


@pytest.mark.parametrize("reuse", [False, True], ids=["run", "fuzz"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_smoke_operations_are_drawn_alike(path: Path, reuse: bool) -> None:
    settings = GenerationSettings(reuse=reuse)
    for operation in operations(path):
        assert_fused_is_equal(lambda operation=operation: compile_operation(operation, settings))


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        inner = {"type": "array", "items": inner, "minItems": 1, "maxItems": 2}
    return inner


def optional(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "boolean"}
    for _ in range(depth):
        inner = {"type": ["object", "null"], "properties": {"a": inner}}
    return inner


SCHEMAS: dict[str, Any] = {
    "integers": {"type": "integer"},
    "few integers": {"type": "integer", "minimum": 1, "maximum": 3},
    "multiples": {"type": "integer", "multipleOf": 7, "minimum": -100},
    "numbers": {"type": "number"},
    "numbers between": {"type": "number", "minimum": -0.5, "exclusiveMaximum": 2.25},
    "decimal steps": {"type": "number", "multipleOf": 0.01},
    "booleans": {"type": "boolean"},
    "null or text": {"type": ["null", "string"]},
    "no text": {"type": "string", "maxLength": 0},
    "texts": {"type": "string", "minLength": 3, "maxLength": 40},
    "long texts": {"type": "string", "minLength": 900, "maxLength": 1000},
    "fixed texts": {"type": "string", "minLength": 5, "maxLength": 5},
    "longer texts than there is room for": {
        "type": "array",
        "items": {"type": "string", "maxLength": 3000},
        "minItems": 3,
        "maxItems": 9,
    },
    "patterns": {"type": "string", "pattern": "^(ab|c)[0-9]{2,5}-x?$"},
    "open patterns": {"type": "string", "pattern": "^/"},
    "patterns that are open at both ends": {"type": "string", "pattern": '^"[0-9]+?"$|\\*'},
    "two constraints": {"type": "string", "format": "email", "pattern": "@example\\.com$"},
    "contents": {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"},
    "one text that is tried": {"type": "string", "pattern": "^a$", "not": {"const": "b"}},
    "hardly any": {"type": "string", "pattern": "^[a-z]+$", "not": {"pattern": "^[a-y]"}},
    "enum": {"enum": ["a'\"\\", "\ud800", 1.5, -0.0, True, None, {"a": [1]}]},
    "const": {"const": {"deep": ["\n"]}},
    "formats": {
        "type": "object",
        "required": ["a", "b", "c", "d", "e", "f", "g", "h"],
        "properties": {
            name: {"type": "string", "format": text}
            for name, text in zip(
                "abcdefgh",
                ("date", "date-time", "email", "hostname", "ipv4", "uuid", "idn-email", "uri"),
                strict=True,
            )
        },
    },
    "optional properties": {
        "type": "object",
        "properties": {"a'b": {"type": "integer"}, "\\": {"type": "null"}, "ü\n": {}},
    },
    "at least two": {
        "type": "object",
        "minProperties": 2,
        "additionalProperties": False,
        "properties": {name: {"type": "boolean"} for name in "abcd"},
    },
    "maps": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 4},
    "named": {"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}},
    "arrays": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 4},
    "different": {"type": "array", "items": {"enum": [1, 2, 3, "x"]}, "uniqueItems": True},
    "different objects": {
        "type": "array",
        "minItems": 2,
        "uniqueItems": True,
        "items": {"type": "object", "properties": {"a": {"type": "boolean"}}},
    },
    "alternatives": {"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "boolean"}]},
    "many alternatives": {"anyOf": [{"const": n} if n % 2 else {"minimum": n} for n in range(9)]},
    "anything": {},
    "examples": {"type": "integer", "examples": [11, 12]},
    "deep": nested(12),
    "deeper than Python indents": optional(80),
    "more items than there is room for": {
        "type": "array",
        "minItems": 6,
        "items": {
            "type": "array",
            "minItems": 40,
            "items": {"type": "object", "properties": {name: {"type": "null"} for name in "abcd"}},
        },
    },
    "small beside large": {
        "type": "object",
        "required": ["a", "b"],
        "properties": {
            "a": {"type": "object", "properties": {name: {"type": "null"} for name in "abcd"}},
            "b": {"type": "array", "minItems": 5, "items": {"type": "string", "maxLength": 900}},
            "c": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
        },
    },
    "wide": {
        "type": "object",
        "properties": {f"p{n}": {"type": "array", "items": {"type": "string"}} for n in range(200)},
    },
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_drawn_alike(name: str) -> None:
    assert_fused_is_equal(lambda: program_of(body=SCHEMAS[name]), seeds=200)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_drawn_alike_with_values_of_earlier_responses(name: str) -> None:
    assert_fused_is_equal(lambda: program_of(body=SCHEMAS[name], settings=REUSING), seeds=60)


INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
THING = {"type": "object", "properties": {"n": INTEGER, "t": TEXT}, "required": ["n"]}
FLAGS = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}}
PLACES: dict[str, Any] = {
    "a/b~c'{d}": TEXT,
    "arrays": {"type": "array", "items": {"type": "array", "items": THING}},
    "different": {"type": "array", "items": FLAGS | {"required": ["n"]}, "uniqueItems": True},
    "different texts": {"type": "array", "items": {"maxLength": 1} | TEXT, "uniqueItems": True},
    "map": {"type": "object", "additionalProperties": THING},
    "maps": {"additionalProperties": {"additionalProperties": TEXT, "type": "object"}},
    "tried": {"type": "array", "items": THING | {"not": {"required": ["t"]}}},
    "filled": {
        "type": "object",
        "minProperties": 3,
        "additionalProperties": False,
        "properties": dict.fromkeys("abcd", INTEGER),
    },
    "filled with anything": THING | {"minProperties": 4},
    "alternatives": {"type": "array", "items": {"anyOf": [THING, INTEGER, {"type": "null"}]}},
    "many alternatives": {
        "type": "array",
        "items": {"anyOf": [THING | {"maxProperties": n + 2} for n in range(9)]},
    },
    "tuple": {"type": "array", "prefixItems": [TEXT, THING], "minItems": 2},
    "twice": {"type": "array", "items": INTEGER, "not": {"uniqueItems": True}},
    "deep": nested(12),
    "recursive": {"$ref": "#/components/schemas/Tree"},
    "anything": {},
}
TREE = {"type": "object", "properties": {"t": TEXT, "trees": {"type": "array"}}}
TREE["properties"]["trees"]["items"] = {"$ref": "#/components/schemas/Tree"}  # type: ignore[index]
PARAMETERS = (
    parameter_of(INTEGER, Location.PATH, "id"),
    parameter_of(TEXT, Location.QUERY, "q"),
    parameter_of({"type": ["integer", "null"]}, Location.QUERY, "p'", required=False),
    parameter_of({"type": "array", "items": INTEGER}, Location.QUERY, "many"),
    parameter_of({"type": "string", "minLength": 2}, Location.HEADER, "X-Thing", required=False),
    parameter_of(TEXT, Location.COOKIE, "crumb"),
)


def reusing(places: dict[str, Any]) -> OperationProgram:
    body = {"type": "object", "properties": places, "required": [*places]}
    return program_of(*PARAMETERS, body=body, settings=REUSING, components={"Tree": TREE})


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize("place", PLACES)
def test_values_of_earlier_responses_are_taken_alike(place: str, kind: str) -> None:
    assert_fused_is_equal(lambda: reusing({place: PLACES[place]}), 60, POOLS[kind])


@pytest.mark.parametrize("kind", POOLS)
def test_all_places_beside_each_other_are_told_apart_alike(kind: str) -> None:
    assert_fused_is_equal(lambda: reusing(PLACES), 60, POOLS[kind])


def test_choices_are_alike_whether_there_is_no_pool_or_nothing_in_it() -> None:
    program = reusing({name: PLACES[name] for name in ("arrays", "map", "different")})
    program.heat()
    for seed in range(100):
        source = RandomSource(seed)
        program.draw(source, case_id="x", phase=PHASE)
        assert drawn(program, seed, POOLS["nothing"])[1] == source.choices


def test_written_out_values_stand_where_their_bindings_say() -> None:
    places = ("a/b~c'{d}", "arrays", "different", "tried", "tuple")
    program = reusing({name: PLACES[name] for name in places})
    program.heat()
    seen: set[str] = set()
    for seed in range(200):
        case = program.draw(RandomSource(seed), "x", PHASE, Pool(POOLS["always"]))
        assert case.meta is not None
        for binding in case.meta.bindings:
            if binding.location is Location.BODY:
                found = at(case.body, binding.name)
                assert str(found) == str(binding.literal)
                seen.add(binding.name)
    assert {"/a~1b~0c'{d}", "/arrays/0/1/n", "/different/1/n", "/tuple/1/t"} <= seen


def at(value: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        value = value[int(name) if isinstance(value, list) else name]
    return value


@pytest.mark.parametrize("place", ["arrays", "different", "map", "maps", "tried"])
def test_places_of_values_of_earlier_responses_are_written_out(place: str) -> None:
    text = Function(reusing({place: PLACES[place]}).whole).text
    assert "take" in text
    assert "draw" not in text


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_case_is_larger_than_its_program_may_be(name: str) -> None:
    program = program_of(body=SCHEMAS[name])
    size = Sizes().of(program.whole)
    source = RandomSource()
    for seed in range(100):
        source.reset(seed)
        program.draw(source, case_id="x", phase=PHASE)
        assert len(source.choices) <= size.choices
        assert source.spent <= size.spent


@pytest.mark.parametrize(
    ("name", "asks_for_bytes", "asks_for_choices"),
    [
        ("arrays", False, False),
        ("texts", False, False),
        ("small beside large", True, False),
        ("more items than there is room for", False, True),
    ],
)
def test_only_what_may_fill_a_case_asks_for_room(
    name: str, asks_for_bytes: bool, asks_for_choices: bool
) -> None:
    text = Function(program_of(body=SCHEMAS[name]).whole).text
    assert ("source.spent <" in text) is asks_for_bytes
    assert ("len(choices) <" in text) is asks_for_choices


def test_texts_that_no_ring_holds_are_drawn_alike() -> None:
    plain = texts(alphabets.LETTERS, 900, 2000)
    hot, source = fused(plain), RandomSource()
    for seed in range(200):
        source.reset(seed)
        wanted = plain(source)
        source.reset(seed)
        assert hot(source) == wanted


@pytest.mark.parametrize("reuse", [False, True], ids=["run", "fuzz"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_given_values_are_taken_alike(share: float, reuse: bool) -> None:
    words = (TypeWords("string", ("", "word"), share), TypeWords("integer", (7,), share))
    settings = GenerationSettings(reuse=reuse, overrides=Overrides(types=words))
    identifier, *others = PARAMETERS
    parameters = (replace(identifier, examples=(1, 2)), *others)
    few = {"type": "integer", "minimum": 6, "maximum": 8}
    # What was refused leaves no trace of where it came from.
    refused = {
        "equal items": {"type": "array", "items": few, "uniqueItems": True},
        "objects": {"type": "object", "properties": {"n": few}, "not": {"required": ["n"]}},
    }
    for name, schema in (PLACES | refused).items():
        body = {"type": "object", "properties": {name: schema}, "required": [name]}
        assert_fused_is_equal(
            lambda body=body: program_of(
                *parameters, body=body, settings=settings, components={"Tree": TREE}
            )
        )


def test_modes_are_drawn_alike() -> None:
    for mode in (None, GenerationMode.NEGATIVE):
        assert_fused_is_equal(
            lambda mode=mode: program_of(
                body=SCHEMAS["formats"], settings=GenerationSettings(mode=mode)
            )
        )


def test_programs_are_written_out_when_they_have_drawn_enough(monkeypatch) -> None:
    written: list[Draw] = []

    def noted(draw: Draw) -> Draw:
        written.append(draw)
        return fused(draw)

    monkeypatch.setattr("checker.generation.program.fused", noted)
    program = program_of(body=SCHEMAS["maps"])
    for seed in range(140):
        drawn(program, seed)
    assert not written
    for seed in range(20):
        drawn(program, seed)
    assert len(written) == 1
