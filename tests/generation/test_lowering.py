"""Bisection: small choices in few tries."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.meta import Choice
from checker.generation.sources.shrinking import lower
from tests.searching import searched

MIXED = "Пётр-株式会社-Ελλάδα-שלום-" * 8


def lowered(choice: Choice, fails: Callable[[Choice], bool]) -> tuple[Choice, int]:
    """The last choice that failed, and the number of tries."""
    best, tries = [choice], 0

    def counted(candidate: Choice) -> bool:
        nonlocal tries
        tries += 1
        if not fails(candidate):
            return False
        best.append(candidate)
        return True

    searched(lower(choice), counted)
    return best[-1], tries


@given(st.integers(1, 1 << 64), st.integers(0, 1 << 64))
def test_the_least_number_beyond_a_bound_is_found_by_halving(bound: int, more: int) -> None:
    found, tries = lowered(bound + more, lambda value: isinstance(value, int) and value >= bound)
    assert found == bound
    # Round numbers are looked at first, which costs little where the bound is none.
    assert tries <= 80


@pytest.mark.parametrize("bound", [101, 128, 256, 1000, 1001, 65_536, 1 << 31])
def test_a_round_bound_takes_few_tries(bound: int) -> None:
    found, tries = lowered(3 * bound + 7, lambda value: isinstance(value, int) and value >= bound)
    assert found == bound
    assert tries <= 8


def test_a_negative_number_stays_negative_only_if_it_has_to() -> None:
    assert lowered(-900, lambda value: abs(int(str(value))) > 100)[0] == 101
    assert lowered(-900, lambda value: int(str(value)) < -100)[0] == -101


def test_a_long_text_of_mixed_scripts_becomes_plain_and_as_short_as_it_may_be() -> None:
    found, tries = lowered(MIXED, lambda text: len(str(text)) > 100)
    assert found == "0" * 101
    assert tries < 15


def test_what_a_text_fails_for_is_cut_out_of_it() -> None:
    found, tries = lowered(MIXED, lambda text: "株" in str(text) and len(str(text)) > 3)
    assert isinstance(found, str)
    assert len(found) == 4
    assert sorted(found) == ["0", "0", "0", "株"]
    assert tries < 60


@pytest.mark.parametrize("choice", [False, 0, "", 0.0, b"x"])
def test_what_is_simple_already_or_of_another_kind_is_not_tried(choice: Choice) -> None:
    assert lowered(choice, lambda _: True) == (choice, 0)
