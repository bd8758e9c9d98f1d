"""The operations that may have ended the service of a target, by when the workers were served."""

from checker.core.operation import Label
from checker.supervisor.outages import Outages, suspects_of
from checker.workers.messages import OutageAction, OutageEvent, OutageReport, ServedOperation, Trouble


def served(label: str, first: float, last: float, sent: float, *, asks: bool = True) -> ServedOperation:
    return ServedOperation(Label(label), label, first, last, sent, asks)


def names(*operations: ServedOperation) -> list[str]:
    return [one.label for one in suspects_of(operations)]


def test_an_operation_after_which_others_were_served_is_cleared() -> None:
    settings = served("POST /settings", 10.2, 10.2, 10.1)
    assert names(served("DELETE /users/{id}", 5.0, 9.0, 8.9), settings, served("GET /users", 1.0, 8.0, 7.9)) == [
        "POST /settings"
    ]


def test_a_redirect_is_a_suspect_and_clears_nothing() -> None:
    assert names(served("GET /users", 1.0, 10.0, 9.9), served("GET /leave", 10.2, 10.2, 0.0)) == ["GET /leave"]


def test_requests_that_were_under_way_together_leave_several_suspects() -> None:
    assert names(served("POST /a", 10.0, 10.0, 9.0), served("POST /b", 10.1, 10.1, 9.1)) == ["POST /b", "POST /a"]


def test_the_latest_response_of_all_workers_decides_which_suspect_is_first() -> None:
    twice = served("POST /a", 10.0, 10.0, 9.0), served("POST /a", 10.2, 10.2, 9.2)
    assert names(twice[0], served("POST /b", 10.1, 10.1, 9.1), twice[1]) == ["POST /a", "POST /b"]


def test_an_operation_with_cleared_responses_is_a_suspect_if_there_is_no_other() -> None:
    assert names(served("POST /a", 2.0, 10.0, 9.0), served("GET /b", 3.0, 8.0, 7.0)) == ["POST /a"]


def test_an_operation_that_needs_no_credentials_clears_nothing() -> None:
    public = served("GET /health", 1.0, 12.0, 11.9, asks=False)
    assert names(public, served("POST /leave", 10.0, 10.0, 9.9), served("GET /users", 1.0, 9.0, 8.0)) == ["POST /leave"]


def test_nothing_served_leaves_no_suspect() -> None:
    assert names() == []


def test_the_worker_that_examines_knows_what_all_workers_sent() -> None:
    outages = Outages()
    outages.hear(1, OutageReport(OutageEvent.NOTICED, trouble=Trouble.REFUSED, at=11.0), [1, 2])
    mine = (served("GET /users", 1.0, 9.0, 8.9),)
    assert outages.hear(1, OutageReport(OutageEvent.HOLDING, 1, served=mine), [1, 2]) == []
    other = (served("POST /settings", 10.0, 10.0, 9.9),)
    ((worker, order),) = outages.hear(2, OutageReport(OutageEvent.HOLDING, 1, served=other), [1, 2])
    assert (worker, order.action, order.suspects) == (1, OutageAction.EXAMINE, other)
