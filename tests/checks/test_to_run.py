"""Which checks are asked: counted, so that a check that has nothing to say costs nothing."""

import sys
from typing import Any

import pytest

from checker.checks.check import Applies, Check
from checker.checks.context import PASSED, CheckContext, Failures, Found
from checker.checks.judge import CLEAN, Judge
from checker.checks.to_run import selected_checks
from checker.config.operation_settings import OperationSettings
from checker.core.failures import Failure
from checker.core.meta import GenerationMode
from checker.core.response import Response
from checker.core.send import Exchanging
from tests.checks.counting import ASKED, case_of, counting, ok
from tests.checks.test_conformance import operation_of

OPERATION = operation_of({"content": {"application/json": {"schema": {"type": "object"}}}})
NEGATIVE = GenerationMode.NEGATIVE


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    ASKED.clear()


def of_status(name: str) -> Check:
    return counting(name, quick_look=lambda status, plan, config: status == 200)


def test_a_verdict_that_follows_from_the_status_is_asked_of_no_case() -> None:
    judge = Judge([of_status("status")])
    for _ in range(100):
        judge.verdict(case_of(OPERATION), ok())
    judge.verdict(case_of(OPERATION), ok(201))
    assert ASKED == {"status": 1}


def test_what_depends_on_the_body_is_asked_each_time() -> None:
    judge = Judge([counting("body")])
    for _ in range(100):
        judge.verdict(case_of(OPERATION), ok())
    assert ASKED == {"body": 100}


APART: dict[str, tuple[Applies, dict[str, Any]]] = {
    "phases": (Applies(phases=frozenset(["stateful"])), {"phase": "stateful"}),
    "modes": (Applies(modes=frozenset([NEGATIVE])), {"mode": NEGATIVE}),
    "scenarios": (Applies(scenarios=frozenset(["missing"])), {"scenario": "missing"}),
}


@pytest.mark.parametrize("name", APART)
def test_a_check_is_asked_only_of_what_it_applies_to(name: str) -> None:
    applies, parts = APART[name]
    judge = Judge([counting(name, applies=applies)])
    for _ in range(10):
        judge.verdict(case_of(OPERATION), ok())
        judge.verdict(case_of(OPERATION, **parts), ok())
    assert {name: 10} == ASKED


def test_a_check_is_asked_only_of_the_statuses_that_it_applies_to() -> None:
    judge = Judge([counting("gone", applies=Applies(statuses=("404", "41X")))])
    for status in (200, 404, 410, 500):
        judge.verdict(case_of(OPERATION), ok(status))
    assert ASKED == {"gone": 2}


def test_what_fails_is_asked_each_time() -> None:
    def run(context: CheckContext) -> Found:
        return Failure(f"answer {context.response.text}")

    judge = Judge([Check("bad", run)])
    bodies = [b"1", b"2"]
    found = [judge.verdict(case_of(OPERATION), Response(200, [], body)) for body in bodies]
    assert [one.failures[0].message for one in found if one] == ["answer 1", "answer 2"]


def test_a_check_that_sends_is_none_of_the_business_of_other_cases() -> None:
    def run(context: CheckContext) -> Exchanging[Failures]:
        ASKED["sending"] += 1
        yield context.make(context.case)
        return PASSED

    sending = Check("sending", run, applies=Applies(phases=frozenset(["stateful"])))
    judge = Judge([sending])
    assert judge.verdict(case_of(OPERATION), ok()) is CLEAN
    assert judge.verdict(case_of(OPERATION, phase="stateful"), ok()) is None
    assert ASKED == {}


TEN = (
    *(of_status(f"status {n}") for n in range(3)),
    *(counting(f"mode {n}", applies=Applies(modes=frozenset([NEGATIVE]))) for n in range(2)),
    *(counting(f"late {n}", applies=Applies(phases=frozenset(["coverage"]))) for n in range(2)),
    *(counting(f"kept {n}", applies=Applies(phases=frozenset(["stateful"]))) for n in range(2)),
    counting("gone", applies=Applies(statuses=("404",))),
)


def calls_of(judge: Judge) -> int:
    """Calls of functions that one more interaction of a kind that is known takes."""
    case, response, count = case_of(OPERATION), ok(), 0
    judge.verdict(case, response)

    def counts(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counts)
    try:
        judge.verdict(case, response)
    finally:
        sys.setprofile(None)
    return count


def test_ten_more_checks_that_pass_cost_a_look_at_the_case_and_no_more() -> None:
    own = selected_checks(OperationSettings().checks)
    assert calls_of(Judge([*own, *TEN])) <= calls_of(Judge(own)) + 3
    assert ASKED == {}
