"""The caller of an operation when several users are configured."""

from checker.workers.authentication.logins import Identities


def callers(identities: Identities, *statuses: int) -> list[str]:
    """Return the users that send one request with these responses, and the user of the next request."""
    users = []
    for status in statuses:
        users.append(identities.current("POST /confirm"))
        assert identities.is_another_tried("POST /confirm", users[-1], status) is (len(users) < len(statuses))
    return [*users, identities.current("POST /confirm")]


def test_a_user_who_is_accepted_calls_from_then_on() -> None:
    assert callers(Identities(["anna", "root"]), 403, 401, 200) == ["anna", "", "root", "root"]


def test_a_404_to_another_user_leaves_the_next_request_to_the_first() -> None:
    identities = Identities(["anna", "root"])
    assert callers(identities, 403, 401, 404) == ["anna", "", "root", "anna"]
    assert callers(identities, 200) == ["anna", "anna"]


def test_further_users_are_not_asked_for_ever() -> None:
    identities = Identities(["anna", "root"])
    for _ in range(8):
        callers(identities, 403, 401, 404)
    assert callers(identities, 403) == ["anna", "anna"]


def test_a_peer_is_not_asked_after_a_refusal_of_another_peer() -> None:
    identities = Identities(["anna", "bert", "root"], ["anna", "bert"])
    assert callers(identities, 403, 401, 403, 403) == ["anna", "", "root", "anna", "anna"]
