"""`fuzz` sends a safe request again only if something may have changed."""

import pytest

from checker.core.case import Case
from checker.workers.case_scheduler import KnownReads
from tests.openapi.documents import operation

READ, OTHER = (Case(operation({}), "1", query={"page": page}) for page in (1, 2))
WRITE = Case(operation({}, method="post"), "1")


@pytest.mark.parametrize(
    ("case", "status", "is_new"),
    [(READ, 200, False), (WRITE, 201, True), (WRITE, 500, True), (WRITE, 404, False), (WRITE, 202, True)],
)
def test_a_change_makes_known_requests_new(case: Case, status: int, is_new: bool) -> None:
    known = KnownReads()
    assert known.is_new(READ)
    assert known.is_new(OTHER)
    assert not known.is_new(READ)
    known.saw(case, status)
    assert known.is_new(READ) is is_new


def test_another_operation_with_the_same_parameters_is_new() -> None:
    known = KnownReads()
    assert known.is_new(READ)
    assert known.is_new(Case(operation({}, path="/b"), "1", query={"page": 1}))


def test_requests_of_a_job_that_goes_on_stay_new() -> None:
    known = KnownReads()
    known.saw(WRITE, 202)
    assert all(known.is_new(READ) for _ in range(3))


def test_an_operation_with_one_request_is_sent_at_times() -> None:
    known = KnownReads()
    assert 2 <= sum(known.is_new(READ) for _ in range(50)) <= 5


def test_a_broken_connection_may_have_changed_something() -> None:
    known = KnownReads()
    known.is_new(READ)
    known.saw(WRITE, 0)
    assert known.is_new(READ)
