"""A default run, through all its phases: neither the number of workers nor their deaths change what is sent and found."""

import os
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from checker.core.phases import default_phases
from tests.apps.http import Reply, Request
from tests.apps.mock import Mock
from tests.apps.planted import BROKEN, Disturbed
from tests.apps.serving import Answer, App, serving
from tests.e2e.runner import Command, Ran, worker_pids

NAMES = default_phases()
ARGUMENTS = ("-n", "10", "--no-shrink")
UNASKED = "negative_data_rejection,use_after_free"
"""The service takes everything and forgets nothing."""
TEXT = {"type": "string", "minLength": 1, "maxLength": 12}


def _named(name: str) -> dict[str, Any]:
    properties = {"id": {"type": "string", "enum": [name]}, "name": TEXT}
    return {"type": "object", "required": ["id", "name"], "properties": properties}


THING, PART = _named("thing-7"), _named("part-3")


def _answers(status: int, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "done"}
    if schema is not None:
        good["content"] = {"application/json": {"schema": schema}}
    return {"responses": {str(status): good}}


def _body(**more: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": TEXT, "size": {"type": "integer", "minimum": 1, "maximum": 900}},
    }
    content = {"application/json": {"schema": schema, **more}}
    return {"requestBody": {"required": True, "content": content}}


ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}
WORD = {"name": "word", "in": "query", "schema": TEXT}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {
            "get": {"parameters": [WORD | {"example": "beware"}], **_answers(200, THING)},
            "post": {**_body(example={"name": "first", "size": 3}), **_answers(201, THING)},
        },
        "/things/{id}": {
            "parameters": [ID],
            "get": _answers(200, THING),
            "put": {**_body(), **_answers(200, THING)},
            "delete": _answers(204),
        },
        "/things/{id}/parts": {"parameters": [ID], "post": {**_body(), **_answers(201, PART)}},
        "/things/{id}/parts/{part_id}": {
            "parameters": [ID, ID | {"name": "part_id"}],
            "get": {"parameters": [WORD], **_answers(200, PART)},
        },
    },
}


def answering() -> Answer:
    """Fails on one example, on one edge of a body, and on what was made in what was made: whatever came before, answers are the same."""
    mock = Mock(DOCUMENT)

    def answered(request: Request) -> Reply:
        is_edge = request.method == "PUT" and b"900" in request.body
        is_known = request.target.startswith(b"/things/thing-7/parts/part-3?word")
        return BROKEN if b"beware" in request.target or is_edge or is_known else mock(request)

    return answered


Wire = Counter[tuple[str, bytes, tuple[tuple[str, str], ...], bytes]]


@dataclass(frozen=True)
class Seen:
    """A run, and what arrived."""

    ran: Ran
    wire: Wire

    @property
    def found(self) -> list[tuple[str, str, str]]:
        """(phase, operation, fingerprint) of each finding."""
        return sorted((one.phase, one.label, one.fingerprint) for one in self.ran.findings)


def _wire(app: App) -> Wire:
    return Counter(
        (method, target, tuple(field for field in headers if field[0] != "host"), body)
        for method, target, headers, body in app.wire()
    )


def _arguments(app: App, workers: int) -> tuple[str, ...]:
    chosen = ("--seed", "1", "--workers", str(workers), "--exclude-checks", UNASKED)
    return ("run", app.document_url, *chosen, *ARGUMENTS)


def _seen(directory: Path, workers: int) -> Seen:
    directory.mkdir()
    with serving(answering(), DOCUMENT) as app:
        ran = Command(directory).here(*_arguments(app, workers))
    assert ran.code == 1, ran.shown
    return Seen(ran, _wire(app))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """One worker, whom nobody disturbs."""
    return _seen(tmp_path_factory.mktemp("undisturbed") / "run", workers=1)


def _cases(ran: Ran) -> Counter[str]:
    found = Counter[str]()
    for task in ran.view.tasks.values():
        found[task.phase] += task.cases
    return found


def test_all_phases_send_and_find_something(undisturbed: Seen) -> None:
    cases = _cases(undisturbed.ran)
    assert {phase for phase in NAMES if cases[phase]} == set(NAMES)
    labels = {label for _, label, _ in undisturbed.found}
    assert {"GET /things", "PUT /things/{id}", "GET /things/{id}/parts/{part_id}"} == labels
    # Values of answers stand in later requests, and those of one path belong together.
    assert any(b"/things/thing-7/parts/part-3" in target for _, target, _, _ in undisturbed.wire)


@pytest.mark.thorough
def test_four_workers_send_and_find_the_same(undisturbed: Seen, tmp_path: Path) -> None:
    four = _seen(tmp_path / "four", workers=4)
    assert four.wire == undisturbed.wire
    assert four.found == undisturbed.found


@pytest.mark.thorough
def test_a_worker_killed_in_each_phase_costs_no_finding_and_doubles_none(undisturbed: Seen, tmp_path: Path) -> None:
    begun: list[set[str]] = []

    def kill() -> None:
        # Who has died may have no successor yet.
        pids = worker_pids()
        os.kill(pids[len(begun) % len(pids)], signal.SIGKILL)
        begun.append({task.phase for task in Ran(0, "", "", tmp_path).view.tasks.values()})

    answer = answering()
    for after in _midsts(undisturbed):
        answer = Disturbed(answer, kill, after=after)
    with serving(answer, DOCUMENT) as app:
        ran = Command(tmp_path).here(*_arguments(app, workers=2))
    assert ran.code == 1, ran.shown
    assert len(begun) == len(NAMES)
    for number, phases in enumerate(begun):
        assert set(NAMES[:number]) <= phases <= set(NAMES[: number + 1])
    assert len(ran.view.gone) >= len(NAMES)
    assert Seen(ran, _wire(app)).found == undisturbed.found
    assert set(_wire(app)) == set(undisturbed.wire)


def _midsts(undisturbed: Seen) -> list[int]:
    """Numbers of requests, one in the midst of each phase, by how many the phases took."""
    cases, numbers = _cases(undisturbed.ran), []
    before = undisturbed.ran.view.counts.inquiries
    for phase in NAMES:
        inquiries = before if phase != NAMES[0] else 0
        begun = sum(cases[earlier] for earlier in NAMES[: NAMES.index(phase)])
        numbers.append(begun + inquiries + max(1, cases[phase] // 2))
    return numbers
