"""Faults of our own, away from reading, judging and writing down: each costs what it touches."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.meta import Drawn, Step
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.corpus.records import OperationError
from checker.corpus.secrets import Secrets, exchange
from checker.workers.messages import FirstCases
from checker.workers.recording import traffic
from checker.workers.recording.recorder import Recorder
from tests.workers.harness import LABELS, TASK, Ran, run, workplace


def _fails(*_: object, **__: object) -> Any:
    raise ZeroDivisionError("nobody thought of this")


def _cannot_describe_answers(request: WireRequest, outcome: Outcome, secrets: Secrets) -> Any:
    return (_fails if isinstance(outcome, Response) else exchange)(request, outcome, secrets)


def _errors(ran: Ran) -> set[tuple[str, str, bool]]:
    """(label, title, whether the way there is shown) of each error."""
    return {
        (record.label, record.title, "ZeroDivisionError" in record.trace)
        for record in ran.records
        if isinstance(record, OperationError)
    }


def test_an_example_that_cannot_be_made_again_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step, label = Step(LABELS[0], Drawn(())), LABELS[0]
    with workplace(tmp_path, lanes=1) as place:
        forgotten: list[tuple[Step, ...]] = []
        monkeypatch.setattr(place.saved, "load", lambda of: [(step,)] if of == label else [])
        monkeypatch.setattr(place.saved, "forget", forgotten.append)
        monkeypatch.setattr(place.factory, "remake", _fails)
        ran = run(place, replace(TASK, phase="fuzzing", first=FirstCases(tries_saved=True)))
    assert [one.tasks for one in ran.idle] == [((TASK.id, 300, True),)]
    assert forgotten == [(step,)]
    assert _errors(ran) == {(label, "Runtime Error", True)}


def test_an_answer_that_nobody_can_encode_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workplace(tmp_path, lanes=1, keeps_traffic=True) as place:
        monkeypatch.setattr(traffic, "exchange", _cannot_describe_answers)
        ran = run(place, replace(TASK, phase="fuzzing"))
    assert [one.tasks for one in ran.idle] == [((TASK.id, 300, True),)]
    assert _errors(ran) == {(str(label), "Runtime Error", True) for label in LABELS}


def test_a_case_whose_recipe_cannot_be_left_costs_its_operation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workplace(tmp_path, lanes=1) as place:
        monkeypatch.setattr(Recorder, "recipe", _fails)
        ran = run(place, replace(TASK, phase="fuzzing", redo=(0, 1, 2)))
    assert [one.tasks[0][0] for one in ran.idle] == [TASK.id]
    assert _errors(ran) == {(str(label), "Runtime Error", True) for label in LABELS}
