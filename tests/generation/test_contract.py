"""Every smoke operation: what chance draws, Hypothesis replays, and two validators admit."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from checker.core.case import NOT_SET
from checker.core.errors import Unsatisfiable
from checker.core.operation import BrokenOperation, Operation
from checker.core.sequence import Choice
from checker.generation.hypothesis import replay_through_conjecture
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources import RandomSource, ReplaySource
from checker.openapi import loaders

from .making import drawer, opinions, parts

SMOKE = Path(__file__).parent.parent / "data" / "smoke"
FILES = sorted(path for path in SMOKE.iterdir() if path.suffix != ".md")
CORPORA = os.environ.get("CHECKER_CORPORA")
UNSATISFIABLE: frozenset[str] = frozenset()
"""Labels of operations whose schemas contradict themselves."""


def _operations(path: Path) -> Iterator[Operation]:
    for operation in loaders.from_path(str(path)).get_all_operations():
        if not isinstance(operation, BrokenOperation):
            yield operation


def _programs(path: Path) -> Iterator[OperationProgram]:
    for operation in _operations(path):
        try:
            yield compile_operation(operation, GenerationSettings())
        except Unsatisfiable:
            assert operation.label in UNSATISFIABLE


def _assert_contract(program: OperationProgram, count: int) -> None:
    draw = drawer(program)
    source = RandomSource()
    for seed in range(count):
        source.reset(seed)
        case = draw(source)
        replayed, status, is_exact = replay_through_conjecture(draw, source.choices)
        assert (status, is_exact) == ("VALID", True), program.operation.label
        assert replayed is not None
        assert parts(case) == parts(replayed)
        assert parts(case) == parts(draw(ReplaySource(source.choices)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_records_replay_in_hypothesis(path: Path) -> None:
    for program in _programs(path):
        _assert_contract(program, 8)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_values_of_real_schemas_are_valid_for_both_validators(path: Path) -> None:
    source = RandomSource()
    for program in _programs(path):
        operation = program.operation
        checks = {
            (item.location.container, item.name): opinions(item.schema)
            for item in operation.parameters
        }
        bodies = {body.media_type: opinions(body.schema) for body in operation.bodies}
        for seed in range(8):
            source.reset(seed)
            case = drawer(program)(source)
            for (container, name), is_valid in checks.items():
                values = getattr(case, container)
                assert name not in values or is_valid(values[name]), (operation.label, name, values)
            if case.body is not NOT_SET and not _has_bytes(case.body):
                assert bodies[case.media_type or ""](case.body), (operation.label, case.body)


def _has_bytes(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_bytes, value.values()))
    if isinstance(value, list):
        return any(map(_has_bytes, value))
    return isinstance(value, bytes)


@pytest.mark.corpora
@pytest.mark.timeout(900)
@pytest.mark.skipif(CORPORA is None, reason="CHECKER_CORPORA is not set")
def test_two_hundred_records_of_every_smoke_operation_replay_in_hypothesis() -> None:
    folder = Path(CORPORA or "")
    for line in (folder / "smoke.txt").read_text().split():
        for program in _programs(folder / line):
            _assert_contract(program, 200)


@pytest.mark.parametrize("path", FILES[::3], ids=lambda path: path.name)
def test_mutated_records_give_admitted_cases_that_replay(path: Path) -> None:
    dice = Random(1)
    source = RandomSource()
    for program in _programs(path):
        bodies = {body.media_type: opinions(body.schema) for body in program.operation.bodies}
        for seed in range(12):
            source.reset(seed)
            drawer(program)(source)
            mutated = _mutated(list(source.choices), dice)
            replay = ReplaySource(mutated, seed)
            case = drawer(program)(replay)
            if case.body is not NOT_SET and not _has_bytes(case.body):
                assert bodies[case.media_type or ""](case.body), (
                    program.operation.label,
                    case.body,
                )
            assert parts(case) == parts(drawer(program)(ReplaySource(replay.choices)))


def _mutated(choices: list[Choice], dice: Random) -> list[Choice]:
    for _ in range(dice.randint(1, 4)):
        place = dice.randint(0, len(choices))
        kind = dice.randint(0, 3)
        if kind == 0:
            del choices[place : place + dice.randint(1, 5)]
        elif kind == 1:
            choices[place:place] = choices[: dice.randint(0, 6)]
        elif kind == 2:
            choices.insert(
                place, dice.choice((True, False, 0, -1, 2**40, 0.5, "", "\U0001f600", b"x"))
            )
        else:
            dice.shuffle(choices)
    return choices
