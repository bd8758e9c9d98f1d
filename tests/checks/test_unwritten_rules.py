"""Which valid requests may be refused for a rule that no description says."""

import pytest

from checker.checks.positive_data import may_break_one
from checker.core.case import Case
from checker.core.meta import CaseMetadata, GenerationMode, PhaseData, PhaseInfo
from checker.core.scenarios import Scenario
from tests.openapi.documents import operation


@pytest.mark.parametrize(
    ("scenario", "is_in_doubt"), [(Scenario.SIGNS, True), (Scenario.UNUSUAL, True), (Scenario.STRING, False)]
)
def test_what_nobody_is_used_to_may_be_refused(scenario: Scenario, is_in_doubt: bool) -> None:
    phase = PhaseInfo("coverage", PhaseData({"scenario": str(scenario)}))
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, phase)
    case = Case(operation({}), "a", query={"q": "("}, meta=meta)
    assert bool(may_break_one(case)) is is_in_doubt


@pytest.mark.parametrize(
    ("value", "is_in_doubt"),
    [
        ("2016-12-31T23:59:60Z", True),
        ("2024-02-29t12:00:00Z", True),
        ("2024-02-29T12:00:00.5z", True),
        ("2024-02-29 12:00:00Z", True),
        ("0001-01-01T00:00:00+14:00", True),
        ("9999-12-31T23:59:59-12:00", True),
        ("9999-12-31T23:59:59Z", False),
        ("0001-01-01T00:00:00Z", False),
        ("2024-02-29T12:00:00+14:00", False),
        ("2024-02-29", False),
        (["a"] * 1_001, True),
        (["a"] * 1_000, False),
    ],
)
def test_moments_and_lists_that_few_services_take_may_be_refused(value: object, is_in_doubt: bool) -> None:
    assert bool(may_break_one(Case(operation({}), "a", body={"a": value}))) is is_in_doubt


@pytest.mark.parametrize(("levels", "is_in_doubt"), [(32, False), (33, True)])
def test_what_is_nested_deep_may_be_refused(levels: int, is_in_doubt: bool) -> None:
    body: object = "a"
    for _ in range(levels):
        body = [body]
    assert bool(may_break_one(Case(operation({}), "a", body=body))) is is_in_doubt


@pytest.mark.parametrize(
    ("media_type", "is_in_doubt"), [("application/json-patch+json", True), ("application/json", False)]
)
def test_a_patch_of_what_is_not_there_may_be_refused(media_type: str, is_in_doubt: bool) -> None:
    case = Case(operation({}), "a", body=[{"op": "remove", "path": "/b"}], media_type=media_type)
    assert bool(may_break_one(case)) is is_in_doubt


@pytest.mark.parametrize(
    ("low", "high", "is_in_doubt"),
    [
        ("startsAt", "endsAt", True),
        ("checkIn", "checkOut", True),
        ("begin", "finish", True),
        ("valid_from", "valid_until", True),
        ("open", "close", True),
        ("price_gte", "price_lte", True),
        ("minimumAge", "maximumAge", True),
        ("startsAt", "endsOn", False),
        ("first", "second", False),
    ],
)
@pytest.mark.parametrize("values", [(5, 5), (6, 5), ("2024-01-01T10:00:00Z",) * 2, ("10:00:00Z", "09:00:00Z")])
def test_values_that_are_not_in_order_may_be_refused(
    low: str, high: str, values: tuple[object, object], *, is_in_doubt: bool
) -> None:
    first, second = values
    assert bool(may_break_one(Case(operation({}), "a", body={low: first, high: second}))) is is_in_doubt
    assert may_break_one(Case(operation({}), "a", body={low: 1, high: 2})) == ""
