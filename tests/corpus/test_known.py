"""What is known of failures: by fingerprint, by place, by cause; and until when."""

from typing import Any

import pytest

from checker.core.known import Baseline, KnownFailure
from checker.corpus.known import KnownFailures, KnownStatus, entry_for
from tests.reporting.samples import ORDERS, USERS, finding

TODAY = "2026-11-22"


def standing(entry: KnownFailure | None, **changes: Any) -> KnownStatus:
    entries = () if entry is None else (entry,)
    return KnownFailures(Baseline("b", TODAY, entries)).standing(finding(**changes))


def test_a_failure_that_nobody_wrote_down_is_new() -> None:
    assert standing(None) is KnownStatus.NEW


def test_a_failure_that_was_written_down_is_known() -> None:
    assert standing(entry_for(finding(), TODAY)) is KnownStatus.KNOWN


def test_words_that_change_in_an_error_text_do_not_make_it_new() -> None:
    entry = entry_for(finding(text="no row * in table"), TODAY)
    assert standing(entry, fingerprint="f9", text="no row of users in table") is KnownStatus.KNOWN
    assert standing(entry, fingerprint="f9", text="out of memory") is KnownStatus.NEW


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"label": ORDERS}, KnownStatus.NEW),
        ({"unique_key": "501"}, KnownStatus.NEW),
        ({"check": "use_after_free"}, KnownStatus.NEW),
        ({}, KnownStatus.KNOWN),
    ],
)
def test_an_entry_names_operation_check_and_rule(changes: dict[str, Any], expected: KnownStatus) -> None:
    entry = KnownFailure(check="not_a_server_error", rule="500", operation=USERS)
    assert standing(entry, fingerprint="f9", **changes) is expected


def test_an_entry_without_an_operation_is_a_cause_everywhere() -> None:
    entry = KnownFailure(check="not_a_server_error", rule="500", text="")
    assert standing(entry, label=ORDERS, fingerprint="f9") is KnownStatus.KNOWN
    assert standing(entry, label=ORDERS, fingerprint="f9", text="boom") is KnownStatus.NEW


@pytest.mark.parametrize(
    ("expires", "expected"), [(TODAY, KnownStatus.KNOWN), ("2026-11-21", KnownStatus.EXPIRED), ("", KnownStatus.KNOWN)]
)
def test_the_last_day_is_one_of_those_on_which_it_is_known(expires: str, expected: KnownStatus) -> None:
    assert standing(KnownFailure(fingerprint="v1-f1", expires=expires)) is expected


def test_an_entry_in_force_goes_before_one_that_is_expired() -> None:
    expired = KnownFailure(fingerprint="v1-f1", expires="2020-01-01")
    cause = KnownFailure(check="not_a_server_error")
    known = KnownFailures(Baseline("b", TODAY, (expired, cause)))
    assert known.standing(finding()) is KnownStatus.KNOWN
    compared = known.compared([finding()], [USERS], is_whole=True)
    assert compared.gone == ()


def test_what_did_not_show_again_is_gone_only_where_it_was_looked_for() -> None:
    here = KnownFailure(fingerprint="v1-x", operation=USERS)
    elsewhere = KnownFailure(fingerprint="v1-y", operation=ORDERS)
    cause = KnownFailure(check="use_after_free")
    known = KnownFailures(Baseline("b", TODAY, (here, elsewhere, cause)))
    part = known.compared([], [USERS], is_whole=False)
    assert (part.gone, part.unobserved) == ((here,), (elsewhere, cause))
    assert known.compared([], [USERS], is_whole=True).gone == (here, cause)


def test_what_a_busy_machine_shows_is_not_written_down() -> None:
    known = KnownFailures(Baseline("b", TODAY, (), updates=True))
    assert known.standing(finding()) is KnownStatus.RECORDED
    assert known.standing(finding(check="max_response_time")) is KnownStatus.NEW
    assert known.standing(finding(phase="")) is KnownStatus.NEW
