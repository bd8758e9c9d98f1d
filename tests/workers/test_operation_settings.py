"""Every key that may stand in an `[[operations]]` block acts for its operations alone, or is refused by name."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from checker.config.auth import DYNAMIC, OAUTH2, OPENAPI
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.table import OPERATION_KEYS, SECTIONS, not_in_operations
from checker.core import phases
from checker.core.phases import FUZZING
from checker.corpus.fold import RunView
from checker.supervisor.endings import Ending
from checker.supervisor.supervisor import execute
from checker.workers.starting.opening import open_worker_context
from tests.apps.serving import serving
from tests.asking import changed
from tests.reporting.samples import finding
from tests.workers.block_probes import OVER, PROBES, Observed, Place, Probe, document, good
from tests.workers.elsewhere import BASIC, MAXIMIZE, NULL, OF_CHECKS, SECURITY


def places() -> Iterator[Place]:
    """Everything that the table lets stand in a block."""
    for path, keys in SECTIONS.items():
        for key in keys:
            place = (*path, key)
            starts = [place[:length] for length in range(1, len(place) + 1)]
            if place[0] in OPERATION_KEYS and not not_in_operations().intersection(starts):
                yield place


ELSEWHERE = [
    ("continue-on-failure",),
    ("max-stream-events",),
    # In `tests/cli/test_servers.py`.
    ("servers", "variables"),
    # In `tests/cli/test_warnings_of_operations.py`.
    ("warnings",),
    # In `tests/e2e/test_authentication_of_operations.py`.
    OPENAPI,
    DYNAMIC,
    OAUTH2,
    *BASIC,
    *(place for key in (SECURITY, NULL, MAXIMIZE) for place in (key, ("phases", "fuzzing", *key))),
]
"""Have tests of their own."""
LISTED = tuple(("phases", name) for name in phases.phase_names() if name != FUZZING.name)
"""What acts in phases that list their cases, or follow answers, has tests with them."""
ACTING = [
    place for place in places() if place not in ELSEWHERE and place[:2] not in LISTED and OF_CHECKS.isdisjoint(place)
]


def nested(place: Place, value: Any) -> dict[str, Any]:
    for part in reversed(place):
        value = {part: value}
    found: dict[str, Any] = value
    return found


def both(folder: Path, block: dict[str, Any], probe: Probe, phase: str = FUZZING.name) -> tuple[Observed, Observed]:
    """What is seen of the operation that the block is about, and of the other one, in one phase."""
    values = {
        "generation": {"max-examples": probe.cases, "database": "none", "mode": "positive"},
        "seed": 1,
        "operations": [{"include-path": "/a", **block}],
        **dict(probe.root),
    }
    with serving(probe.answer, document(probe.made)) as app:
        config = Config.from_dict(values, environment={})
        occasion = Invocation(app.document_url, inline=True)
        asked = run_settings(config, occasion, {})
        asked = changed(asked, folder=str(folder / "corpus"), phases=(phase,))
        OVER.clear()
        try:
            outcome = execute(asked, lambda *_: None)
        finally:
            OVER.set()
        seen = [(one.target.partition(b"?")[0].decode(), one) for one in app.seen]
    first, second = (
        Observed(f"POST {path}", [one for of, one in seen if of == path], outcome.view) for path in ("/a", "/b")
    )
    return first, second


@pytest.mark.parametrize("place", ACTING, ids=".".join)
def test_a_key_of_a_block_acts_for_its_operations_alone(place: Place, tmp_path: Path) -> None:
    is_of_phase = place[0] == "phases" and len(place) > 2
    phase = place[1] if is_of_phase else FUZZING.name
    within = ("phases", FUZZING.name, "enabled") if place[2:] == ("enabled",) else place[2:]
    probe = PROBES[within if is_of_phase else place]
    mine, other = both(tmp_path, nested(place, probe.value), probe, phase)
    assert probe.shows(mine)
    assert not probe.shows(other)


def test_fuzz_goes_on_after_failures_of_operations_that_say_so(tmp_path: Path) -> None:
    block = {"include-path": "/a", "continue-on-failure": True}
    with serving(good, document()) as app:
        occasion = Invocation(app.document_url, "fuzz")
        config = Config.from_dict({"operations": [block]}, environment={})
        asked = changed(run_settings(config, occasion, {}), folder=str(tmp_path / "corpus"))
        with closing(open_worker_context(1, asked)) as place:
            cards = place.opened.operations
            place.recorder.close()
    for label, wanted in (("POST /a", ""), ("POST /b", "first failure")):
        ending, view = Ending(asked), RunView()
        ending.know(cards)
        view.absorb(1, finding(label=label))
        ending.next_order(view, 0.0, 0.0, 0)
        assert ending.outcome == wanted


def test_a_phase_may_run_for_some_operations_alone(tmp_path: Path) -> None:
    off = (("phases", {"enabled": False}),)
    probe = Probe(True, lambda seen: bool(seen.requests), root=off)
    mine, other = both(tmp_path, {"phases": {"fuzzing": {"enabled": True}}}, probe)
    assert mine.requests
    assert not other.requests
