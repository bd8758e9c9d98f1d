"""The second night: it begins with the findings of the first, and says what became of them."""

import json
import os
from collections import Counter

from checker.corpus.journal import last_run
from checker.corpus.layout import RunLayout
from checker.corpus.snapshot import known_before
from checker.supervisor.lock import Ownership
from tests.apps.nights import DEFECTS, OPERATIONS, Shelves, document
from tests.apps.serving import App, serving
from tests.e2e.runner import Command, Ran

CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance"
USUAL = ("--mode", "positive", "--checks", CHECKS, "--inline", "--seed", "1")


def described(command: Command, paths: tuple[str, ...] = OPERATIONS, *, reverse: bool = False) -> str:
    """Write the description; its place names the corpus."""
    (command.directory / "shelves.json").write_text(json.dumps(document(paths, reverse=reverse)))
    return "shelves.json"


def first_night(command: Command, app: App) -> None:
    ran = command.here("run", described(command), "--url", app.url, "--phases", "fuzzing", "-n", "12", *USUAL)
    assert len(ran.findings) == len(OPERATIONS) * len(DEFECTS), ran.shown


def next_night(command: Command, app: App, expected: int) -> Ran:
    """A night that ends when it has found so much."""
    limits = ("--continue-on-failure", "--max-failures", str(expected), "--report-dir", "reports")
    app.seen.clear()
    return command.here("fuzz", "shelves.json", "--url", app.url, *limits, "--report", "json,markdown,html", *USUAL)


def written(command: Command, name: str) -> str:
    """Return the last report whose name matches."""
    return max((command.directory / "reports").glob(name)).read_text()


def test_all_findings_are_confirmed_before_a_new_case(command: Command) -> None:
    shelves = Shelves()
    with serving(shelves, {}) as app:
        first_night(command, app)
        second = next_night(command, app, 30)
        assert second.stdout.count("30 confirmed since the last run.\n") == 1, second.shown
        assert "0 generated, earlier examples found 30 unique failures" in second.stdout, second.shown
        assert len(app.seen) <= 60, "each is sent once, and once as it is printed"
        assert all(b"old=true" in request.target for request in app.seen[:20]), "the most severe ones come first"
        shelves.fixed.add((OPERATIONS[0], "status"))
        described(command, OPERATIONS[:-1])
        third = next_night(command, app, 26)
    sentence = "26 confirmed, 1 fixed, 3 gone since the last run"
    assert f"{sentence}.\n  - fixed: GET /shelves/a: Server error\n  - gone: GET /shelves/j: " in third.stdout, (
        third.shown
    )
    assert sentence in written(command, "*.html")
    assert sentence in written(command, "*.md")
    found = json.loads(written(command, "*.json"))["since_last_run"]
    assert {name: len(places) for name, places in found.items() if places} == {"confirmed": 26, "fixed": 1, "gone": 3}
    assert found["fixed"][0]["operation"] == "GET /shelves/a"
    (corpus,) = (path.parent for path in command.directory.glob(".checker/*/journals"))
    known = known_before(RunLayout(corpus), 1 << 30)
    assert known is not None
    assert len(known.findings) == 26, "what is fixed or gone is not sent again"
    # The same choices make other requests now, which prove nothing.
    described(command, OPERATIONS[:-1], reverse=True)
    with serving(shelves, {}) as app:
        changed = next_night(command, app, 26)
    results = Counter(one.result for one in changed.view.replayed.values())
    assert results["not reproduced"], changed.shown
    assert (results["fixed"], results["gone"]) == (1, 3), "those of the night before"


def test_a_failure_that_replay_showed_to_be_fixed_is_not_sent_again(command: Command) -> None:
    shelves = Shelves()
    with serving(shelves, {}) as app:
        first_night(command, app)
        shelves.fixed.add((OPERATIONS[0], "status"))
        before = command.here("report", "--format", "json", "-o", "before.json")
        replayed = command.here("replay", "all")
        assert replayed.code == 1
        assert (replayed.stdout.count("FIXED"), replayed.stdout.count("FAILED")) == (1, 29), replayed.shown
        after = command.here("report", "--format", "json", "-o", "after.json")
        assert (before.code, after.code) == (0, 0), after.shown
        same = [json.loads((command.directory / name).read_text()) for name in ("before.json", "after.json")]
        assert same[0] == same[1], "the report of a run is about that run"
        second = next_night(command, app, 29)
    assert "29 confirmed since the last run.\n" in second.stdout, second.shown


def test_a_night_that_is_gone_on_with_does_not_count_results_of_replay(command: Command) -> None:
    shelves = Shelves()
    with serving(shelves, {}) as app:
        first_night(command, app)
        next_night(command, app, 30)
        (corpus,) = (path.parent for path in command.directory.glob(".checker/*/journals"))
        layout = RunLayout(corpus)
        before = last_run(layout)
        assert before is not None
        # As if the supervisor had been killed: its last record is torn.
        os.truncate(before.journal, before.journal.stat().st_size - 1)
        shelves.fixed.add((OPERATIONS[0], "status"))
        assert command.here("replay", "all").stdout.count("FIXED") == 1
        again, after = next_night(command, app, 30), last_run(layout)
        assert after is not None
        assert (after.started.run, after.first) == (before.started.run, before.first)
        assert "30 confirmed since the last run.\n" in again.stdout, again.shown
        assert "30 confirmed since the last run.\n" in command.here("report").stdout
        following = next_night(command, app, 29)
    assert "29 confirmed since the last run.\n" in following.stdout, following.shown


def test_a_failure_that_is_fixed_on_another_server_is_sent_again(command: Command) -> None:
    shelves, mended = Shelves(), Shelves()
    mended.fixed.add((OPERATIONS[0], "status"))
    with serving(shelves, {}) as app, serving(mended, {}) as other:
        first_night(command, app)
        replayed = command.here("replay", "all", "--url", other.url)
        assert (replayed.stdout.count("FIXED"), replayed.stdout.count("FAILED")) == (1, 29), replayed.shown
        second = next_night(command, app, 30)
    assert "30 confirmed since the last run.\n" in second.stdout, second.shown


def test_results_of_replay_wait_for_no_run(command: Command) -> None:
    with serving(Shelves(), {}) as app:
        first_night(command, app)
        (corpus,) = (path.parent for path in command.directory.glob(".checker/*/journals"))
        with Ownership(RunLayout(corpus)):
            replayed = command.here("replay", "all")
    assert replayed.stdout.count("FAILED") == 30
    assert "Warning: the next run will not know these results: another checker is working in" in replayed.stderr


def test_a_failure_that_is_fixed_on_another_server_stays_open(command: Command) -> None:
    shelves = Shelves()
    with serving(shelves, {}) as app:
        first_night(command, app)
    shelves.fixed.add((OPERATIONS[0], "status"))
    with serving(shelves, {}) as app:
        second = next_night(command, app, 29)
    results = Counter(one.result for one in second.view.replayed.values())
    assert (results["confirmed"], results["fixed"], results["not reproduced"]) == (29, 0, 1), second.shown
