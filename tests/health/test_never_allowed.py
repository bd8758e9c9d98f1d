"""An operation that answers 405 alone is not what its description says: it is told, and gets no further phases."""

from pathlib import Path
from typing import Any

import pytest

from checker.corpus.fold import RunView
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply
from tests.health.running import Ran, run
from tests.health.services import Service, operation

PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "minLength": 2, "maxLength": 9}}
    for name in ("a", "b", "c")
]


PHASES = {
    "phases": {"examples": {"enabled": False}, "stateful": {"enabled": False}},
    # One failure would end the lists before anybody can be sure.
    "continue-on-failure": True,
}


class Moved(Service):
    """Its `/moved` is not there any more, or hardly ever."""

    served_once: bool = False
    is_back: bool = False

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if path != "/moved":
            return None
        if self.is_back:
            return json_reply({})
        if self.served_once and not any(status == 200 for at, status in self.seen if "moved" in at):
            return json_reply({})
        return Reply(405, "application/json", b"{}", (("Allow", "DELETE"),))


def tried(ran: Ran) -> dict[str, int]:
    """Phase -> cases of the operation that moved."""
    tasks = ran.view.tasks.values()
    return {one.phase: one.cases for one in tasks if one.labels == ("GET /moved",) and one.cases}


def moved(tmp_path: Path, *statuses: int, served_once: bool = False, **said: Any) -> Ran:
    service = Moved({"/moved": {"get": operation(*statuses, parameters=PARAMETERS)}}, 503)
    service.served_once = served_once
    return run(tmp_path, service, PHASES | said)


def test_later_phases_leave_it_out_and_a_warning_says_so(tmp_path: Path) -> None:
    ran = moved(tmp_path, 200)
    assert list(tried(ran)) == ["coverage"]
    assert {"GET /users", "GET /things"} <= ran.view.phases["fuzzing"].tested
    assert ran.view.is_never_allowed("GET /moved")


@pytest.mark.parametrize(
    ("statuses", "served_once"), [((200, 405), False), ((200,), True)], ids=["documented", "served"]
)
def test_what_is_documented_or_was_served_once_is_tested_on(
    tmp_path: Path, statuses: tuple[int, ...], served_once: bool
) -> None:
    ran = moved(tmp_path, *statuses, served_once=served_once)
    assert tried(ran)["fuzzing"] > 0
    assert not ran.view.is_never_allowed("GET /moved")


def test_nothing_is_known_of_what_was_not_tried() -> None:
    assert not RunView().is_never_allowed("GET /moved")


@pytest.mark.parametrize("is_cached", [True, False], ids=["kept", "not kept"])
@pytest.mark.thorough
def test_the_next_run_asks_once_and_believes_it_if_it_is_so_again(tmp_path: Path, is_cached: bool) -> None:
    cache = tmp_path / "cache"
    where = str(cache) if is_cached else None
    service = Moved({"/moved": {"get": operation(200, parameters=PARAMETERS)}}, 503)

    def ran() -> tuple[Ran, int]:
        found = run(tmp_path, service, PHASES, cache=where)
        count = sum(at == "GET /moved" for at, _ in service.seen)
        service.seen.clear()
        return found, count

    ran()
    second, asked = ran()
    if not is_cached:
        assert (asked > 10, cache.exists()) == (True, False)
        return
    assert (asked, tried(second)) == (1, {})
    assert [label for label, _ in second.notes("method_not_allowed")] == ["GET /moved"]
    assert "GET /users" in second.view.statuses
    # The next one finds that it is served by now.
    service.is_back = True
    third, asked = ran()
    assert asked > 10
    assert not third.view.is_never_allowed("GET /moved")
    (cache / "discoveries.json").write_text("{")
    assert ran()[0].outcome.exit_code == third.outcome.exit_code
