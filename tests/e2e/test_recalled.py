"""`run --corpus`: sequences of earlier runs take the place of some drawn cases, and are the same for any number of workers."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checker.config.settings import SequenceSettings
from tests.apps.http import Reply, Request
from tests.apps.library import DOCUMENT
from tests.apps.planted import Disturbed
from tests.apps.serving import Answer, json_reply, serving
from tests.e2e.runner import Command, kill_a_worker
from tests.e2e.test_layers import same

_NUMBER = {"name": "number", "in": "query", "required": True, "schema": {"type": "integer"}}
NUMBERS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Numbers", "version": "1"},
    "paths": {"/numbers": {"get": {"parameters": [_NUMBER], "responses": {"200": {"description": ""}}}}},
}
RARE = 97
LONGEST_SEQUENCE = SequenceSettings().max_steps
Wire = Counter[tuple[str, bytes, bytes]]


def rarely(request: Request) -> Reply:
    """Respond with another status to one number in 97."""
    text = request.target.decode("latin-1").rpartition("=")[2]
    is_rare = text.lstrip("-").isdigit() and int(text) % RARE == 1
    return json_reply({}, 203 if is_rare else 200)


def test_a_rare_response_is_seen_again(tmp_path: Path) -> None:
    usual = ("--phases", "fuzzing", "--mode", "positive", "--checks", "not_a_server_error", "--inline")
    with serving(rarely, NUMBERS) as app:
        command = Command(tmp_path)
        command.here("run", app.document_url, *usual, "-n", "500", "--seed", "1")

        def statuses(*more: str) -> Counter[int]:
            app.seen.clear()
            ran = command.here("run", app.document_url, *usual, "-n", "10", "--seed", "2", *more)
            assert ran.code == 0, ran.shown
            return Counter(rarely(one).status for one in app.seen if one.target.startswith(b"/numbers"))

        usually, recalled = statuses(), statuses("--corpus")
        (elsewhere := tmp_path / "elsewhere").mkdir()
        first = Command(elsewhere).here("run", app.document_url, *usual, "-n", "10", "--corpus")
    assert "`--corpus` without requests of earlier runs: 1\n    - `.checker/" in first.stdout, first.shown
    assert usually[203] == 0
    assert recalled[203] >= 1
    assert recalled.total() == usually.total() == 10, "recalled cases replace drawn ones"


def test_a_night_begins_with_what_earlier_runs_saw(tmp_path: Path) -> None:
    usual = ("--mode", "positive", "--checks", "not_a_server_error", "--inline")
    with serving(rarely, NUMBERS) as app:
        command = Command(tmp_path)
        command.here("run", app.document_url, *usual, "--phases", "fuzzing", "-n", "500", "--seed", "1")
        app.seen.clear()
        command.until(lambda: len(app.seen) >= 40, "fuzz", app.document_url, *usual, "--seed", "2")
        first = [rarely(one).status for one in app.seen[:20]]
    assert 203 in first, "the smallest case comes before"


def test_a_first_night_has_no_warning_that_nothing_is_recalled(tmp_path: Path) -> None:
    (tmp_path / "checker.toml").write_text("[corpus]\nreplay = true\n")
    with serving(rarely, NUMBERS) as app:
        ran = Command(tmp_path).here("fuzz", app.document_url, "--inline", "--seed", "1", "--max-time", "1")
    assert "nothing_recalled" not in ran.view.notes, ran.shown


def test_a_changed_description_costs_recalled_cases_alone(tmp_path: Path) -> None:
    usual = ("--checks", "not_a_server_error", "--mode", "all", "--seed", "1", "--inline", "-n", "20")
    changed: dict[str, Any] = json.loads(json.dumps(DOCUMENT).replace('"string"', '"integer"'))
    del changed["paths"]["/readers"]
    command = Command(tmp_path)
    with serving(same, {}) as app:
        for document, more in ((DOCUMENT, ()), (changed, ("--corpus",))):
            (tmp_path / "api.json").write_text(json.dumps(document))
            ran = command.here("run", "api.json", "--url", app.url, *usual, *more)
            assert ran.code == 0, ran.shown
    assert not ran.view.errors


@pytest.mark.parametrize("workers", [1, pytest.param(4, marks=pytest.mark.thorough)])
def test_equal_corpora_give_equal_requests_for_any_number_of_workers(tmp_path: Path, workers: int) -> None:
    wires: list[Counter[tuple[str, bytes, tuple[tuple[str, str], ...], bytes]]] = []
    usual = ("--phases", "fuzzing,stateful", "--checks", "not_a_server_error")
    first = tmp_path / "first"
    first.mkdir()
    with serving(same, DOCUMENT) as app:
        Command(first).here("run", app.document_url, *usual, "-n", "25", "--seed", "1", "--inline")
        for number, more in ((1, ("--corpus",)), (workers, ("--corpus",)), (1, ())):
            directory = tmp_path / f"{len(wires)}"
            shutil.copytree(first, directory)
            app.seen.clear()
            arguments = (*usual, *more, "-n", "10", "--seed", "2")
            ran = Command(directory).run(app.document_url, *arguments, workers=number, inline=not wires)
            assert ran.code == 0, ran.shown
            wires.append(Counter(app.wire()))
    one, other, without = wires
    assert (one - other, other - one) == (Counter(), Counter())
    assert one != without


@pytest.mark.thorough
def test_a_killed_worker_changes_no_recalled_request(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    usual = ("--phases", "fuzzing,stateful", "--checks", "not_a_server_error")
    wires: list[Wire] = []
    # The corpus is named after the place of the description.
    (first / "api.json").write_text(json.dumps(DOCUMENT))
    with serving(same, DOCUMENT) as app:
        Command(first).here("run", "api.json", "--url", app.url, *usual, "-n", "25", "--seed", "1", "--inline")

    def send(answer: Answer) -> None:
        with serving(answer, DOCUMENT) as app:
            directory = tmp_path / f"{len(wires)}"
            shutil.copytree(first, directory)
            more = ("--url", app.url, "--corpus", "-n", "10", "--seed", "2", "--workers", "2")
            ran = Command(directory).here("run", "api.json", *usual, *more)
            assert ran.code == 0, ran.shown
            wires.append(Counter((one.method, one.target, one.body) for one in app.seen))

    send(same)
    for share in (0.3, 0.8):
        send(Disturbed(same, kill_a_worker, after=int(share * wires[0].total())))
    whole, *killed = wires
    for one in killed:
        assert one.keys() == whole.keys()
        assert (one - whole).total() <= LONGEST_SEQUENCE, "a sequence is made again as a whole"
