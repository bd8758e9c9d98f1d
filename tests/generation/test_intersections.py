"""Strings with two constraints and more: drawn from what all of them have in common, not by luck."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.errors import Unsatisfiable
from checker.core.operation import Location
from checker.generation.drawing.formats import FORMATS
from checker.generation.patterns.automata import common_to, walker
from checker.generation.patterns.regexes import UnsupportedPattern, matcher, strict_format
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Budget
from checker.generation.sources.replay import SimplestSource
from checker.validation.formats import STRING_FORMATS

from .making import PlainOperation, bodies, body_of, cases, drawer, opinions, parameter_of, program_of, schema_of

BOTH: dict[str, tuple[dict[str, Any], int]] = {
    "format and pattern": ({"format": "email", "pattern": "@example\\.com$"}, 20),
    "format and start": ({"format": "ipv4", "pattern": "^10\\."}, 20),
    "format and members": ({"format": "email", "pattern": "^(a@example\\.com|b@example\\.org)$"}, 2),
    "format, pattern and length": ({"format": "uri", "pattern": "^https://api\\.example\\.com/", "maxLength": 40}, 10),
    "format and length": ({"format": "ipv6", "maxLength": 5}, 5),
    "two formats": ({"format": "hostname", "allOf": [{"format": "ipv4"}]}, 20),
    "version of a format": ({"format": "uuid", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-1"}, 20),
    "no fractions of a time": ({"format": "date-time", "pattern": "T\\d{2}:00:00Z$"}, 20),
    "three patterns": ({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}, {"pattern": "[0-9]{3}"}]}, 20),
    "all kinds": ({"allOf": [{"pattern": "[a-z]"}, {"pattern": "[A-Z]"}, {"pattern": "[0-9]"}, {"pattern": "^[!-~]{8,12}$"}]}, 20),
    "conditions": ({"pattern": "^(?=.*[A-Z])(?!.*AB)[A-C]{4}$", "allOf": [{"pattern": "C"}]}, 20),
    "rules of a password": ({"pattern": "^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?=.*[!?]).{8,128}$", "maxLength": 20}, 20),
    "pattern and another forbidden": ({"pattern": "^[a-z]+$", "not": {"pattern": "[a-y]"}}, 3),
    "format and pattern forbidden": ({"format": "ipv4", "not": {"pattern": "[2-9]"}}, 10),
    "pattern and length": ({"pattern": "^(ab|cde)+$", "minLength": 7, "maxLength": 7}, 3),
    "pattern and minimum": ({"pattern": "^([a-z]{3}-)+$", "minLength": 30}, 20),
}  # fmt: skip
"""What is said, and how many different texts of a hundred there are at least."""


@pytest.mark.parametrize("name", BOTH)
def test_texts_satisfy_all_that_is_said(name: str) -> None:
    raw, many = BOTH[name]
    raw = {"type": "string", **raw}
    is_valid = opinions(schema_of(raw))
    texts = bodies(raw, 100)
    assert [text for text in texts if not is_valid(text)] == []
    assert len(set(texts)) >= many


@pytest.mark.parametrize("others", [("^a", "^b"), ("^[0-9]+$", "[a-z]"), ("^(ab)+$", "a", "c")])
def test_patterns_that_exclude_each_other_are_named(others: tuple[str, ...]) -> None:
    raw = {"type": "string", "allOf": [{"pattern": pattern} for pattern in others]}
    with pytest.raises(Unsatisfiable, match="matches all of") as caught:
        program_of(body=raw)
    assert caught.value.pointer == f"#/s/allOf/{len(others) - 1}/pattern"


@pytest.mark.parametrize("others", [("^\\s$", "[^ \\t]"), ("^.$", "^\\u0500$"), ("(^a|b)*c", "^x")])
def test_patterns_are_not_said_to_exclude_each_other_for_lack_of_usual_texts(others: tuple[str, ...]) -> None:
    """A no-break space, a rare letter, and an anchor that is not looked for in a loop."""
    raw = {"type": "string", "allOf": [{"pattern": pattern} for pattern in others]}
    assert program_of(body=raw).fault is None


@pytest.mark.parametrize("location", [Location.HEADER, Location.PATH, Location.QUERY])
def test_texts_keep_to_what_a_place_carries(location: Location) -> None:
    raw = {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "b"}, {"pattern": "[0-9]$"}]}
    program = program_of(parameter_of(raw, location))
    texts = {getattr(case, location.container)["q"] for case in cases(program, 60)}
    assert len(texts) > 30
    assert all(re.fullmatch("a.*b.*[0-9]", text, re.DOTALL) for text in texts)
    if location is Location.HEADER:
        assert all(text.isascii() and text.isprintable() for text in texts)


def test_edges_of_a_format_stay_where_a_pattern_allows_them() -> None:
    dates = bodies({"type": "string", "format": "date", "pattern": "-0[12]-"}, 1_000)
    assert any(text.endswith("-02-29") for text in dates)


def test_simplest_text_is_the_shortest() -> None:
    raw = {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "[0-9]"}, {"pattern": "b$"}]}
    assert drawer(program_of(body=raw))(SimplestSource()).body == "a0b"


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if one.grammar])
def test_texts_of_a_grammar_are_of_its_format_for_strict_readers(name: str) -> None:
    texts = drawn((FORMATS[name].pattern,), 200)
    assert len(set(texts)) > 50
    if name in STRING_FORMATS:
        accepts = (STRING_FORMATS[name], strict_format(name))
        assert [text for text in texts if not all(one(text) for one in accepts)] == []


def drawn(patterns: tuple[str, ...], count: int, low: int = 0, high: int | None = None) -> list[str]:
    found = common_to(patterns, (), alphabets.TEXT.intervals)
    assert found.automaton is not None
    draw = walker(found.automaton, max(low, found.low), found.high if high is None else high)
    return [draw(RandomSource(seed)) for seed in range(count)]


_ATOMS = st.sampled_from(["a", "b", "[ab]", "[a-c]", "(ab|c)", "(a|bc?)", "c", "(?:)"])
_PARTS = st.builds(str.__add__, _ATOMS, st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}"]))
_ROWS = st.lists(_PARTS, min_size=1, max_size=4).map("".join)
_COUNTED = st.sampled_from(["^[a-c]{1,3}$", "^(?=[ab]{2,4}$)", "^(?!b)", "^(?=.*c)[a-c]{0,3}$", "^.{2,}$"])
_SEARCHED = st.builds(
    lambda start, row, end: start + row + end, st.sampled_from(["", "^"]), _ROWS, st.sampled_from(["", "$"])
)  # fmt: skip
_PATTERNS = _COUNTED | _SEARCHED


@settings(max_examples=150)
@given(
    st.lists(_PATTERNS, min_size=1, max_size=3), st.lists(_SEARCHED, max_size=1), st.integers(0, 5), st.integers(0, 6)
)
@pytest.mark.thorough
def test_an_automaton_has_the_lengths_and_texts_that_all_patterns_have(
    patterns: list[str], forbidden: list[str], low: int, more: int
) -> None:
    """Against all texts of three characters: `é` stands for those that no pattern names."""
    alphabet = ((0x61, 0x63), (0xE9, 0xE9))
    found = common_to(tuple(patterns), tuple(forbidden), alphabet)
    assert found.automaton is not None
    wanted, unwanted = ([re.compile(text) for text in texts] for texts in (patterns, forbidden))

    def is_wanted(text: str) -> bool:
        return all(one.search(text) for one in wanted) and not any(one.search(text) for one in unwanted)

    texts = [""]
    there = [""] if is_wanted("") and low == 0 else []
    for size in range(1, 5):
        texts = [text + character for text in texts for character in "abcé"]
        there += [text for text in texts if low <= size <= low + more and is_wanted(text)]
    try:
        high = low + more if found.high is None else min(low + more, found.high)
        draw = walker(found.automaton, max(low, found.low), high)
    except UnsupportedPattern:
        assert there == []
        return
    for seed in range(20):
        text = draw(RandomSource(seed))
        assert is_wanted(text)
        assert low <= len(text) <= low + more


@pytest.mark.parametrize(
    "patterns", [("^(.{0,30}a.{5,9}){3}$", "b.{7}c"), ("(a|b)*a(a|b){12}$",), ("a{3000}",), ("^(a|b)\\1$",)]
)
def test_what_is_too_large_for_an_automaton_is_drawn_as_ever(patterns: tuple[str, ...]) -> None:
    assert common_to(patterns, (), alphabets.TEXT.intervals).automaton is None


def test_work_on_automata_is_counted_whoever_made_them() -> None:
    def left(raw: dict[str, Any]) -> int:
        budget = Budget()
        operation = PlainOperation((), (body_of(schema_of({"type": "string", **raw})),))
        compile_operation(operation, GenerationSettings(), budget=budget)
        return budget.steps

    both = {"format": "email", "pattern": "@example\\.org$"}
    assert left(both) == left(both) < left({"format": "email"})


def test_lengths_are_kept_in_long_and_periodic_texts() -> None:
    assert {len(text) for text in drawn(("^(abc)+$",), 100, 10, 20)} == {12, 15, 18}
    assert all(400 <= len(text) <= 420 for text in drawn(("^[a-z]+$", "q"), 20, 400, 420))
    with pytest.raises(UnsupportedPattern):
        drawn(("^(ab)+$",), 1, 3, 3)


def test_matcher_agrees_on_classes() -> None:
    texts = drawn(("^\\w+\\s\\S+$", "\\d\\D"), 100)
    assert all(matcher("^\\w+\\s\\S+$")(text) and matcher("\\d\\D")(text) for text in texts)


@pytest.mark.thorough
def test_many_automata_end_in_the_budget() -> None:
    """What is too large counts as well; when a quarter is spent no more are made."""
    properties = {
        f"p{number}": {"type": "string", "allOf": [{"pattern": f"(a|b)*a(a|b){{12}}{number}"}, {"pattern": "^x"}]}
        for number in range(100)
    }
    budget = Budget()
    schema = schema_of({"type": "object", "properties": properties})
    compile_operation(PlainOperation((), (body_of(schema),)), GenerationSettings(), budget=budget)
    assert 0 < budget.steps < budget.thrift
