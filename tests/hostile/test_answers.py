"""No answer, however damaged, raises anything: neither in the lane nor in whoever reads it."""

import pytest

from tests.hostile.fuzzing import fuzz
from tests.hostile.mutations import mutated


@pytest.mark.thorough
def test_mutated_answers_are_outcomes() -> None:
    fuzzed = fuzz(0, 1000)
    assert fuzzed.unread == {}
    assert fuzzed.count == 1000
    # They go wrong in many ways, and not in all of them.
    assert fuzzed.outcomes["answer"] > 200
    assert fuzzed.outcomes["malformed"] > 200
    assert fuzzed.outcomes["dropped"] > 20
    assert fuzzed.outcomes["timeout"] == 0
    assert len(fuzzed.statuses) > 8
    assert len(fuzzed.findings) > 6


@pytest.mark.parametrize("number", [0, 1, 77_777])
def test_a_number_says_which_answer_it_is(number: int) -> None:
    assert mutated(number) == mutated(number) != mutated(number + 1)
