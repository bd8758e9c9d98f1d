import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.validation.ecma import ecma_pattern

CASES = [
    (r"^\d+$", "12", True),
    (r"^\d+$", "١٢", False),
    (r"^\w+$", "ä", False),
    (r"^a$", "a\n", False),
    (r"^.$", "\r", False),
    (r"^[\s]$", "\ufeff", True),
    (r"^\S$", "\u00a0", False),
    (r"^[^]$", "\n", True),
    (r"[]", "a", False),
    (r"^(?<y>a)\k<y>$", "aa", True),
    (r"^\u{1F600}$", "😀", True),
    (r"^\ud83d\ude00$", "😀", True),
    (r"^\u0041\x42$", "AB", True),
    (r"^\cA$", "\x01", True),
    (r"^[a[]$", "[", True),
    (r"^[a&&b]$", "&", True),
    (r"^a\/b$", "a/b", True),
    (r"^a{2}$", "aa", True),
    (r"^x{$", "x{", True),
    (r"^(?:a|b)*?$", "abab", True),
    (r"^(?!x)", "y", True),
    (r"^[\b]$", "\b", True),
    (r"^[\w.-]+$", "a.b-c", True),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), CASES)
def test_pattern_means_what_ecma_says(pattern: str, text: str, expected: bool) -> None:
    compiled = ecma_pattern(pattern)
    assert compiled is not None
    assert compiled.finds(text) is expected


@pytest.mark.parametrize(
    "pattern", [r"\p{Nope}", "(", "a++", r"^a\Z", "(?i)a", "(?>a)", "[b-a]", "a{2,1}", "[a", r"[\S]"]
)
def test_pattern_without_an_equal_is_not_enforced(pattern: str) -> None:
    assert ecma_pattern(pattern) is None


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "^(a|a)*$", "^(a*)*b", r"^(a+){20}$", "a+$", "a*a*a*c", "(a{1,9}){9}c", r"^(a+)\1+$"]
)
def test_no_pattern_hangs(pattern: str) -> None:
    compiled = ecma_pattern(pattern)
    started = time.process_time()
    for length in (20, 24, 90, 290, 4_990, 99_000):
        if compiled is not None:
            compiled.finds("a" * length + "b")
    assert time.process_time() - started < 5


@pytest.mark.parametrize("pattern", ["(a?){50}a{50}", "^(aa?){50}$", "^(a{1,2}){50}$", "^" + "a?" * 30 + "a{30}$"])
def test_pattern_with_exponential_steps_is_asked_of_short_texts_only(pattern: str) -> None:
    compiled = ecma_pattern(pattern)
    assert compiled is not None
    assert compiled.longest == 24


@pytest.mark.parametrize("pattern", ["^([0-9a-f]{2}:?){6}$", "^([0-9]{8}){9}$", "^a?b?c?d?$"])
def test_pattern_with_one_way_to_match_is_asked_of_long_texts(pattern: str) -> None:
    compiled = ecma_pattern(pattern)
    assert compiled is not None
    assert compiled.longest >= 5_000


@given(st.text(alphabet="ab()[]{}|*+?^$\\.dwsSupk<>=!:-,0123"))
def test_any_text_is_a_pattern_or_none(pattern: str) -> None:
    compiled = ecma_pattern(pattern)
    assert compiled is None or compiled.finds("a") in (True, False)
