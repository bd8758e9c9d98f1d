"""One worker fetches for all; whoever dies with that order is replaced; logins that fail are not tried for ever."""

from dataclasses import replace

from checker.supervisor.credentials import MOST_FAILURES, CredentialExchange
from checker.workers.messages import FetchCredentials, GivenCredentials, WantedCredentials

FIRST = GivenCredentials("login", 1, (("Authorization", "a"),))
WANTED = WantedCredentials("login", 0)
ORDER = FetchCredentials("login", 1)


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
    assert exchange.want(2, WantedCredentials("login", 1)) == [(2, FetchCredentials("login", 2))]


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
    assert exchange.want(2, WantedCredentials("key", 0)) == [(2, FetchCredentials("key", 1))]


def test_after_some_failures_in_a_row_nobody_fetches_any_more() -> None:
    exchange = CredentialExchange()
    for number in range(MOST_FAILURES):
        assert exchange.want(1, WantedCredentials("login", number)) == [
            (1, FetchCredentials("login", number + 1))
        ]
        exchange.receive(1, GivenCredentials("login", number + 1, error="no"), (1,))
    (told,) = exchange.want(2, WantedCredentials("login", MOST_FAILURES))
    assert told == (2, GivenCredentials("login", MOST_FAILURES + 1, error="no"))


def test_a_success_lets_failures_be_forgotten() -> None:
    exchange = CredentialExchange()
    for number in range(2 * MOST_FAILURES):
        exchange.want(1, WantedCredentials("login", number))
        error = "no" if number % MOST_FAILURES else ""
        exchange.receive(1, replace(FIRST, number=number + 1, error=error), (1,))
    assert exchange.want(1, WantedCredentials("login", 2 * MOST_FAILURES)) != []
