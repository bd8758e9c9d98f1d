"""What a second run knows of the first, and what it leaves of it."""

import re
from pathlib import Path

import pytest

from checker.corpus.journal import Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import SignalsSeen
from checker.demo import Server
from tests.apps.chain import DOCUMENT, Parcels
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, Ran

FUZZING = ("--phases", "fuzzing")


def corpus_of(directory: Path) -> RunLayout:
    return RunLayout(next(directory.glob(".checker/*")))


def signals_of(layout: RunLayout) -> list[tuple[int, str]]:
    journals = Journals(layout)
    records = [record for _, record in journals.finish_all()]
    return [one for record in records if isinstance(record, SignalsSeen) for one in record.ids]


def found_by(ran: Ran) -> str:
    match = re.search(r"found (\d+) unique failures", ran.stdout)
    assert match is not None, ran.shown
    return match.group(1)


@pytest.mark.thorough
def test_failing_examples_are_tried_first(command: Command) -> None:
    with Server() as demo:
        first = command.run(demo.document_url, *FUZZING, "-n", "100", seed=1, inline=True)
        second = command.run(demo.document_url, *FUZZING, "-n", "1", seed=2, inline=True)
    assert first.code == second.code == 1
    # What was saved is tried apart from the run's own 13 cases, and all of it fails again.
    generated = re.search(r"(\d+) generated", first.stdout)
    assert generated is not None
    # Safe requests are not sent twice.
    assert 700 < int(generated[1]) <= 1300
    assert "13 generated" in second.stdout
    assert found_by(first) == found_by(second), second.shown


@pytest.mark.thorough
def test_examples_that_pass_are_forgotten(command: Command) -> None:
    with Server() as demo:
        command.run(demo.document_url, "-n", "30", seed=1, inline=True)
        url = demo.url
    database = command.directory / ".proptest" / "examples"
    before = sum(1 for path in database.rglob("*") if path.is_file())
    port = int(url.rpartition(":")[2])
    with Server(port, fixed=True) as demo:
        ran = command.run(demo.document_url, "-n", "1", seed=1, inline=True)
    assert ran.code == 0, ran.shown
    assert before > sum(1 for path in database.rglob("*") if path.is_file())


@pytest.mark.thorough
def test_plain_traffic_of_the_first_run_is_gone(command: Command) -> None:
    with Server(fixed=True) as demo:
        command.run(demo.document_url, "-n", "5", inline=True)
        first = {path for _, path in corpus_of(command.directory).traffic_paths()}
        command.run(demo.document_url, "-n", "5", inline=True)
    left = {path for _, path in corpus_of(command.directory).traffic_paths()}
    assert first
    assert left
    assert not first & left


def test_signals_of_the_first_night_are_no_news(command: Command) -> None:
    # Each night ends with the planted failure, which takes the whole chain of operations.
    with serving(Parcels(), DOCUMENT) as app:
        arguments = ("fuzz", app.document_url, "--mode", "positive", "--workers", "1", "--seed")
        command.here(*arguments, "1")
        first = signals_of(corpus_of(command.directory))
        second = command.here(*arguments, "2")
    both = signals_of(corpus_of(command.directory))
    assert first
    assert len(both) == len(set(both)), "a signal that was known was told again"
    assert [one.result for one in second.view.replayed.values()] == ["confirmed"], "the whole sequence was sent again"


@pytest.mark.parametrize("schema", [{"type": "string", "pattern": "^(a"}])
def test_schema_nodes_that_are_not_understood_are_counted(command: Command, schema: object) -> None:
    parameter = {"name": "q", "in": "query", "required": True, "schema": schema}
    answer = {"200": {"description": "fine"}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Odd", "version": "1"},
        "paths": {"/odd": {"get": {"parameters": [parameter], "responses": answer}}},
    }
    with serving(lambda request: json_reply({}), document) as app:
        ran = command.run(app.document_url, "-n", "5", inline=True)
    assert ran.code == 0, ran.shown
    assert "not understood; generated values may not match" in ran.stdout
    assert "#/paths/~1odd/get/parameters/0/schema" in ran.stdout
