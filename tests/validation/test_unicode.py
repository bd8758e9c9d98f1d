"""Characters by property."""

import sys
import unicodedata

import pytest

from checker.validation.ecma import ranges_of

GENERAL = ("L", "Lu", "M", "Nd", "P", "S", "Z", "C", "Cc", "Cf", "Cn", "Co", "Cs")


@pytest.fixture(scope="module")
def categories() -> list[str]:
    return list(map(unicodedata.category, map(chr, range(sys.maxunicode + 1))))


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", GENERAL)
def test_ranges_hold_every_character_of_a_category(name: str, categories: list[str]) -> None:
    ranges = ranges_of(name)
    assert ranges is not None
    found = {code for first, last in ranges for code in range(first, last + 1)}
    assert {code for code, of in enumerate(categories) if of.startswith(name)} == found
