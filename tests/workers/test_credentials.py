"""A worker without credentials waits for them; it sends again what was refused, and not for ever."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.core.case import Case
from checker.core.credentials import Credentials, CredentialSource
from checker.core.errors import CredentialError
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Response
from checker.corpus.records import Note
from checker.corpus.secrets import Secrets
from checker.phases.case_factory import FilteredOut
from checker.workers.authentication.keeper import MOST_IN_VAIN, CredentialKeeper, ReauthState
from checker.workers.messages import CredentialAction, CredentialMessage
from tests.generation.making import PlainOperation

CASE = Case(PlainOperation(), "c1")


class Numbered(CredentialSource):
    """Gives a new key each time."""

    name = "numbered"

    def __init__(self) -> None:
        self.fetched = 0

    def fetch(self, case: Case) -> Credentials:
        self.fetched += 1
        return Credentials({"X-Key": f"key-number-{self.fetched}"})

    def carried(self, held: Credentials, case: Case) -> Credentials | None:
        return held

    def is_refused(self, response: Response) -> bool:
        return response.status_code == 401


def keeper(source: Any) -> CredentialKeeper:
    """One that is its own supervisor."""
    return CredentialKeeper({source.name: source}, Secrets(), is_alone=True)


def answer(status: int) -> Response:
    lines = [b"HTTP/1.1 %d X\r\n" % status, b"\r\n"]
    request = WireRequest("GET", b"/", [])
    return Response.from_lines(status, lines, b"", elapsed=0.0, request=request, message="X", http_version="1.1")


def sent(made: CredentialKeeper) -> WireRequest:
    request = WireRequest("GET", b"/", [])
    made.apply(CASE, request)
    return request


def test_they_are_fetched_when_first_needed_and_then_kept() -> None:
    source = Numbered()
    made = keeper(source)
    requests = [sent(made), sent(made)]
    assert [one.header(b"x-key") for one in requests] == [b"key-number-1"] * 2
    assert (source.fetched, requests[0].proofs) == (1, (("numbered", 1),))


def test_every_value_is_masked_before_anything_carries_it() -> None:
    made = keeper(Numbered())
    sent(made)
    given = made.fetch(CredentialMessage(CredentialAction.FETCH, "numbered", 2))
    assert given.credentials.headers == {"X-Key": "key-number-2"}
    assert made.secrets.store.mask("say key-number-2") == "say {secret:header:X-Key}"


def test_what_was_refused_is_sent_again_with_newer_ones() -> None:
    made = keeper(Numbered())
    request = sent(made)
    assert not made.is_refused(CASE, request, answer(200))
    assert made.is_refused(CASE, request, answer(401))
    made.apply(CASE, request)
    assert (request.header(b"x-key"), request.proofs) == (b"key-number-2", (("numbered", 2),))


def test_who_carried_old_ones_takes_what_others_have_fetched() -> None:
    source = Numbered()
    made = keeper(source)
    first, second = sent(made), sent(made)
    assert made.is_refused(CASE, first, answer(401))
    assert made.is_refused(CASE, second, answer(401))
    assert source.fetched == 2


def test_an_operation_that_refuses_everything_does_not_have_them_fetched_for_ever() -> None:
    source = Numbered()
    made = keeper(source)
    notes: list[Note] = []
    made.recorder = cast("Any", SimpleNamespace(note=notes.append))
    hopes = [made.is_refused(CASE, sent(made), answer(401)) for _ in range(2 * MOST_IN_VAIN)]
    assert hopes == [True] * MOST_IN_VAIN + [False] * MOST_IN_VAIN
    assert source.fetched == 1 + MOST_IN_VAIN
    # The end of the renewals is said once.
    text = "numbered: 3 renewals in a row were refused; it is not renewed again in this run"
    assert [(one.kind, one.label, one.text) for one in notes] == [("refresh_stopped", "", text)]


def test_one_expiry_counts_once_for_all_requests_in_flight() -> None:
    source = Numbered()
    made = keeper(source)
    for expiry in range(1, MOST_IN_VAIN):
        in_flight = [sent(made) for _ in range(2 * MOST_IN_VAIN)]
        assert all(made.is_refused(CASE, request, answer(401)) for request in in_flight)
        assert source.fetched == 1 + expiry
    assert made.reauth.renewals == MOST_IN_VAIN - 1


def test_a_source_renews_by_what_it_holds_at_the_age_that_its_credentials_name() -> None:
    class Rotating(Numbered):
        def fetch(self, case: Case) -> Credentials:
            return self.renewed(Credentials(data=0), case)

        def renewed(self, held: Credentials, case: Case) -> Credentials:
            if held.data == 1 and not self.fetched:
                self.fetched = 1
                raise CredentialError("down")
            return Credentials({"X-Key": f"key-number-{held.data}"}, data=held.data + 1, refresh_s=10.0)

    now = [0.0]
    made = keeper(Rotating())
    made.clock = lambda: now[0]
    carried = []
    # At 10 s the login fails once, and the data of the last success are kept.
    for at in (0.0, 9.0, 10.0, 19.0, 20.0, 31.0):
        now[0] = at
        carried.append(sent(made).header(b"x-key"))
    assert carried == [b"key-number-0"] * 4 + [b"key-number-1", b"key-number-2"]


def test_old_ones_are_fetched_anew_and_serve_on_where_there_are_no_newer_ones() -> None:
    class Ageing(Numbered):
        refresh_s = 300.0

        def fetch(self, case: Case) -> Credentials:
            if self.fetched == 2:
                raise OSError("nobody is at home")
            return Numbered.fetch(self, case)

    now = [0.0]
    source = Ageing()
    made = keeper(source)
    made.clock = lambda: now[0]
    carried = []
    for at in (0.0, 299.0, 300.0, 599.0, 601.0, 700.0):
        now[0] = at
        carried.append(sent(made).header(b"x-key"))
    first, second = b"key-number-1", b"key-number-2"
    assert carried == [first, first, second, second, second, second]


def test_each_key_has_its_own_and_some_cases_none() -> None:
    class Keyed(Numbered):
        def key(self, case: Case) -> str | None:
            return None if case.id == "none" else case.id

    source = Keyed()
    made = keeper(source)
    carried = []
    for name in ("a", "b", "a", "none"):
        request = WireRequest("GET", b"/", [])
        made.apply(Case(PlainOperation(), name), request)
        carried.append(request.header(b"x-key"))
    assert carried == [b"key-number-1", b"key-number-2", b"key-number-1", None]


def test_an_answer_that_is_served_gives_new_hope() -> None:
    made = keeper(Numbered())
    for _ in range(2 * MOST_IN_VAIN):
        request = sent(made)
        assert made.is_refused(CASE, request, answer(401))
        made.apply(CASE, request)
        made.observe(CASE, request, answer(200))


def test_credentials_that_no_operation_ever_accepted_are_fetched_three_times_in_all() -> None:
    state, broken = ReauthState(), []
    assert [state.renew((f"GET /{number}", "token")) for number in range(5)] == [True] * 3 + [False] * 2
    broken.append(state.is_broken)
    state.accepted(("GET /9", "token"))
    broken.append(state.is_broken)
    assert broken == [True, False]
    assert state.renew(("GET /4", "token"))


def test_no_answer_says_nothing_of_them() -> None:
    made = keeper(Numbered())
    assert not made.is_refused(CASE, sent(made), NetworkFailure(FailureKind.TIMEOUT, "", 0.1))


def test_why_there_are_none_is_told() -> None:
    class Failing(Numbered):
        def fetch(self, case: Case) -> Credentials:
            raise OSError("nobody is at home")

    with pytest.raises(CredentialError, match=r"'numbered'.*OSError: nobody is at home"):
        sent(keeper(Failing()))


def test_who_has_no_time_to_wait_goes_on_without() -> None:
    request = sent(CredentialKeeper({"numbered": Numbered()}, Secrets()))
    assert (request.headers, request.proofs) == ([], ())


def test_a_request_is_left_out_if_the_run_ends_before_its_credentials_arrive() -> None:
    """Without them it would be refused, and the refusal would be reported."""

    class Ending:
        def send(self, message: CredentialMessage) -> None:
            return

        def wait_for_orders(self) -> bool:
            return True

    made = CredentialKeeper({"numbered": Numbered()}, Secrets(), Ending())
    with pytest.raises(FilteredOut, match="'numbered'"):
        sent(made)
    made.take(CredentialMessage(CredentialAction.FETCHED, "numbered", 1, credentials=Credentials({"X-Key": "key-1"})))
    with pytest.raises(FilteredOut, match="'numbered'"):
        made.is_refused(CASE, sent(made), answer(401))


def test_old_values_are_let_go_and_the_last_ones_stay_masked() -> None:
    made = keeper(Numbered())
    for number in range(1, 41):
        made.take(
            CredentialMessage(
                CredentialAction.FETCHED, "numbered", number, credentials=Credentials({"X-Key": f"key-number-{number}"})
            )
        )
    store = made.secrets.store
    assert store.mask("key-number-40") == "secret:header:X-Key"
    assert "secret" in store.mask("say key-number-30")
    assert store.mask("say key-number-2 ") == "say key-number-2 "
