"""A seed decides what is sent: not the number of workers or lanes, not their pace, not their deaths."""

import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checker.demo import document as demo_document
from tests.apps.document import read
from tests.apps.http import Reply, Request
from tests.apps.mock import Mock
from tests.apps.planted import Disturbed, inn, planted
from tests.apps.serving import Answer, App, serving
from tests.e2e.documents import COPIES
from tests.e2e.runner import Command, Ran, kill_a_worker, run_arguments

UNHURRIED = Path(__file__).with_name("unhurried.py")
Wire = tuple[str, bytes, tuple[tuple[str, str], ...], bytes]
EXAMPLES = "12"
LANES_OF_RUN = 1
_ROOM = re.compile(rb"/rooms/[^/]+")
LETS_IN = ("--exclude-checks", "ignored_auth")
"""For a mock without defects: it answers whoever asks, which is one where a document asks for credentials."""


def _demo() -> tuple[dict[str, Any], Answer]:
    return demo_document(), inn()


def _mock(name: str, longest: int) -> Callable[[], tuple[dict[str, Any], Answer]]:
    def made() -> tuple[dict[str, Any], Answer]:
        document = read(COPIES / name)
        # Where the document says that its API lives is nowhere near.
        for key in ("servers", "host", "basePath", "schemes"):
            document.pop(key, None)
        return document, planted(Mock(document), longest=longest)

    return made


APPLICATIONS = {
    "demo": _demo,
    "swagger": _mock("2.0-oathkeeper-v0.36.0-beta.3.json", 25),
    "openapi": _mock("3.0-langfuse.yaml", 60),
    "newer": _mock("3.1-adyen.com-notificationconfigurationservice-3.json", 150),
}


def _wire(app: App) -> Counter[Wire]:
    """What arrived, by bytes; the port is another one each time."""
    return Counter(
        (method, target, tuple(field for field in headers if field[0] != "host"), body)
        for method, target, headers, body in app.wire()
    )


def _ran(
    directory: Path, app: App, *chosen: str, workers: int = 2, lanes: int = LANES_OF_RUN, is_alone: bool = False
) -> Ran:
    directory.mkdir()
    (directory / "checker.toml").write_text(f'hooks = "{UNHURRIED}"\n')
    given = ("-n", EXAMPLES, "--lanes", str(lanes), *chosen)
    arguments = run_arguments(app.document_url, *given, workers=workers)
    # In a process of its own objects lie elsewhere in memory: their order must not matter either.
    return Command(directory)(*arguments) if is_alone else Command(directory).here(*arguments)


def _sent(
    directory: Path, application: str, *chosen: str, workers: int, lanes: int = LANES_OF_RUN
) -> tuple[Counter[Wire], list[str]]:
    document, answer = APPLICATIONS[application]()
    with serving(answer, document) as app:
        is_alone = application == "demo" and workers > 2
        ran = _ran(directory, app, *chosen, workers=workers, lanes=lanes, is_alone=is_alone)
    assert ran.code == 1, ran.shown
    return _wire(app), sorted(finding.fingerprint for finding in ran.findings)


@pytest.mark.parametrize("application", APPLICATIONS)
@pytest.mark.thorough_beyond(1)
def test_one_worker_and_four_with_two_lanes_send_the_same_bytes(application: str, tmp_path: Path) -> None:
    one, found_by_one = _sent(tmp_path / "one", application, workers=1)
    four, found_by_four = _sent(tmp_path / "four", application, workers=4, lanes=2)
    assert _difference(one, four) == {}
    assert found_by_one == found_by_four


@pytest.mark.parametrize("application", ["demo", "openapi"])
@pytest.mark.thorough
def test_phases_that_list_their_cases_send_the_same_bytes(application: str, tmp_path: Path) -> None:
    listed = ("--phases", "examples,coverage", "--mode", "all")
    one, found_by_one = _sent(tmp_path / "one", application, *listed, workers=1)
    four, found_by_four = _sent(tmp_path / "four", application, *listed, workers=4, lanes=2)
    assert _difference(one, four) == {}
    assert found_by_one == found_by_four


@pytest.mark.parametrize("application", ["openapi", "newer"])
@pytest.mark.thorough
def test_a_killed_worker_changes_nothing_but_what_was_in_flight(application: str, tmp_path: Path) -> None:
    document, _ = APPLICATIONS[application]()
    clean = Mock(document)
    with serving(clean, document) as app:
        whole = _ran(tmp_path / "whole", app, *LETS_IN)
    assert whole.code == 0, whole.shown
    wanted = _wire(app)
    half = sum(wanted.values()) // 2
    killed = _killed(tmp_path / "killed", clean, document, *LETS_IN, after=half)
    assert set(killed) == set(wanted)
    assert sum((killed - wanted).values()) <= LANES_OF_RUN


@pytest.mark.thorough
def test_a_worker_that_is_killed_while_shrinking_changes_no_request(tmp_path: Path) -> None:
    document, answer = APPLICATIONS["openapi"]()
    with_bug, found = _sent(tmp_path / "whole", "openapi", workers=2)
    assert found != []
    half = sum(with_bug.values()) // 2
    assert set(_killed(tmp_path / "killed", answer, document, after=half)) == set(with_bug)


@pytest.mark.thorough
def test_an_operation_that_falls_behind_later_layers_sends_the_same_requests(tmp_path: Path) -> None:
    document, answer = APPLICATIONS["demo"]()

    def slow_rooms(request: Request) -> Reply:
        if _ROOM.fullmatch(request.target):
            time.sleep(0.4)
        return answer(request)

    sent = []
    for name, served in (("quick", answer), ("slow", slow_rooms)):
        (tmp_path / name).mkdir()
        with serving(served, document) as app:
            arguments = run_arguments(app.document_url, "-n", "60", "--phases", "fuzzing", workers=1)
            Command(tmp_path / name).here(*arguments)
        sent.append(Counter(target for _, target, _, _ in app.wire() if _ROOM.fullmatch(target)))
    assert len(sent[0]) > 10
    assert sent[0] == sent[1]


def _killed(directory: Path, answer: Answer, document: dict[str, Any], *chosen: str, after: int) -> Counter[Wire]:
    """What arrives when a worker is killed while request number `after` waits for its answer."""
    with serving(Disturbed(answer, kill_a_worker, after=after), document) as app:
        ran = _ran(directory, app, *chosen)
    assert ran.code in (0, 1), ran.shown
    assert "killed" in str(ran.view.gone.values()), ran.view.gone
    return _wire(app)


def _difference(one: Counter[Wire], other: Counter[Wire]) -> dict[str, list[Wire]]:
    """What only one side sent, a few of each: equal multisets have none."""
    sides = {"only one": one - other, "only other": other - one}
    return {name: list(more.elements())[:3] for name, more in sides.items() if more}
