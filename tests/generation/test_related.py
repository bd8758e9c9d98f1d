"""Values that a person would try: equal, ordered and contained ones, and words that a name suggests."""

from typing import Any

import pytest

from checker.core.operation import Location
from checker.generation.drawing.objects import Property, members, related
from checker.generation.program import compile_operation
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import DrawContext

from .making import PlainOperation, bodies, body_of, cases, opinions, parameter_of, program_of, schema_of

NUMBER = {"type": "integer", "minimum": 1, "maximum": 1000}
TEXT = {"type": "string", "maxLength": 40}


def test_numbers_of_one_object_are_equal_or_in_order_now_and_then() -> None:
    raw = {"type": "object", "required": ["a", "b", "c"], "properties": dict.fromkeys("abc", NUMBER)}
    drawn = bodies(raw, 700)
    is_valid = opinions(schema_of(raw))
    assert all(map(is_valid, drawn))
    assert sum(value["a"] == value["b"] == value["c"] for value in drawn) >= 5
    assert sum(value["b"] == value["a"] + 1 for value in drawn) >= 5


def test_texts_of_one_request_are_equal_reversed_or_contained_now_and_then() -> None:
    program = program_of(*(parameter_of(TEXT, name=name) for name in ("text", "part")))
    pairs = [(case.query["text"], case.query["part"]) for case in cases(program, 700)]
    distinct = [(text, part) for text, part in pairs if len(text) > 3 and len(part) > 3]
    assert sum(text == part for text, part in distinct) >= 3
    assert sum(text != part and text == part[::-1] for text, part in distinct) >= 3
    assert sum(text != part and (text in part or part in text) for text, part in distinct) >= 3


def test_whether_equal_values_are_one_object_changes_nothing() -> None:
    def drawn(first: str, second: str) -> list[dict[str, Any]]:
        fields = [Property("a", lambda _: first, 1, lambda _: True), Property("b", lambda _: second, 1, lambda _: True)]
        draw = related(members(fields, "#", 0), fields, DrawContext())
        return [draw(RandomSource(seed)) for seed in range(200)]

    text = "equal values"
    assert drawn(text, text) == drawn(text, text.encode().decode())


@pytest.mark.parametrize(
    ("name", "more", "word"),
    [
        ("dayOfWeek", {}, "monday"),
        ("op", {}, "plus"),
        ("salutation", {}, "mr"),
        ("sex", {}, "male"),
        ("sort_order", {}, "asc"),
        ("q", {"description": "Code of the currency."}, "EUR"),
        ("fileName", {}, "a.txt"),
    ],
)
def test_words_are_of_the_topic_that_a_name_or_prose_mentions(name: str, more: dict[str, Any], word: str) -> None:
    raw = {"type": "string", "maxLength": 20, **more}
    program = program_of(parameter_of(raw, Location.QUERY, name))
    assert word in {case.query[name] for case in cases(program, 150)}
    values = bodies({"type": "object", "required": [name], "properties": {name: raw}}, 150)
    assert word in {value[name] for value in values}


def test_words_replace_values_of_any_type_that_are_sent_as_text() -> None:
    program = program_of(parameter_of({}, Location.PATH, "codes"))
    assert "200" in {case.path_parameters["codes"] for case in cases(program, 150)}


def test_words_keep_to_the_schema() -> None:
    raw = {"type": "string", "enum": ["x", "y"]}
    assert {case.query["sort"] for case in cases(program_of(parameter_of(raw, name="sort")), 60)} == {"x", "y"}
    short = {"type": "string", "maxLength": 3}
    assert all(len(case.query["month"]) <= 3 for case in cases(program_of(parameter_of(short, name="month")), 60))


def test_operations_are_read_once_for_the_relations_of_all_their_programs() -> None:
    raw = {"type": "object", "properties": {"min": NUMBER, "max": NUMBER}}
    operation = PlainOperation((), (body_of(schema_of(raw)),))
    first, second = (compile_operation(operation, GenerationSettings()).relations for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.suggested is second.suggested
