"""The referee against the generator, over real documents: the bounded version of `benchmarks/referee.py`."""

from itertools import islice
from pathlib import Path

import pytest

from checker.core.contract import Outcome
from checker.core.meta import GenerationMode
from tests.measuring.refereeing import Tally, judge, operations

SMOKE = Path(__file__).parent.parent / "data" / "smoke"
CASES = 4


def tally_of(mode: GenerationMode, corpora: Path, every: int) -> Tally:
    tally = Tally()
    for name, operation in islice(operations(corpora, []), 0, None, every):
        judge(name, operation, mode, CASES, tally)
    return tally


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.thorough_beyond(1)
def test_what_is_generated_is_what_it_was_meant_to_be(mode: GenerationMode) -> None:
    tally = tally_of(mode, SMOKE, 3)
    assert tally.operations > 30
    assert tally.wrong == []
    assert tally.ambiguous_json == 0
    assert tally.outcomes[Outcome.AMBIGUOUS] <= 0.02 * tally.cases


@pytest.mark.corpora
@pytest.mark.parametrize("mode", GenerationMode)
def test_what_is_generated_for_a_sample_of_the_corpora(mode: GenerationMode, corpora: Path) -> None:
    tally = tally_of(mode, corpora, 40)
    assert tally.wrong == []
    assert tally.ambiguous_json == 0
