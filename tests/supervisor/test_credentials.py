"""One worker fetches for all; whoever dies with that order is replaced; logins that fail are not tried for ever."""

from msgspec.structs import replace

from checker.core.credentials import Credentials
from checker.supervisor.credentials import COOLING_S, MOST_FAILURES, CredentialExchange
from checker.workers.messages import CredentialAction, CredentialMessage

FIRST = CredentialMessage(CredentialAction.FETCHED, "login", 1, credentials=Credentials({"Authorization": "a"}))
WANTED = CredentialMessage(CredentialAction.WANTED, "login", 0)
ORDER = CredentialMessage(CredentialAction.FETCH, "login", 1)


def test_only_the_first_that_asks_fetches_and_all_are_told() -> None:
    exchange = CredentialExchange()
    assert exchange.want(1, WANTED) == [(1, ORDER)]
    assert exchange.want(2, WANTED) == []
    assert exchange.receive(1, FIRST, (1, 2, 3)) == [(1, FIRST), (2, FIRST), (3, FIRST)]


def test_whoever_is_behind_is_given_what_there_is() -> None:
    exchange = CredentialExchange()
    exchange.want(1, WANTED)
    exchange.receive(1, FIRST, (1,))
    assert exchange.want(2, WANTED) == [(2, FIRST)]
    assert exchange.join(3) == [(3, FIRST)]
    assert exchange.want(2, CredentialMessage(CredentialAction.WANTED, "login", 1)) == [
        (2, CredentialMessage(CredentialAction.FETCH, "login", 2))
    ]


def test_who_dies_while_fetching_is_replaced_by_the_next_that_waits() -> None:
    exchange = CredentialExchange()
    exchange.want(1, WANTED)
    exchange.want(2, WANTED)
    exchange.want(3, WANTED)
    assert exchange.lose(3) == []
    assert exchange.lose(1) == [(2, ORDER)]
    # What the dead one had sent before is not taken for an answer.
    assert exchange.receive(1, FIRST, (2,)) == []
    assert exchange.receive(2, FIRST, (2,)) == [(2, FIRST)]


def test_nobody_fetches_when_the_last_that_waited_is_gone() -> None:
    exchange = CredentialExchange()
    exchange.want(1, WANTED)
    assert exchange.lose(1) == []
    assert exchange.want(2, WANTED) == [(2, ORDER)]


def test_sources_do_not_wait_for_each_other() -> None:
    exchange = CredentialExchange()
    exchange.want(1, WANTED)
    assert exchange.want(2, CredentialMessage(CredentialAction.WANTED, "key", 0)) == [
        (2, CredentialMessage(CredentialAction.FETCH, "key", 1))
    ]


FAILED = CredentialMessage(CredentialAction.FETCHED, "login", 1, error="no")


def wanted(number: int) -> CredentialMessage:
    return CredentialMessage(CredentialAction.WANTED, "login", number)


def test_a_login_that_fails_now_and_then_is_repeated_before_a_worker_learns_of_it() -> None:
    exchange = CredentialExchange()
    exchange.want(1, WANTED)
    for _ in range(MOST_FAILURES - 1):
        assert exchange.receive(1, FAILED, (1, 2)) == [(1, ORDER)]
    assert exchange.receive(1, FIRST, (1, 2)) == [(1, FIRST), (2, FIRST)]


def fail(exchange: CredentialExchange, number: int, times: int = MOST_FAILURES) -> None:
    exchange.want(1, wanted(number))
    told = []
    for _ in range(times):
        told = exchange.receive(1, replace(FAILED, number=number + 1), (1,))
    assert told == [(1, replace(FAILED, number=number + 1))]


def test_after_some_failures_in_a_row_nobody_fetches_any_more() -> None:
    exchange = CredentialExchange()
    fail(exchange, 0)
    assert exchange.want(2, wanted(1)) == [(2, replace(FAILED, number=2))]


def test_a_success_lets_failures_be_forgotten() -> None:
    exchange = CredentialExchange()
    for number in range(2 * MOST_FAILURES):
        exchange.want(1, wanted(number))
        exchange.receive(1, replace(FAILED, number=number + 1), (1,))
        exchange.receive(1, replace(FIRST, number=number + 1), (1,))
    assert exchange.want(1, wanted(2 * MOST_FAILURES)) == [
        (1, CredentialMessage(CredentialAction.FETCH, "login", 2 * MOST_FAILURES + 1))
    ]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_login_that_was_down_is_tried_once_more_after_a_while() -> None:
    clock = Clock()
    exchange = CredentialExchange(clock)
    fail(exchange, 0)
    clock.now = COOLING_S - 1
    (told,) = exchange.want(1, wanted(1))
    assert told[1].action is CredentialAction.FETCHED
    clock.now = COOLING_S
    # One more failure is enough for another while.
    fail(exchange, 2, times=1)
    (told,) = exchange.want(1, wanted(3))
    assert told[1].action is CredentialAction.FETCHED


def test_what_was_good_once_and_cannot_be_renewed_is_left_alone_for_good() -> None:
    clock = Clock()
    exchange = CredentialExchange(clock)
    exchange.want(1, WANTED)
    exchange.receive(1, FIRST, (1,))
    fail(exchange, 1)
    clock.now = 1000 * COOLING_S
    (told,) = exchange.want(1, wanted(2))
    assert told[1].action is CredentialAction.FETCHED
