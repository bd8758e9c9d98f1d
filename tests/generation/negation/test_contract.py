"""Every smoke operation: what is meant to be wrong is, on the wire and under every mutation of its record."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.core.contract import Outcome
from checker.core.errors import Unsatisfiable
from checker.core.meta import GenerationMode
from checker.core.request import BaseUrl
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi.referee import RequestReferee
from checker.transport.prepare import RequestMaker
from tests.measuring.contract import contract_of
from tests.measuring.corpora import operations

from ..making import drawer
from .test_parts import wrong_part

SMOKE = Path(__file__).parents[2] / "data" / "smoke"
FILES = sorted(path for path in SMOKE.iterdir() if path.suffix != ".md")


def _programs(path: Path) -> Iterator[OperationProgram]:
    settings = GenerationSettings(mode=GenerationMode.NEGATIVE)
    for operation in operations(path):
        try:
            yield compile_operation(operation, settings)
        except Unsatisfiable as error:
            assert error.reason == "Impossible to generate negative test cases"  # noqa: PT017


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("path", FILES[::4], ids=lambda path: path.name)
def test_negative_records_replay_and_stay_negative(path: Path) -> None:
    for program in _programs(path):
        found = contract_of(program, records=6, mutations=20)
        assert found.faults == []
        assert (found.replayed, found.mutated) == (6, 20)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("path", FILES[1::3], ids=lambda path: path.name)
def test_part_that_is_meant_to_be_wrong_is_wrong_on_the_wire(path: Path) -> None:
    maker = RequestMaker(BaseUrl("http", "127.0.0.1", 80, ""), version="0")
    source = RandomSource()
    for program in _programs(path):
        judge = RequestReferee(program.operation)
        for seed in range(5):
            source.reset(seed)
            case = drawer(program)(source)
            verdict = judge.judge(maker.make(case))
            if case.body == {} and verdict.outcome is Outcome.AMBIGUOUS:
                # An empty form is no bytes, and its body is optional.
                continue
            assert verdict.outcome is Outcome.INVALID, case
            assert {part.location for part in verdict.invalid} == {wrong_part(case)[0]}


@pytest.mark.corpora
@pytest.mark.timeout(900)
def test_every_operation_of_the_smoke_set_keeps_the_contract(corpora: Path) -> None:
    for line in (corpora / "smoke.txt").read_text().split():
        for program in _programs(corpora / line):
            assert contract_of(program, records=200, mutations=1000).faults == []
