"""Hooks of users that raise: on some cases they cost those, on hardly bearable ones the operation."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.hooks import GLOBAL_HOOKS
from checker.corpus.records import OperationError
from tests.workers.harness import TASK, Ran, run, workplace


def ran_with(folder: Path, share: int, phase: str) -> tuple[Ran, int]:
    """A task whose `before_call` raises for one case of so many; how often it was called."""
    calls: list[None] = []

    def before_call(context: Any, case: Any, kwargs: Any) -> None:
        calls.append(None)
        if len(calls) % share == 0:
            raise ValueError("not this one")

    GLOBAL_HOOKS.register(before_call)
    try:
        with workplace(folder, lanes=1) as place:
            return run(place, replace(TASK, phase=phase)), len(calls)
    finally:
        GLOBAL_HOOKS.unregister_all()


def errors(ran: Ran) -> set[str]:
    return {one.message for one in ran.records if isinstance(one, OperationError)}


@pytest.mark.parametrize("phase", ["fuzzing", "exploration"])
def test_a_hook_that_raises_on_some_cases_costs_those_alone(tmp_path: Path, phase: str) -> None:
    ran, calls = ran_with(tmp_path, 10, phase)
    assert [one.tasks for one in ran.idle] == [((TASK.id, TASK.stop, True),)]
    # `fuzz` does not call hooks for safe requests that would repeat earlier ones.
    assert calls >= TASK.stop * (1 if phase == "fuzzing" else 0.9)
    assert errors(ran) == {"hook before_call raised ValueError: not this one"}


def test_a_hook_that_always_raises_costs_its_operation_soon(tmp_path: Path) -> None:
    ran, calls = ran_with(tmp_path, 1, "fuzzing")
    assert calls <= 3 * len(TASK.labels)
    assert errors(ran) == {"hook before_call raised ValueError: not this one"}


@pytest.mark.parametrize("phase", ["coverage", "fuzzing"])
@pytest.mark.parametrize("value", [5, {7: "a"}])
def test_a_hook_that_returns_no_parameters_costs_its_operation_alone(tmp_path: Path, phase: str, value: Any) -> None:
    def map_query(context: Any, query: Any) -> Any:
        return value

    GLOBAL_HOOKS.register(map_query)
    try:
        with workplace(tmp_path, lanes=1) as place:
            ran = run(place, replace(TASK, phase=phase))
    finally:
        GLOBAL_HOOKS.unregister_all()
    assert errors(ran) == {f"hook map_query gave {value!r}; it has to return a dict of names and values, or None"}
