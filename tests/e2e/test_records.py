"""What is told, what is on record and what the target has seen are one and the same."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checker.core.send import Purpose
from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction
from checker.corpus.traffic import TrafficReader
from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.apps.volatile import document, volatile
from tests.cassettes import interactions_of
from tests.e2e.runner import Command, Ran


def requests_told(ran: Ran) -> int:
    match = re.search(r"^  ([\d,]+) requests?\b", ran.stdout, re.MULTILINE)
    assert match is not None, ran.shown
    return int(match.group(1).replace(",", ""))


def entries_of(ran: Ran) -> list[dict[str, Any]]:
    (path,) = ran.directory.rglob("vcr-*.yaml")
    return interactions_of(path)


def recorded(app: App, entries: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter((entry["request"]["method"], entry["request"]["uri"].removeprefix(app.url)) for entry in entries)


def seen_by(app: App) -> Counter[tuple[str, str]]:
    return Counter((request.method, request.target.decode()) for request in app.seen)


def failing(request: Request) -> Reply:
    """A service that fails for some of what it is asked."""
    return json_reply({}, 500 if len(request.target) > 12 else 200)


THINGS = {
    "openapi": "3.0.3",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        f"/{name}": {
            "get": {
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
                "responses": {"default": {"description": "whatever"}},
            }
        }
        for name in "ab"
    },
}
HOOKS = """
import checker

@checker.hook
def after_call(context, case, response):
    if b"1" in response.content:
        raise ValueError("no ones")
"""
REPORT = ("-n", "60", "--report", "vcr")


def test_all_that_arrived_is_told_and_on_record(command: Command) -> None:
    with serving(volatile(), document()) as app:
        ran = command.run(app.document_url, *REPORT, "--exclude-checks", "safe_methods")
    entries = entries_of(ran)
    assert requests_told(ran) == len(app.seen) == len(entries), ran.shown
    assert recorded(app, entries) == seen_by(app)
    purposes = Counter(entry["purpose"] for entry in entries)
    # Fuzzing alone has 480.
    assert purposes["test"] == ran.view.counts.cases == 480
    assert {"confirm", "probe", "shrink", "reproduce"} < set(purposes)
    assert len(entries) - purposes["test"] == ran.view.counts.inquiries
    assert f"{ran.view.counts.inquiries} of them to look into failures" in ran.stdout


def leading_on(request: Request) -> Reply:
    """A service that sends all on, and fails for some of them there."""
    if request.target.startswith(b"/there"):
        return failing(request)
    place = "/there?for=long" if len(request.target) > 12 else "/there"
    return Reply(302, "text/plain", b"", (("Location", place),))


def test_redirects_that_were_followed_are_among_the_requests_that_are_told(command: Command) -> None:
    with serving(leading_on, THINGS) as app:
        ran = command.run(app.document_url, *REPORT, inline=True)
    entries = entries_of(ran)
    assert requests_told(ran) == len(app.seen) == len(entries), ran.shown
    purposes = Counter(entry["purpose"] for entry in entries)
    assert purposes["redirect"] > 100
    assert ran.view.counts.cases == purposes["test"] == 120


def test_examples_of_earlier_runs_are_on_record(tmp_path: Path) -> None:
    with serving(failing, THINGS) as app:
        Command(tmp_path).run(app.document_url, "-n", "60", inline=True)
        app.seen.clear()
        ran = Command(tmp_path).run(app.document_url, "-n", "5", "--report", "vcr", inline=True)
    entries = entries_of(ran)
    assert requests_told(ran) == len(app.seen) == len(entries), ran.shown
    assert recorded(app, entries) == seen_by(app)
    assert Counter(entry["purpose"] for entry in entries)["saved"] == 2


def test_requests_that_were_sent_twice_are_on_record_twice(command: Command) -> None:
    with serving(lambda _: json_reply({}), THINGS, per_connection=7) as app:
        ran = command.run(app.document_url, *REPORT)
    entries = entries_of(ran)
    lost = [entry for entry in entries if entry["status"] == "ERROR"]
    assert requests_told(ran) == len(entries) == len(app.seen) + len(lost), ran.shown
    # Fuzzing alone has 120.
    assert len(app.seen) == ran.view.counts.cases == 120


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("lanes", ["1", "4"])
def test_answers_that_nobody_could_judge_are_on_record(command: Command, lanes: str) -> None:
    (command.directory / "breaking.py").write_text(HOOKS)
    (command.directory / "checker.toml").write_text('hooks = "breaking.py"\n')
    with serving(lambda request: json_reply(len(request.target)), THINGS) as app:
        ran = command.run(app.document_url, *REPORT, "--lanes", lanes)
    entries = entries_of(ran)
    assert requests_told(ran) == len(app.seen) == len(entries), ran.shown
    assert recorded(app, entries) == seen_by(app)
    assert "SKIP" in {entry["status"] for entry in entries}, ran.shown


BIG = json.dumps(["0123456789" * 20 for _ in range(1000)]).encode()


def large(request: Request) -> Reply:
    """200 kB: always these, or others each time."""
    different = request.target.startswith(b"/b")
    body = json.dumps([f"{number}{os.urandom(90).hex()}" for number in range(1000)]).encode()
    return Reply(200, "application/json", body if different else BIG)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_equal_answers_are_kept_once(command: Command) -> None:
    with serving(large, THINGS) as app:
        ran = command.run(app.document_url, *REPORT, "--phases", "fuzzing", "--include-path", "/a", inline=True)
    entries = entries_of(ran)
    assert len(entries) == len(app.seen) == 60, ran.shown
    assert {entry["response"]["body"]["string"].encode() for entry in entries} == {BIG}
    assert size_of(command.directory / ".checker") < len(BIG)
    assert size_of(command.directory / "checker-report") < 2 * len(BIG)


def test_long_answers_are_cut_and_their_size_is_told(command: Command) -> None:
    (command.directory / "checker.toml").write_text("[output.truncation]\nmax-recorded-payload-size = 1000\n")
    with serving(large, THINGS) as app:
        ran = command.run(app.document_url, *REPORT, "--phases", "fuzzing", "--include-path", "/a", inline=True)
    bodies = [entry["response"]["body"] for entry in entries_of(ran)]
    assert [body["string"].encode() for body in bodies] == [BIG[:1000]] * 60, ran.shown
    assert {body["size"] for body in bodies} == {len(BIG)}


def test_the_corpus_keeps_to_its_size_and_what_is_gone_is_told(command: Command) -> None:
    most = 3_000_000
    (command.directory / "checker.toml").write_text(f"[corpus]\nmax-size = {most}\n")
    with serving(large, THINGS) as app:
        ran = command.run(app.document_url, *REPORT, "--phases", "fuzzing", "--include-path", "/b", inline=True)
    assert ran.code == 0, ran.shown
    assert size_of(command.directory / ".checker") <= most
    # A report that follows the run closely has read it before it goes.
    assert 5 < len(entries_of(ran)) <= 60
    kept = sum(one.exchange.status == 200 for one in traffic_of(command))
    assert 0 < kept < 60
    assert "Traffic that was removed to save space: 1" in ran.stdout
    assert "`corpus.max-size`" in ran.stdout


def traffic_of(command: Command) -> list[Interaction]:
    """What the corpus still holds."""
    (root,) = command.directory.glob(".checker/*")
    paths = RunLayout(root).traffic_paths()
    return [one for _, path in paths for one in TrafficReader(path).stream()]


@pytest.mark.thorough
def test_operations_with_a_2xx_are_those_of_the_traffic(command: Command) -> None:
    with serving(volatile(), document()) as app:
        ran = command.run(app.document_url, *REPORT, inline=True)
    succeeded = {one.label for one in traffic_of(command) if one.purpose is Purpose.TEST and one.exchange.status == 200}
    assert f"With a 2xx response: {len(succeeded)}\n" in ran.stdout
