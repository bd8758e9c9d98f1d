"""A request after which nobody is served: named, held back to the end, and what is refused meanwhile is no finding."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checker.core.hooks import GLOBAL_HOOKS
from checker.core.system import Interrupts
from checker.corpus.journal import JournalReader
from checker.corpus.records import ValueGone
from checker.workers import examination
from tests.apps.http import Reply, Request
from tests.health.running import Ran, run
from tests.health.services import (
    FURTHER,
    LOGIN,
    Busy,
    Expiring,
    Leaving,
    Limited,
    LockOut,
    Maintenance,
    Removing,
    Service,
)

STATIC = {"auth": {"openapi": {"Bearer": {"bearer": "t1"}}}}


def event_of(service: Service, label: str, status: int) -> int:
    """Place of the first request that did it."""
    return service.seen.index((label, status)) + 1


def share_served(service: Service, event: int) -> float:
    """Of the requests after the event, those that were not turned away."""
    counts = service.statuses_after(event)
    return 1 - counts[service.refusal] / counts.total()


def culprits(ran: Ran) -> set[str]:
    return {label for label, _ in ran.notes("turned_away")}


@pytest.mark.parametrize(
    ("service", "label", "said"),
    [
        (Leaving.by("GET", "/session/leave"), "GET /session/leave", LOGIN),
        (Leaving.by("DELETE", "/session", 204), "DELETE /session", LOGIN),
        (Leaving.by("POST", "/keys", 201), "POST /keys", LOGIN),
        (Leaving.by("GET", "/session/leave", 307), "GET /session/leave", LOGIN),
        (Maintenance.new(), "PUT /admin/mode", {}),
        (LockOut.new(), "POST /attempts", {"continue-on-failure": True}),
    ],
    ids=["logout by GET", "logout by DELETE", "token reset", "logout that redirects", "maintenance", "lock-out"],
)
@pytest.mark.thorough_beyond(1)
def test_what_ends_all_service_is_named_and_the_rest_is_tested(
    tmp_path: Path, service: Service, label: str, said: dict[str, Any]
) -> None:
    ran = run(tmp_path, service, said)
    print(service.seen and service.statuses_after(0), ran.findings, ran.notes("turned_away"))
    assert culprits(ran) == {label}
    assert ran.findings == []
    first = next(n for n, (what, status) in enumerate(service.seen) if what.startswith(label) and status < 400)
    assert share_served(service, first + 1) >= 0.8


def test_a_token_that_is_refused_with_403_is_renewed_to_find_the_cause(tmp_path: Path) -> None:
    service = Leaving.by("PATCH", "/keys", refusal=403)
    ran = run(tmp_path, service, LOGIN)
    assert culprits(ran) == {"PATCH /keys"}
    assert "probably" not in ran.notes("turned_away")[0][1]
    assert ran.findings == []


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("method", "status"), [("PATCH", 200), ("POST", 303)])
def test_the_only_request_that_was_served_between_access_and_refusals_is_the_suspect(
    tmp_path: Path, workers: int, method: str, status: int
) -> None:
    # The token is lost for good, so that no request can be sent to confirm it. DELETE /things/{id} is served shortly before.
    service = Leaving.by(method, "/settings/access", status)
    ran = run(tmp_path, service, STATIC, workers=workers, phases=("fuzzing",))
    assert culprits(ran) <= {f"{method} /settings/access", "Target"}
    (note,) = ran.notes("turned_away")
    assert "/settings/access" in note[1]
    assert ran.findings == []


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.thorough_beyond(1)
def test_an_operation_after_which_a_request_was_served_is_no_suspect(tmp_path: Path, is_first: bool) -> None:
    service = Leaving.by("GET", "/leave", 302)
    service.paths = service.paths | FURTHER if is_first else FURTHER | service.paths
    ran = run(tmp_path, service, STATIC)
    ((label, text),) = ran.notes("turned_away")
    assert "`GET /leave`" in text or label == "GET /leave"
    # The look after the operation before it may still be on its way; neither order is proved then.
    suspects = [label] if "the only suspect" in text else text.partition("suspects: ")[2].partition(";")[0].split(", ")
    assert 1 <= len(suspects) <= 2, text


def test_at_most_one_request_looks_after_each_operation_for_any_number_of_workers(tmp_path: Path) -> None:
    probes: list[str] = []

    def before_call(context: object, case: Any, kwargs: object) -> None:
        if case.id == "access-probe":
            probes.append(case.operation.label)

    GLOBAL_HOOKS.register(before_call)
    try:
        seen = []
        for workers in (1, 3):
            probes.clear()
            service = Leaving(FURTHER, 401)
            ran = run(tmp_path / str(workers), service, STATIC, workers=workers)
            assert ran.notes("turned_away") == []
            # Not after itself, nor after the removal of what the run has made.
            assert probes == ["GET /groups"] * (len(ran.view.statuses) - 2)
            seen.append(Counter(service.seen))
    finally:
        GLOBAL_HOOKS.unregister(before_call)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_target_that_counts_requests_is_told_once_and_nobody_is_blamed(tmp_path: Path, workers: int) -> None:
    service = Limited.new()
    ran = run(tmp_path, service, workers=workers)
    assert culprits(ran) == set()
    assert [label for label, _ in ran.notes("rate_limited")] == ["Target"]
    assert len(service.seen) < 2 * ran.view.counts.cases


@pytest.mark.parametrize("workers", [1, 2])
def test_a_target_that_is_busy_for_a_moment_has_no_cause_to_look_for(tmp_path: Path, workers: int) -> None:
    service = Limited({}, 503, served=12)
    ran = run(tmp_path, service, workers=workers)
    assert ran.notes("turned_away") == []
    assert len(service.seen) < 2 * ran.view.counts.cases


def test_an_operation_that_only_its_own_requests_could_have_locked_out_is_not_guilty(tmp_path: Path) -> None:
    ran = run(tmp_path, Limited.new(is_alone=True))
    assert culprits(ran) == set()
    assert [label for label, _ in ran.notes("rate_limited")] == ["Target"]


@pytest.mark.parametrize(
    ("quota", "said"), [(20, "locked the caller out"), (25, ""), (30, ""), (36, ""), (40, "when there are too many")]
)
@pytest.mark.thorough_beyond(1)
def test_a_quota_that_is_used_up_blames_no_operation(tmp_path: Path, quota: int, said: str) -> None:
    ran = run(tmp_path, Limited.new(quota=quota))
    assert culprits(ran) == set()
    ((label, text),) = ran.notes("rate_limited")
    assert label == "Target"
    # What is refused for long may be a lock-out as well.
    assert said in text


def test_requests_that_look_whether_anybody_is_served_are_counted(tmp_path: Path) -> None:
    service = Maintenance.new()
    ran = run(tmp_path, service)
    assert ran.notes("turned_away")
    assert ran.view.counts.requests == len(service.seen)


@pytest.mark.thorough
def test_a_token_that_nobody_can_renew_is_no_finding_though_the_first_look_ended_it(tmp_path: Path) -> None:
    service = Leaving.by("GET", "/session/leave")
    ran = run(tmp_path, service, STATIC)
    assert service.seen[0] == ("GET /session/leave", 200)
    assert ran.findings == []
    assert culprits(ran) == {"GET /session/leave"}


def test_a_token_that_expires_is_renewed_and_nothing_is_told(tmp_path: Path) -> None:
    service = Expiring.new()
    ran = run(tmp_path, service, LOGIN)
    assert service.logins == 2
    assert ran.notes("turned_away") == []


def test_fuzz_does_not_send_what_may_end_access_that_cannot_be_renewed(tmp_path: Path) -> None:
    service, interrupts = Leaving.by("POST", "/session/logout"), Interrupts()
    answer = service.own

    def own(method: str, path: str, request: Request) -> Reply | None:
        interrupts.count = int(len(service.seen) >= 100)
        return answer(method, path, request)

    service.own = own  # type: ignore[method-assign]
    ran = run(tmp_path, service, STATIC, kind="fuzz", interrupts=interrupts)
    assert not any(what.endswith("/session/logout") for what, _ in service.seen)
    assert [label for label, _ in ran.notes("held_back")] == ["POST /session/logout"]
    assert service.statuses_after(0)[401] == 0


def test_a_hook_that_refuses_a_case_which_is_sent_again_costs_that_case(tmp_path: Path) -> None:
    known: set[str] = set()

    def before_call(context: object, case: Any, kwargs: object) -> None:
        if case.id in known:
            raise ValueError("not twice")
        known.add(case.id)

    GLOBAL_HOOKS.register(before_call)
    try:
        ran = run(tmp_path, Leaving.by("GET", "/session/leave", 307), LOGIN, phases=("coverage", "fuzzing"))
    finally:
        GLOBAL_HOOKS.unregister(before_call)
    assert ran.notes("turned_away")
    assert any("not twice" in one.message for one in ran.view.errors.values())
    assert (ran.outcome.outcome, ran.outcome.error) == ("completed", None)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("begins", [0, 330])
def test_a_resource_of_the_run_that_blocks_changes_is_removed_and_named(
    tmp_path: Path, begins: int, workers: int
) -> None:
    service = Busy.new(begins=begins)
    ran = run(tmp_path, service, workers=workers)
    ((label, text),) = ran.notes("turned_away")
    assert label == "POST /watchers"
    assert text.startswith("after `POST /watchers`")
    assert "refused with 503, until the created resource is removed" in text
    assert ("change something" in text) == bool(begins)
    journals = (tmp_path / "corpus").rglob("*.journal")
    gone = [one for path in journals for one in JournalReader(path, kinds=(ValueGone,)).read_new()]
    blocking = next(
        what for what, status in service.seen[begins:] if what.startswith("DELETE /watchers/") and status == 204
    )
    assert any(isinstance(one, ValueGone) and blocking == f"DELETE /watchers/{one.value}" for one in gone)
    # The operation that blocks them is sent again at the end.
    sent = [number for number, (what, status) in enumerate(service.seen) if (what, status) == ("POST /watchers", 201)]
    served = [status for _, status in service.seen[begins : sent[-1]]]
    assert served.count(503) < len(served) / 4


def test_changes_that_were_always_refused_blame_no_operation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing waits for the target to serve them: that would have no end.
    monkeypatch.setattr(examination, "BUSY_PATIENCE_S", 1e6)
    ran = run(tmp_path, Busy.new(blocks=False))
    assert culprits(ran) == set()


@pytest.mark.parametrize("workers", [1, 2])
def test_the_removal_of_the_own_account_is_named_though_it_responds_with_an_error(tmp_path: Path, workers: int) -> None:
    ran = run(tmp_path, Removing.new(), STATIC, workers=workers)
    ((_, text),) = ran.notes("turned_away")
    assert "`DELETE /accounts/1`" in text
    assert ran.findings == [("DELETE /accounts/{id}", "Server error")]
    (error,) = (one for one in ran.view.errors.values() if one.title == "Access lost")
    assert "lost by `DELETE /accounts/{id}`" in error.message


def test_a_run_that_removed_its_account_signs_in_again(tmp_path: Path) -> None:
    service = Removing.new()
    run(tmp_path, service, LOGIN)
    assert service.statuses_after(event_of(service, "DELETE /accounts/1", 500))[401] < 20
