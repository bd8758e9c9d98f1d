"""A target that dies and comes back: one finding for each death, and everything else as if nothing had happened."""

import json
import re
import socket
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.core.blocks import DEFAULT_TRUNCATION
from checker.core.request import BaseUrl
from checker.core.system import Interrupts
from checker.corpus.records import UNREACHED
from checker.reporting.findings import failures_by_cause
from checker.supervisor.supervisor import RunEnvironment, execute
from checker.workers import examination, reachable
from checker.workers.jobs import Pause
from tests.apps.http import Reply, Request
from tests.apps.serving import App, serving
from tests.asking import changed
from tests.health.killed import KilledTarget, answer, killed_target
from tests.health.mortal import Mortal, mortal
from tests.health.running import Ran
from tests.health.services import THING, operation

NUMBER = {"name": "n", "in": "query", "schema": {"type": "integer"}}
PATHS = {
    "/a": {"get": operation(200, parameters=[NUMBER])},
    "/b": {"get": operation(200, parameters=[NUMBER])},
    "/c": {"post": operation(200, 400, body=THING)},
    "/d": {"get": operation(200, parameters=[NUMBER])},
}
TITLE = "The API stopped answering"


@pytest.fixture
def knocked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list: what is put in is told of each connection that was tried in vain."""
    targets: list[Any] = []
    connected = reachable._connected

    def knocking(origin: BaseUrl, timeout_s: float) -> socket.socket:
        try:
            return connected(origin, timeout_s)
        except OSError:
            for target in targets:
                target.knock()
            raise

    monkeypatch.setattr(reachable, "_connected", knocking)
    return targets


@pytest.fixture
def patient(knocked: list[Any], monkeypatch: pytest.MonkeyPatch) -> list[Mortal | KilledTarget]:
    """Targets that are told of each connection that was tried in vain; no pause takes any time."""
    for module in (examination, reachable):
        monkeypatch.setattr(module, "Pause", lambda seconds: Pause(0.0))
    return knocked


def run(folder: Path, target: Mortal | KilledTarget | App, around: RunEnvironment | None = None, **fields: Any) -> Ran:
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": PATHS}
    (folder / "api.json").write_text(json.dumps(document))
    said = {
        "seed": 1,
        "base-url": target.url,
        "generation": {"database": "none", "max-examples": 20, "mode": "positive"},
    }
    config = Config.from_dict(said, environment={})
    asked = run_settings(config, Invocation(str(folder / "api.json"), inline=True), {})
    asked = changed(asked, folder=str(folder / "corpus"), phases=("coverage", "fuzzing"), **fields)
    return Ran(execute(asked, lambda *_: None, around or RunEnvironment()))


@pytest.mark.thorough
def test_a_target_that_is_gone_when_the_run_ends_is_an_error_of_the_run(tmp_path: Path, knocked: list[Any]) -> None:
    interrupts, knocks = Interrupts(), count(1)

    class Impatient:
        """Ends the run while it waits for the target."""

        def knock(self) -> None:
            # The first three tell that the target is gone.
            interrupts.count = int(next(knocks) > 3)

    def mortal_answer(request: Request) -> Reply | None:
        return None if len(target.seen) > 5 else answer(request)

    knocked.append(Impatient())
    with mortal(mortal_answer) as target:
        ran = run(tmp_path, target, RunEnvironment(interrupts=interrupts))
    assert ran.findings == []
    (error,) = ran.view.errors.values()
    assert (error.label, error.title) == ("Target", UNREACHED)
    assert "did not answer again before its end" in error.message


def test_kills_from_outside_change_nothing_but_are_told(tmp_path: Path, patient: list[Mortal | KilledTarget]) -> None:
    (tmp_path / "calm").mkdir()
    with mortal(answer) as undisturbed:
        calm = run(tmp_path / "calm", undisturbed)
    with killed_target(20, 30, 30) as target:
        patient.append(target)
        ran = run(tmp_path, target)
        assert target.deaths == 3
    deaths = [one for one in ran.view.findings.values() if one.title == TITLE]
    assert [one.label for one in deaths] == ["Target"] * 3
    assert len({one.fingerprint for one in deaths}) == 3
    assert len({one.cause for one in deaths}) == 1
    others = [one for one in ran.findings if one[1] != TITLE]
    assert others == calm.findings != []
    assert not ran.view.errors
    assert ran.view.counts.cases == calm.view.counts.cases
    assert ran.view.statuses == calm.view.statuses
    console = "\n".join(text for _, text in failures_by_cause(deaths, DEFAULT_TRUNCATION))
    assert console.startswith("1. Whole run (intermittent)\n\n- The API stopped answering\n")
    assert len(re.findall("No connection could be opened any more at ..:..:.. UTC", console)) == 3


def test_the_request_that_kills_is_named_and_held_back(tmp_path: Path, patient: list[Mortal | KilledTarget]) -> None:
    def dying(request: Request) -> Reply | None:
        return None if request.method == "POST" else answer(request)

    with mortal(dying) as target:
        patient.append(target)
        ran = run(tmp_path, target)
    deaths = [one for one in ran.view.findings.values() if one.title == TITLE]
    assert [one.label for one in deaths] == ["POST /c"]
    (death,) = deaths
    assert death.investigation.reproduction.startswith("curl -X POST")
    assert death.investigation.reproduced
    assert "reproduced it when it was sent again on its own" in death.message
    # It was left to the end for the first one, and is sent there.
    count = re.search("caused ([0-9]+) outages, at ..:..:.. UTC, ..:..:.. UTC", death.message)
    assert count is not None
    # Each time once more, alone.
    assert 2 * int(count[1]) == target.deaths
    assert {error.label for error in ran.view.errors.values()} <= {"POST /c"}
    assert all(ran.view.statuses[f"GET /{name}"][200] >= 20 for name in "abd")


def test_each_culprit_has_a_finding_of_its_own(tmp_path: Path, patient: list[Mortal | KilledTarget]) -> None:
    def dying(request: Request) -> Reply | None:
        is_fatal = request.method == "POST" or request.target.startswith(b"/d")
        return None if is_fatal else answer(request)

    with mortal(dying) as target:
        patient.append(target)
        ran = run(tmp_path, target)
    deaths = [one for one in ran.view.findings.values() if one.title == TITLE]
    assert sorted(one.label for one in deaths) == ["GET /d", "POST /c"]
    assert len({one.cause for one in deaths}) == 2
    counts = [re.search("caused ([0-9]+) outages", one.message) for one in deaths]
    # Each time once more, alone.
    assert 2 * sum(int(count[1]) if count else 1 for count in counts) == target.deaths


def test_a_target_that_does_not_come_back_ends_the_run(tmp_path: Path, patient: list[Mortal | KilledTarget]) -> None:
    def dying(request: Request) -> Reply | None:
        return None if len(target.seen) == 20 else answer(request)

    with mortal(dying) as target:
        ran = run(tmp_path, target)
    assert ran.outcome.exit_code == 1
    assert ran.outcome.outcome == "target unavailable"
    (death,) = (one for one in ran.view.findings.values() if one.title == TITLE)
    assert "It did not come back." in death.message
    assert not ran.view.errors


def test_whoever_answers_for_a_target_that_is_gone_is_told(
    tmp_path: Path, patient: list[Mortal | KilledTarget]
) -> None:
    with serving(lambda request: Reply(502) if len(app.seen) > 30 else answer(request), {}) as app:
        ran = run(tmp_path, app)
    (gone,) = [one for one in ran.view.findings.values() if one.title == TITLE]
    assert "A proxy or gateway in front of it returned 502 for every request, from " in gone.message
