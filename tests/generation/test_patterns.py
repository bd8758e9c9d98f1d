import re
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.errors import Unsatisfiable
from checker.generation.regex_writing import writer
from checker.generation.regexes import CERTAIN, UnsupportedPattern, is_certain, matcher, parse
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource

from .making import bodies, cases, opinions, program_of, schema_of

PATTERNS = [
    "^[a-z]+$", "^\\d{3}-\\d{4}$", "abc", "^$", "", "^(foo|bar)?baz$", "^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$",
    "^(?!-)[a-z-]{1,20}(?<!-)$", "^(?=.*\\d)[a-z0-9]{4,8}$", "\\bword\\b", "^[\\w.-]+$", "^(?:[A-F0-9]{2}:){5}[A-F0-9]{2}$",
    "^(?<year>\\d{4})-(?<month>0[1-9]|1[0-2])$", "^a{2,}b*?c+?$", "^[\\u0041-\\u005a]$", "^[\\x20-\\x7E]*$",
    "^\\/[a-z]+\\/$", "^[-a-z]$", "^[a-z-]$", "^(a|b|c){3}$", "^.{5}$", "^\\S+$",
    "^[^a-z]$", "^(\\([0-9]{3}\\))?[0-9]{3}-[0-9]{4}$", "^\\p{L}+$", "[0-9]", "^(?:)$", "^[\\s\\S]{3}$", "^x|y$",
    "^(a+)+$", "^([a-zA-Z]+[.-]?)*[a-z]$", "^(a|b)\\1$", "^(?<q>['\"])[a-z]*\\k<q>$", "^(?=.*[A-Z])(?=.*\\d)(?=.*[a-z]).{8,20}$",
    "^(?!foo)[a-z]+$", "^(?=.{8,20}$)[a-z]+\\d+$", "^(?=.*[!@#])(?=.{12,})", "^a*?b$", "^(foo|^bar)$", "^\\W$",
    "^\\p{Script=Greek}+$", "^\\P{L}+$", "^[\\p{Lu}\\d]+$", "^\\p{digit}+$", "^/", "\\.[a-z]{2,4}$", '^"([0-9]+?)"$|\\*',
    "(^a|b)c", "a(b|c$)", "(^|,)a(,|$)", "(?:^x)?y", "^a|(b|^c$)|d$", "(?!-)[a-z]", "[a-z](?<!b)$", "(a|b)\\1", "(?=.*x)y", "a(?=b)",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_match(pattern: str) -> None:
    raw = {"type": "string", "pattern": pattern}
    is_valid = (
        opinions(schema_of(raw))
        if not any(newer in pattern for newer in ("\\p", "\\P", "(?<y", "(?<q"))
        else re.compile("").search
    )
    assert [text for text in bodies(raw, 60) if not is_valid(text)] == []


SIZED_AHEAD = [
    "^(?=.{6,10}$)[a-z]+_[a-z]+$", "^(?=(.{6,10})$)[a-z]+_[a-z]+$", "(?=^.{6,10}$)^[a-z]+_[a-z]+$",
    "^(?=[^x]{6,10}$)\\w+-\\w+$", "^(?=.{6,10}$)(?=.*[0-9])[a-z0-9]+-[a-z0-9]+$",
]  # fmt: skip


@pytest.mark.parametrize("pattern", SIZED_AHEAD)
def test_lengths_that_a_look_ahead_states_are_drawn(pattern: str) -> None:
    texts = bodies({"type": "string", "pattern": pattern}, 60)
    assert {len(text) for text in texts} == {6, 7, 8, 9, 10}
    assert all(re.search(pattern, text) for text in texts)


@pytest.mark.parametrize("pattern", ["^[a-z]+$", "^([a-z]{2}-?)+$", "^a*b*c*$", "^\\w+( \\w+)*$", "[0-9]"])
@pytest.mark.parametrize("sizes", [(6, 6), (0, 9), (20, 300)])
def test_texts_match_and_keep_to_lengths(pattern: str, sizes: tuple[int, int]) -> None:
    raw = {"type": "string", "pattern": pattern, "minLength": sizes[0], "maxLength": sizes[1]}
    is_valid = opinions(schema_of(raw))
    assert [text for text in bodies(raw, 60) if not is_valid(text)] == []


@pytest.mark.parametrize("pattern", ["\\1(a)", "(", "[a", "a{3,1}", "*a", "[b-a]", "\\p{Unheard}", "(?P=x)"])
def test_what_is_not_understood_is_said(pattern: str) -> None:
    with pytest.raises(UnsupportedPattern):
        parse(pattern)


@given(st.from_regex(CERTAIN.pattern, fullmatch=True), st.integers(0, 1 << 32))
@pytest.mark.thorough
def test_texts_of_a_certain_pattern_match_for_every_reader(pattern: str, seed: int) -> None:
    assert is_certain(pattern)
    try:
        written = writer(pattern, alphabets.TEXT.intervals)
    except UnsupportedPattern:
        return
    text = written.unbounded()(RandomSource(seed))
    assert written.low <= len(text) <= written.high
    assert matcher(pattern)(text)


@pytest.mark.parametrize(
    "pattern", ["^a|b$", "a|b", "^[a-z]+?$", "^a++$", "^.$", "^[^a]$", "^(a)$", "^[+-/]$", "^\\s$", "^a{,2}$"]
)
def test_patterns_that_could_be_read_otherwise_are_not_certain(pattern: str) -> None:
    assert not is_certain(pattern)


def test_patterns_that_explode_do_not_hang() -> None:
    started = process_time()
    for pattern in (
        "^(a|a)*$",
        "^(a*)*b?$",
        "^((a+)+)+$",
        "^(([a-z]+)+\\.)+$",
        "^(.*)*(?=b)b$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
    ):
        bodies({"type": "string", "pattern": pattern}, 40)
    assert process_time() - started < 5


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"pattern": "^[a-z]{4,}$", "maxLength": 3}, "whose texts have at least 4 characters"),
        ({"pattern": "^[a-z]{4}$", "minLength": 5}, "whose texts have at most 4 characters"),
    ],
)
def test_lengths_that_no_text_of_a_pattern_has_are_explained(raw: Any, reason: str) -> None:
    with pytest.raises(Unsatisfiable, match=reason):
        program_of(body={"type": "string", **raw})


def test_pattern_that_is_not_understood_is_named_once() -> None:
    raw = {"type": "array", "items": {"type": "string", "pattern": "(?<!x)\\1(a)"}}
    program = program_of(body=raw)
    cases(program, 5)
    assert dict(program.opaque) == {"#/s/items/pattern": "pattern"}
