"""Values of users and of the description in place of generated ones: eligible, forced, shrinkable, told apart."""

import dataclasses
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.filters import FilterSpec, OperationFilters
from checker.config.overrides import EACH, Override, Overrides, TypeWords
from checker.core.case import Case
from checker.core.meta import GenerationMode, Origin
from checker.core.operation import Example, Location, Parameter
from checker.generation.boundaries.operations import OperationEdges
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.replay import ReplaySource
from checker.generation.sources.shrinking import shrink
from tests.measuring.conjecture import replay_through_conjecture
from tests.searching import searched

from .making import PlainOperation, body_of, cases, drawer, parameter_of, parts, program_of, schema_of

INTEGER = {"type": "integer"}
BODY = {
    "type": "object",
    "required": ["name", "tags"],
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "nested": {"type": "object", "properties": {"n": INTEGER}},
    },
}


def settings(*parameters: Override, types: tuple[TypeWords, ...] = (), **more: Any) -> GenerationSettings:
    return GenerationSettings(overrides=Overrides(parameters, types), **more)


def binding(*entries: Any, path: str = "q", share: float = 1.0, **more: Any) -> Override:
    return Override(more.pop("location", None), (path,), entries, share, **more)


def forced(value: Any, *path: str, location: Location | None = None) -> Override:
    return Override(location, path, (value,))


def queries(program: OperationProgram, count: int = 200) -> list[Any]:
    return [case.query["q"] for case in cases(program, count)]


def origin(case: Case, location: Location) -> Origin:
    assert case.meta is not None
    return case.meta.components[location].origin


def test_a_forced_value_stands_there_always_valid_or_not() -> None:
    program = program_of(parameter_of(INTEGER, required=False), settings=settings(forced("fixed", "q")))
    found = cases(program, 50)
    assert {case.query["q"] for case in found} == {"fixed"}
    assert {origin(case, Location.QUERY) for case in found} == {Origin.EXPLICIT}


def test_entries_that_the_schema_refuses_are_not_taken() -> None:
    entries = binding(5, "7", "abc", 11, -3)
    raw = {"type": "integer", "minimum": 0, "maximum": 10}
    program = program_of(parameter_of(raw), settings=settings(entries))
    assert set(queries(program)) == {5, 7}


def test_without_an_entry_that_fits_values_are_generated() -> None:
    program = program_of(parameter_of({"type": "boolean"}), settings=settings(binding("abc")))
    assert set(queries(program)) == {True, False}


def test_probability_is_kept() -> None:
    program = program_of(parameter_of({"type": "string"}), settings=settings(binding("word", share=0.3)))
    found = cases(program, 2000)
    taken = [case for case in found if case.query["q"] == "word"]
    assert 0.25 < len(taken) / len(found) < 0.35
    assert {origin(case, Location.QUERY) for case in taken} == {Origin.DICTIONARY}
    rest = [case for case in found if case.query["q"] != "word"]
    assert {origin(case, Location.QUERY) for case in rest} == {Origin.RANDOM}


def test_a_name_with_its_place_wins_over_the_bare_name() -> None:
    program = program_of(
        parameter_of({"type": "string"}),
        parameter_of({"type": "string"}, Location.HEADER, "Q"),
        settings=settings(forced("any", "q"), forced("here", "q", location=Location.QUERY)),
    )
    (case,) = cases(program, 1)
    assert (case.query["q"], case.headers["Q"]) == ("here", "any")


def test_what_is_said_of_some_operations_wins_for_these() -> None:
    mine = OperationFilters((FilterSpec("include", "method", "POST"),))
    others = OperationFilters((FilterSpec("include", "method", "GET"),))
    for filters, expected in ((mine, {"mine"}), (others, {"all"})):
        scoped = replace(forced("mine", "q"), operations=filters)
        program = program_of(parameter_of({"type": "string"}), settings=settings(scoped, forced("all", "q")))
        assert set(queries(program, 20)) == expected


def test_words_of_a_type_stand_everywhere_where_they_are_valid() -> None:
    words = (TypeWords("string", ("word", "too long a word"), 1.0), TypeWords("integer", (7,), 1.0))
    program = program_of(parameter_of(INTEGER), body=BODY, settings=settings(types=words))
    for case in cases(program, 50):
        assert case.query["q"] == 7
        assert case.body["name"] == "word"
        assert set(case.body["tags"]) <= {"word", "too long a word"}
        assert origin(case, Location.BODY) is Origin.DICTIONARY


def test_a_binding_of_a_parameter_wins_over_one_of_its_type() -> None:
    words = (TypeWords("string", ("type",), 1.0),)
    program = program_of(parameter_of({"type": "string"}), settings=settings(binding("mine"), types=words))
    assert set(queries(program, 20)) == {"mine"}


@pytest.mark.parametrize(
    ("path", "value", "look"),
    [
        (("name",), "Ann", lambda body: body["name"] == "Ann"),
        (("nested", "n"), 3, lambda body: body["nested"]["n"] == 3),
        (("tags", EACH), "t", lambda body: set(body["tags"]) == {"t"}),
        (("more", "deeper"), [1], lambda body: body["more"] == {"deeper": [1]}),
        (("name", "below"), 1, lambda body: isinstance(body["name"], str)),
    ],
    ids=["property", "nested", "each", "additional", "below"],
)
def test_a_body_is_changed_where_the_path_leads(path: Any, value: Any, look: Any) -> None:
    override = forced(value, *path, location=Location.BODY)
    for case in cases(program_of(body=BODY, settings=settings(override)), 30):
        assert look(case.body)
        assert origin(case, Location.BODY) is Origin.EXPLICIT


def test_every_element_of_a_body_that_is_an_array_is_changed() -> None:
    override = forced(1, EACH, "id", location=Location.BODY)
    raw = {"type": "array", "minItems": 1, "items": {"type": "object"}}
    for case in cases(program_of(body=raw, settings=settings(override)), 20):
        assert {item["id"] for item in case.body} == {1}


def test_a_dictionary_in_a_body_keeps_it_valid() -> None:
    override = Override(Location.BODY, ("name",), ("Ann", "far too long", 5), 1.0)
    found = cases(program_of(body=BODY, settings=settings(override)), 50)
    assert {case.body["name"] for case in found} == {"Ann", "5"}
    assert {origin(case, Location.BODY) for case in found} == {Origin.DICTIONARY}


def test_nothing_that_is_forced_is_negated() -> None:
    negative = settings(forced("x", "q"), mode=None)
    program = program_of(parameter_of(INTEGER), parameter_of(INTEGER, name="r"), settings=negative)
    found = cases(program, 200)
    assert {case.query["q"] for case in found} == {"x"}
    modes = Counter(case.meta.generation.mode for case in found if case.meta)
    assert modes[GenerationMode.NEGATIVE] > 50


def test_entries_that_are_invalid_are_what_is_wrong() -> None:
    raw = {"type": "integer", "maximum": 10}
    wanted = settings(binding(5, 11, "abc", "12"), mode=GenerationMode.NEGATIVE)
    found = cases(program_of(parameter_of(raw, required=False), settings=wanted), 60)
    broken = set()
    for case in found:
        assert case.meta is not None
        violation = case.meta.components[Location.QUERY].violation
        assert violation is not None
        broken.add((case.query["q"], violation.keyword))
    assert broken == {(11, "maximum"), ("abc", "type"), ("12", "maximum")}


def test_coverage_keeps_what_is_forced_and_leaves_dictionaries_alone() -> None:
    operation = PlainOperation((parameter_of(INTEGER), parameter_of(INTEGER, name="r")), (body_of(schema_of(BODY)),))
    wanted = settings(
        forced("x", "q"),
        forced("Ann", "name", location=Location.BODY),
        Override(None, ("r",), (7171,), 1.0),
        types=(TypeWords("integer", (9191,), 1.0),),
    )
    found = list(OperationEdges(operation, wanted).cases())
    assert {case.parts.containers[Location.QUERY]["q"] for case in found} == {"x"}
    assert {case.parts.body["name"] for case in found if isinstance(case.parts.body, dict)} == {"Ann"}
    assert "7171" not in repr(found)
    assert "9191" not in repr(found)


def _program_with_words() -> OperationProgram:
    body = Override(Location.BODY, ("name",), ("Ann", "Bob"), 0.5)
    words = settings(
        binding("one", "two", share=0.5),
        body,
        forced(3, "nested", "n", location=Location.BODY),
        types=(TypeWords("string", ("word",), 0.2),),
    )
    return program_of(parameter_of({"type": "string"}), body=BODY, settings=words)


def test_records_replay_and_pass_through_hypothesis() -> None:
    program = _program_with_words()
    draw = drawer(program)
    for seed in range(60):
        source = RandomSource(seed)
        case = draw(source)
        replayed = draw(ReplaySource(source.choices))
        assert parts(replayed) == parts(case)
        again, status, is_exact = replay_through_conjecture(draw, source.choices)
        assert (status, is_exact) == ("VALID", True)
        assert again is not None
        assert parts(again) == parts(case)


def test_an_entry_that_fails_is_shrunk_to_and_the_rest_becomes_simple() -> None:
    draw = drawer(_program_with_words())
    source = RandomSource()
    for seed in range(500):
        source.reset(seed)
        if draw(source).query["q"] == "two":
            break
    smallest = searched(shrink(draw, source.choices), lambda case: case.query["q"] == "two").value
    assert smallest.query["q"] == "two"
    assert smallest.body["name"] == ""


def examples_of(*values: Any) -> tuple[Example, ...]:
    return tuple(Example(value, f"#/examples/{number}") for number, value in enumerate(values))


def _with_examples(raw: Any, *examples: Any) -> Parameter:
    return dataclasses.replace(parameter_of(raw), examples=examples_of(*examples))


def test_declared_examples_that_are_valid_are_mixed_in() -> None:
    program = program_of(_with_examples(INTEGER, 4242, "no integer"))
    found = cases(program, 2000)
    taken = [case for case in found if case.query["q"] == 4242]
    assert 0.16 < len(taken) / len(found) < 0.24
    assert {origin(case, Location.QUERY) for case in taken} == {Origin.EXAMPLE}
    assert "no integer" not in {case.query["q"] for case in found}


def test_declared_examples_of_a_body_are_mixed_in() -> None:
    example = {"name": "Ann", "tags": ["a"]}
    body = dataclasses.replace(body_of(schema_of(BODY)), examples=examples_of(example, 5))
    program = compile_operation(PlainOperation((), (body,)), GenerationSettings())
    found = [case.body for case in cases(program, 500)]
    assert 50 < found.count(example) < 150
    found[found.index(example)]["name"] = "changed"
    assert example["name"] == "Ann"


def test_a_declared_example_leads_the_boundary_values() -> None:
    operation = PlainOperation((_with_examples(INTEGER, 4242),))
    first, *rest = OperationEdges(operation, GenerationSettings()).cases()
    assert first.parts.containers[Location.QUERY] == {"q": 4242}
    assert {"q": 0} in [case.parts.containers[Location.QUERY] for case in rest]


def outside(case: Case, location: Location) -> tuple[str, ...]:
    assert case.meta is not None
    return case.meta.outside(location)


def test_what_came_from_outside_is_named() -> None:
    program = program_of(
        parameter_of({"type": "string"}),
        parameter_of({"type": "string"}, name="r"),
        parameter_of(INTEGER, Location.PATH, "id"),
        body=BODY,
        settings=settings(forced("a", "q"), forced(1, "nested", "n", location=Location.BODY), reuse=False),
    )
    (case,) = cases(program, 1)
    assert outside(case, Location.QUERY) == ("q",)
    assert outside(case, Location.BODY) == ("nested.n",)
    assert outside(case, Location.PATH) == ()


def test_a_word_is_named_in_cases_that_have_it() -> None:
    program = program_of(
        _with_examples({"type": "string"}, "example"),
        parameter_of({"type": "string"}, name="r"),
        settings=settings(binding("word", path="r", share=0.5)),
    )
    found = cases(program, 100)
    assert {outside(case, Location.QUERY) for case in found if case.query["r"] == "word"} == {("r",)}
    # What the description gives is no secret.
    assert {outside(case, Location.QUERY) for case in found if case.query["r"] != "word"} == {()}


def test_where_a_word_of_a_type_stands_is_not_known() -> None:
    words = settings(types=(TypeWords("string", ("word",), 0.5),))
    program = program_of(parameter_of({"type": "string"}), body=BODY, settings=words)
    for case in cases(program, 50):
        assert outside(case, Location.QUERY) == (("*",) if case.query["q"] == "word" else ())


def test_in_the_body_it_is_named_up_to_the_first_list() -> None:
    entries = binding("word", location=Location.BODY)
    program = program_of(body=BODY, settings=settings(replace(entries, path=("tags", EACH))))
    assert {outside(case, Location.BODY) for case in cases(program, 20)} == {("tags",)}


def test_an_object_from_outside_may_become_any_pair() -> None:
    raw = {"type": "object", "properties": {"a": {"type": "string"}}}
    program = program_of(parameter_of(raw), settings=settings(forced({"a": "x"}, "q")))
    assert {outside(case, Location.QUERY) for case in cases(program, 5)} == {("*",)}


def test_a_wrong_part_may_hold_what_came_from_outside() -> None:
    program = program_of(
        parameter_of(INTEGER),
        parameter_of({"type": "string"}, name="r"),
        settings=settings(forced("a", "r"), mode=GenerationMode.NEGATIVE),
    )
    assert {outside(case, Location.QUERY) for case in cases(program, 20)} == {("r",)}


def test_a_wrong_part_holds_no_word_for_valid_values() -> None:
    words = settings(types=(TypeWords("integer", (7,), 0.5),), mode=GenerationMode.NEGATIVE)
    found = cases(program_of(parameter_of(INTEGER), settings=words), 50)
    assert {outside(case, Location.QUERY) for case in found} == {()}


def test_headers_that_are_always_sent_are_from_outside() -> None:
    program = program_of(
        parameter_of({"type": "string"}, Location.HEADER, "X-A"),
        parameter_of({"type": "string"}, Location.COOKIE, "c"),
        settings=settings(fixed_headers=frozenset(("x-key", "cookie"))),
    )
    (case,) = cases(program, 1)
    assert outside(case, Location.HEADER) == ("cookie", "x-key")
    assert outside(case, Location.COOKIE) == ("*",)


def test_boundary_cases_say_what_came_from_outside() -> None:
    operation = PlainOperation((parameter_of(INTEGER),))
    first, *_ = OperationEdges(operation, settings(forced(5, "q"))).cases()
    assert outside(first.case(operation, "c"), Location.QUERY) == ("q",)
