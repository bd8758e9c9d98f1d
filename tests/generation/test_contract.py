"""Every smoke operation: what chance draws, Hypothesis replays, two validators admit, and no mutation spoils."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.core.case import NOT_SET
from checker.core.errors import Unsatisfiable
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import RandomSource
from tests.measuring.contract import Contract, contract_of, has_bytes
from tests.measuring.corpora import operations

from .making import drawer, opinions, program_of

SMOKE = Path(__file__).parent.parent / "data" / "smoke"
FILES = sorted(path for path in SMOKE.iterdir() if path.suffix != ".md")
UNSATISFIABLE: frozenset[str] = frozenset()
"""Labels of operations whose schemas contradict themselves."""


def _programs(path: Path) -> Iterator[OperationProgram]:
    for operation in operations(path):
        try:
            yield compile_operation(operation, GenerationSettings())
        except Unsatisfiable:
            assert operation.label in UNSATISFIABLE


def _assert_kept(found: Contract, records: int, mutations: int) -> None:
    assert found.faults == []
    assert (found.replayed, found.mutated) == (records, mutations)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.thorough_beyond(1)
def test_fifty_records_replay_in_hypothesis(path: Path) -> None:
    for program in _programs(path):
        _assert_kept(contract_of(program, records=50, mutations=0), 50, 0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_mutated_records_give_cases_that_are_admitted(path: Path) -> None:
    for program in _programs(path):
        _assert_kept(contract_of(program, records=3, mutations=60), 3, 60)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_values_of_real_schemas_are_valid_for_both_validators(path: Path) -> None:
    source = RandomSource()
    for program in _programs(path):
        operation = program.operation
        checks = {(item.location.container, item.name): opinions(item.schema) for item in operation.parameters}
        bodies = {body.media_type: opinions(body.schema) for body in operation.bodies}
        for seed in range(8):
            source.reset(seed)
            case = drawer(program)(source)
            for (container, name), is_valid in checks.items():
                values = getattr(case, container)
                assert name not in values or is_valid(values[name]), (operation.label, name, values)
            if case.body is not NOT_SET and not has_bytes(case.body):
                assert bodies[case.media_type or ""](case.body), (operation.label, case.body)


TEXTS = {
    "around a match": {"type": "string", "pattern": '^"[0-9]+?"$|\\*'},
    "around a match of a length": {"type": "string", "pattern": "a", "minLength": 20, "maxLength": 30},
    "in common": {"type": "string", "format": "email", "pattern": "@example\\.com$"},
    "three in common": {"type": "string", "allOf": [{"pattern": "[a-z]"}, {"pattern": "[0-9]"}, {"pattern": "^.{5,9}$"}]},
    "forbidden": {"type": "string", "format": "ipv4", "not": {"pattern": "[2-9]"}},
    "encoded": {"type": "string", "contentEncoding": "base32", "minLength": 8},
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_texts_replay_in_hypothesis_and_bear_mutations(name: str) -> None:
    _assert_kept(contract_of(program_of(body=TEXTS[name]), records=200, mutations=200), 200, 200)


@pytest.mark.corpora
@pytest.mark.timeout(900)
def test_every_operation_of_the_smoke_set_keeps_the_contract(corpora: Path) -> None:
    for line in (corpora / "smoke.txt").read_text().split():
        for program in _programs(corpora / line):
            _assert_kept(contract_of(program, records=200, mutations=1000), 200, 1000)
