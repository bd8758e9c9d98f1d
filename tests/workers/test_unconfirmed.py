"""What has to fail again: the rule decides, texts only tell one defect from another."""

from typing import Any, cast

import pytest
from msgspec.structs import replace

from checker.checks.judge import Judgement
from checker.checks.server_error import ServerError
from checker.core.meta import PhaseInfo
from checker.core.response import Response
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase
from checker.workers.recording.unconfirmed import MOST_STRAYS, ExpectedFailure, JudgedCase, UnconfirmedFailure
from tests.corpus.generated import finding


def shot(text: str, *, rule: str = "500", status: int = 500) -> JudgedCase:
    failure = ServerError(unique_key=rule, text=text)
    failure.check = "not_a_server_error"
    # Neither is looked at.
    made, case = cast("GeneratedCase", None), cast("Any", None)
    return JudgedCase(made, Verdict(case, None, Response(status, [], b""), Judgement((failure,), (), ())))


def wanted(text: str) -> ExpectedFailure:
    first = shot(text)
    (failure,) = first.verdict.judgement.failures
    known = replace(finding(), text=text)
    return ExpectedFailure.of(UnconfirmedFailure(known, failure, (first,), PhaseInfo("fuzzing")))


def test_another_text_for_the_very_same_request_is_volatile() -> None:
    looked_for = wanted("order locked by owner")
    assert looked_for.again(shot("order locked by worker")) is not None
    assert looked_for.text == "order locked by *"
    assert looked_for.shown_by_candidate(shot("order locked by anybody"))


@pytest.mark.parametrize("other", [shot("error", rule="501"), shot("error", status=503)])
def test_another_rule_or_status_is_another_failure(other: JudgedCase) -> None:
    looked_for = wanted("error")
    assert looked_for.again(other) is None
    assert looked_for.shown(other) is None
    assert not looked_for.shown_by_candidate(other)
    assert looked_for.strays == {}


def test_what_was_made_the_first_time_is_replaced_the_next() -> None:
    looked_for = ExpectedFailure("negative_data_rejection", "2XX", "Server error", 201, "")
    again = shot("", rule="2XX", status=200)
    again.verdict.judgement.failures[0].check = "negative_data_rejection"
    assert looked_for.again(again) is not None


def test_a_shrink_does_not_slip_to_another_defect() -> None:
    looked_for = wanted("KeyError name")
    stray = shot("ZeroDivisionError by zero")
    assert not looked_for.shown_by_candidate(stray)
    assert [found for found, _ in looked_for.strays.values()] == [stray]


def test_texts_that_are_ever_different_do_not_matter_any_more() -> None:
    looked_for = wanted("first")
    shown = [looked_for.shown_by_candidate(shot(f"text {n}")) for n in range(MOST_STRAYS + 2)]
    assert shown == [False] * MOST_STRAYS + [True, True]
    assert looked_for.strays == {}
    assert looked_for.text == "*"


def test_without_a_text_the_rule_is_all() -> None:
    assert wanted("").shown_by_candidate(shot("whatever"))
