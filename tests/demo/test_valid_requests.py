"""The version without defects answers every valid request by its document."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.demo import DEFECTS

from .client import Client, Judge, Wanted
from .valid import LABELS, requests

RELAXED = settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@RELAXED
@given(st.data())
@pytest.mark.thorough
def test_any_order_of_valid_requests_meets_no_failure(fixed: Client, judge: Judge, data: st.DataObject) -> None:
    known = ["BK-00000000"]
    strategies = requests(st.integers(0, 3).map(lambda back: known[-1 - back % len(known)]))
    for label in data.draw(st.lists(st.sampled_from(LABELS), min_size=5, max_size=20)):
        wanted = data.draw(strategies[label])
        answer = fixed.send(wanted)
        assert not judge.failures(wanted, answer), (wanted, answer)
        assert answer.status in {200, 201, 204, 404, 409}, (wanted, answer)
        if label == "POST /bookings":
            known.append(answer.json()["reference"])


@settings(RELAXED, max_examples=300)
@given(st.one_of(*requests().values()))
@pytest.mark.thorough
def test_valid_requests_meet_only_the_labelled_defects(buggy: Client, judge: Judge, wanted: Wanted) -> None:
    failures = judge.failures(wanted, buggy.send(wanted))
    label = f"{wanted.method} {wanted.template}"
    known = {each.check for each in DEFECTS if each.operation == label and each.needs == "positive"}
    assert failures <= known
