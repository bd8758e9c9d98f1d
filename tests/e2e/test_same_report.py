"""A seed decides what the report says: not workers, lanes or deaths."""

import re
from pathlib import Path

import pytest

from checker.corpus.fold import RunView
from checker.corpus.records import MEDIA_TYPE, MEMBER, VALID
from tests.apps.planted import Disturbed
from tests.apps.serving import serving
from tests.e2e.runner import Command, kill_a_worker
from tests.e2e.test_determinism import APPLICATIONS, UNHURRIED

EXAMPLES = "12"
NEVER = 10**9
FULL_AFTER = """
import checker
from checker.workers import loop
from checker.workers.limits import Limits

answers = []

@checker.hook
def after_call(context, case, response):
    answers.append(response.status_code)

loop._ORDERS_S = loop._HOUSEKEEPING_S = 0.0
Limits.exceeded = lambda self, now: len(answers) >= {answers}
"""
_OF_THE_MACHINE = re.compile(r"\d+\.\d+ ?s|127\.0\.0\.1:\d+|\d+%|[\d,]+ (?:requests|cases)/s")
_REQUESTS = re.compile(r"[\d,]+ requests, [\d,]+ of them")
_TIMES = re.compile(r"^Time: .*?^$|^Reports: [^\n]* after the testing\n\n?", re.MULTILINE | re.DOTALL)
"""The second only where writing takes long."""


def told(stdout: str) -> str:
    """A report from its first block on, without what is of the machine: times, rates, ports."""
    report = stdout[stdout.index("= FAILURES =") :].partition("\n")[2]
    lines = _OF_THE_MACHINE.sub("~", _TIMES.sub("", report)).splitlines()
    return "\n".join(line.strip("=_ ") for line in lines)


def met(view: RunView) -> set[tuple[str, str, str]]:
    """(operation, place, what) of all that a run met of the description: keywords, edges, listed values, media types."""
    return {(label, place, what) for label, one in view.operations.items() for place, what, _ in one.tried}


def reported(
    command: Command, application: str, *, workers: int = 1, lanes: int = 1, kills: int = 0, full_after: int = NEVER
) -> tuple[str, set[tuple[str, str, str]]]:
    """What a run tells, and what it `met`, when workers are killed `kills` times, while a request waits for its answer.

    Workers have no memory left after `full_after` answers, and leave.
    """
    document, answer = APPLICATIONS[application]()
    command.directory.mkdir()
    # No response is slow, not even that of a request whose worker is killed: a slow operation shows its failures later.
    (command.directory / "hooks.py").write_text(UNHURRIED.read_text() + FULL_AFTER.format(answers=full_after))
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    for number in range(kills):
        answer = Disturbed(answer, kill_a_worker, after=40 * (number + 1))
    with serving(answer, document) as app:
        arguments = (app.document_url, "-n", EXAMPLES, "--lanes", str(lanes))
        ran = command.run(*arguments, workers=workers)
    assert ran.code == 1, ran.shown
    assert sum("killed" in reason for reason in ran.view.gone.values()) == kills
    left = sum(reason == "memory" for reason in ran.view.gone.values())
    assert (left > 2) is (full_after < NEVER)
    return told(ran.stdout), met(ran.view)


@pytest.mark.parametrize(("application", "shown"), [("demo", (VALID, MEMBER, MEDIA_TYPE)), ("openapi", (VALID,))])
@pytest.mark.thorough_beyond(1)
def test_workers_lanes_and_deaths_change_nothing(application: str, shown: tuple[str, ...], tmp_path: Path) -> None:
    expected, all_met = reported(Command(tmp_path / "one"), application)
    assert "1. Test Case ID" in expected
    assert all(any(what.startswith(one) for _, _, what in all_met) for one in shown)
    four = reported(Command(tmp_path / "four"), application, workers=4, lanes=2)
    assert four == (expected, all_met)
    # What a dead worker was looking into is looked into again: that costs requests.
    killed, still_met = reported(Command(tmp_path / "killed"), application, workers=2, kills=2)
    assert _REQUESTS.sub("~", killed) == _REQUESTS.sub("~", expected)
    assert still_met == all_met
    full, still_met = reported(Command(tmp_path / "full"), application, workers=2, full_after=15)
    assert _REQUESTS.sub("~", full) == _REQUESTS.sub("~", expected)
    assert still_met == all_met
