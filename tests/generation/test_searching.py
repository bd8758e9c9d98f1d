"""Patterns are searched for: what stands before and after a match is part of what may be sent."""

import re
from typing import Any

import pytest

from checker.core.meta import GenerationMode
from checker.core.operation import Location
from checker.generation.program import GenerationSettings
from checker.generation.regex_writing import branches
from checker.generation.regexes import parse
from checker.generation.sources.replay import SimplestSource

from .making import bodies, cases, drawer, opinions, parameter_of, program_of, schema_of

OPEN: dict[str, str] = {
    "^/": "/",
    "a": "a",
    "\\.json$": ".json",
    "[0-9]": "0",
    "": "",
    "\\*|^b$": "*",
    "(^|,)a": "a",
    "^\\d{3}": "000",
}
"""Pattern -> the simplest text that it matches."""
CLOSED = ("^a$", "^(a|b)$", "^a$|^b$", "^(?:a|b|)$", "(^a$)", "^[a-z]{2}$")


@pytest.mark.parametrize("pattern", OPEN)
def test_text_stands_around_a_match(pattern: str) -> None:
    texts = bodies({"type": "string", "pattern": pattern}, 300)
    is_bare = re.compile(pattern).fullmatch
    surrounded = [text for text in texts if not is_bare(text)]
    assert len(texts) / 4 < len(surrounded) < len(texts) * 3 / 4
    assert sum(len(text) <= 40 for text in surrounded) > len(surrounded) * 3 / 4


@pytest.mark.parametrize("pattern", CLOSED)
def test_nothing_stands_around_a_whole_text(pattern: str) -> None:
    is_whole = re.compile(pattern.replace("$", "\\Z")).fullmatch
    assert all(map(is_whole, bodies({"type": "string", "pattern": pattern}, 100)))


@pytest.mark.parametrize("pattern", OPEN)
def test_valid_for_two_validators(pattern: str) -> None:
    raw = {"type": "string", "pattern": pattern}
    is_valid = opinions(schema_of(raw))
    assert [text for text in bodies(raw, 200) if not is_valid(text)] == []


def test_long_texts_and_controls_stand_around_a_match() -> None:
    texts = bodies({"type": "string", "pattern": "^/"}, 2_000)
    assert any(len(text) > 255 for text in texts)
    assert any(character < " " for text in texts for character in text)


@pytest.mark.parametrize("pattern", OPEN)
def test_simplest_text_is_the_bare_match(pattern: str) -> None:
    program = program_of(body={"type": "string", "pattern": pattern})
    assert drawer(program)(SimplestSource()).body == OPEN[pattern]


@pytest.mark.parametrize("pattern", OPEN)
@pytest.mark.parametrize("sizes", [(0, 9), (7, 7), (12, 20), (300, 400)])
def test_lengths_hold_around_a_match(pattern: str, sizes: tuple[int, int]) -> None:
    raw = {"type": "string", "pattern": pattern, "minLength": sizes[0], "maxLength": sizes[1]}
    is_valid = opinions(schema_of(raw))
    texts = bodies(raw, 100)
    assert [text for text in texts if not is_valid(text)] == []
    assert len(set(texts)) > 20


@pytest.mark.parametrize(
    ("pattern", "open_ends"),
    [
        ('^"([0-9]+?)"$|\\*', [(False, False), (True, True)]),
        ("^a", [(False, True)]),
        ("a$", [(True, False)]),
        ("(^a|b)c$", [(False, False), (True, False)]),
        ("a(b|c$)", [(True, True), (True, False)]),
        ("(^|,)x($|,)", [(False, False), (False, True), (True, False), (True, True)]),
        ("(?:^a)?b", [(False, True), (True, True)]),
        ("^(?=a)(?!b)", [(False, True)]),
        ("^$", [(False, False)]),
        ("a^b", [(False, False)]),
        ("", [(True, True)]),
    ],
)
def test_each_branch_is_open_at_the_ends_without_an_anchor(pattern: str, open_ends: list[tuple[bool, bool]]) -> None:
    found = [(one.is_open_before, one.is_open_after) for one in branches(parse(pattern))]
    assert found == open_ends


def test_groups_in_groups_are_split_into_few_branches() -> None:
    assert len(branches(parse("(^a|b)" + "(c|d$)" * 60))) <= 64
    assert len(branches(parse("".join("(^a|b" for _ in range(35)) + ")" * 35))) <= 64


@pytest.mark.parametrize("location", [Location.HEADER, Location.PATH, Location.COOKIE, Location.QUERY])
def test_what_stands_around_is_what_a_place_carries(location: Location) -> None:
    program = program_of(parameter_of({"type": "string", "pattern": "^\\*|b"}, location))
    texts = [getattr(case, location.container)["q"] for case in cases(program, 300)]
    assert len(set(texts)) > 60
    assert all(re.search("^\\*|b", text) for text in texts)
    if location is Location.HEADER:
        assert all(text.isascii() and text.isprintable() and text == text.strip() for text in texts)


@pytest.mark.parametrize(
    "raw",
    [
        {"patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False},
        {"propertyNames": {"pattern": "^x-"}},
    ],
)
def test_names_have_something_around_a_match(raw: dict[str, Any]) -> None:
    raw = {"type": "object", "minProperties": 1, **raw}
    names = {name for value in bodies(raw, 100) for name in value}
    assert all(name.startswith("x-") for name in names)
    assert len(names) > 30


@pytest.mark.parametrize("pattern", ["^https?://", "[a-z]{3}", "\\.json$", '^"[0-9]+"$|\\*'])
def test_negatives_nearly_match_and_are_found_nowhere(pattern: str) -> None:
    raw = {"type": "string", "pattern": pattern}
    program = program_of(body=raw, settings=GenerationSettings(mode=GenerationMode.NEGATIVE))
    texts = [case.body for case in cases(program, 400) if isinstance(case.body, str)]
    is_valid = opinions(schema_of(raw))
    assert [text for text in texts if is_valid(text)] == []
    characters = set('https://abcdefghijklmnopqrstuvwxyz.json0123456789*"')
    assert sum(len(characters & set(text)) >= 2 for text in texts) > len(texts) / 2


def test_settings_say_what_may_stand_around() -> None:
    raw = {"type": "string", "pattern": "^/"}
    plain = GenerationSettings(allow_x00=False, exclude_header_characters="\r\nab\"'")
    program = program_of(parameter_of(raw, Location.HEADER), body=raw, settings=plain)
    found = cases(program, 2_000)
    assert not any("\0" in case.body for case in found)
    assert not any(set("ab\"'") & set(case.headers["q"]) for case in found)
    assert any("\0" in text for text in bodies(raw, 2_000))
