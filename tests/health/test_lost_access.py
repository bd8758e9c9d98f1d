"""A run that loses its access for good, or whose target dies at its end, fails with one sentence."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.security import UNAUTHORIZED
from checker.corpus.fold import fold
from checker.corpus.records import OperationError, OperationsSelected, TaskProgress
from checker.supervisor.endings import lost_service
from checker.workers.messages import OperationCard
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command
from tests.health.running import Ran, run
from tests.health.services import LOGIN, Leaving, Service
from tests.reporting.samples import started

STATIC = {"auth": {"openapi": {"Bearer": {"bearer": "t1"}}}}
FORMATS = ("json", "junit", "markdown", "html", "allure", "ndjson")


def run_errors(ran: Ran) -> list[OperationError]:
    return [one for one in ran.view.errors.values() if one.label == "Target"]


def test_a_run_that_loses_its_access_fails(tmp_path: Path) -> None:
    ran = run(tmp_path, Leaving.by("POST", "/keys", 201), STATIC)
    assert ran.outcome.exit_code == 1
    (error,) = run_errors(ran)
    assert error.title == "Access lost"
    assert "operations returned nothing but 401." in error.message


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.thorough
def test_the_sentence_is_on_the_console_and_in_every_report(tmp_path: Path, workers: int) -> None:
    # A change comes after creations and lists, which are served by then.
    service = Leaving.by("PATCH", "/keys", 200)
    command = Command(tmp_path)
    token = ("-H", "Authorization: Bearer t1")
    with serving(service, service.document) as app:
        ran = command.run_any(
            *("run", app.document_url, *token, "--workers", str(workers)),
            *("--seed", "1", "-n", "6", "--report", ",".join(FORMATS)),
        )
    assert ran.code == 1, ran.shown
    assert "No issues found" not in ran.stdout
    assert "Access was lost" in ran.stdout
    for name in FORMATS:
        (path,) = (tmp_path / "checker-report").glob(f"{name}-*")
        files = [path] if path.is_file() else sorted(one for one in path.iterdir() if one.is_file())
        assert any("Access was lost" in one.read_text("utf-8") for one in files), name


def test_access_that_can_be_renewed_is_not_lost(tmp_path: Path) -> None:
    ran = run(tmp_path, Leaving.by("POST", "/keys", 201), LOGIN)
    assert run_errors(ran) == []


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "path"), [("GET", "/session/logout"), ("POST", "/settings/access")])
def test_access_that_ends_with_what_is_sent_last_is_not_lost(tmp_path: Path, method: str, path: str) -> None:
    ran = run(tmp_path, Leaving.by(method, path), STATIC)
    assert run_errors(ran) == []


def test_access_that_the_first_look_ended_is_lost(tmp_path: Path) -> None:
    ran = run(tmp_path, Leaving.by("GET", "/session/leave"), STATIC)
    (error,) = run_errors(ran)
    assert error.message.endswith(" operations.")


class Picky(Service):
    """Refuses most orders with 403, for a reason of its own."""

    count = 0

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if path != "/orders" or method != "GET":
            return None
        self.count += 1
        return json_reply({}, 200 if self.count < 3 else 403)


@pytest.mark.thorough
def test_an_operation_that_refuses_for_a_reason_of_its_own_is_no_lost_access(tmp_path: Path) -> None:
    ran = run(tmp_path, Picky({}, 403))
    assert ran.view.statuses["GET /orders"].keys() & UNAUTHORIZED
    assert run_errors(ran) == []


def test_a_run_that_was_never_served_has_lost_no_access(tmp_path: Path) -> None:
    service = Service({}, 401, is_ended=True)
    assert run_errors(run(tmp_path, service)) == []


# The rule alone

LABELS = ("GET /a", "GET /b", "GET /open", "GET /never")


def counted(
    at: float, *statuses: tuple[str, int, int], is_turned_away: bool = False, requests: int = 10
) -> TaskProgress:
    return TaskProgress(
        "t", "fuzzing", LABELS, 1, True, 1, requests, 0, statuses, (0.0,) * 5, at=at,
        turned_away=statuses if is_turned_away else (),
    )  # fmt: skip


SERVED = counted(101.0, ("GET /a", 200, 5), ("GET /b", 200, 1), ("GET /open", 200, 1))
REFUSED = counted(103.0, ("GET /a", 401, 9), ("GET /b", 403, 8), ("GET /open", 200, 3), is_turned_away=True)


def sentences(*records: Any, cards: Any = (), gone_at: float | None = None) -> list[str]:
    began = replace(started(), at=100.0)
    view = fold((1, one) for one in (began, OperationsSelected(LABELS), *records))
    return [one.message for one in lost_service(view, cards, gone_at)]


def test_the_sentence_says_what_was_lost_when_and_what_stayed_untested() -> None:
    assert sentences(SERVED, REFUSED) == [
        "Access was lost 3 s after the start of the run, after 10 of 20 requests: until the end 2 of 3 operations "
        "returned nothing but 401, 403. Never served: 1 of 4 operations."
    ]


def test_refusals_of_what_comes_last_lose_nothing() -> None:
    cards = tuple(OperationCard(label, "GET", is_ending=label != "GET /open") for label in LABELS)
    assert sentences(SERVED, REFUSED, cards=cards) == []


def test_access_that_came_back_is_not_lost() -> None:
    assert sentences(SERVED, REFUSED, counted(104.0, ("GET /a", 200, 1))) == []


def test_a_target_that_still_serves_most_operations_is_not_lost() -> None:
    mixed = (("GET /a", 403, 9), ("GET /b", 200, 8), ("GET /open", 200, 3))
    assert sentences(SERVED, counted(103.0, *mixed, is_turned_away=True)) == []


def test_a_target_that_counts_requests_is_not_lost() -> None:
    limited = (("GET /a", 429, 9), ("GET /b", 429, 8))
    assert sentences(SERVED, counted(103.0, *limited, is_turned_away=True)) == []


def test_the_order_in_which_workers_are_read_does_not_matter() -> None:
    assert sentences(REFUSED, SERVED) == sentences(SERVED, REFUSED)


def test_a_target_that_is_gone_when_the_run_ends_is_told() -> None:
    assert sentences(SERVED, gone_at=112.0) == [
        "The API stopped answering 12 s after the start of the run, and did not answer again before its end. "
        "Never served: 1 of 4 operations."
    ]
