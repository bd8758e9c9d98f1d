"""`checker corpus`: what runs have learned, of one machine or of several."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.core.meta import Drawn, Step
from checker.core.operation import Label
from checker.corpus.known import failure_id
from checker.corpus.layout import RunLayout
from checker.corpus.records import (
    FIXED,
    CorpusEntry,
    Finding,
    FindingReplayed,
    OperationsSelected,
    Record,
    ResourceMade,
    SignalsSeen,
    ValueSeen,
)
from checker.corpus.snapshot import lasting_records
from checker.supervisor.lock import Ownership
from checker.workers.observers.saved_examples import SavedExamples
from tests.reporting.samples import USERS, changed, exchange, finding, interaction, opened, progress, records, started

from .test_report import _journal

COUNTED = ("findings", "sequences", "values", "signals")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _corpus(name: str, *learned: Record, title: str = "Shop") -> RunLayout:
    """A corpus whose last run learned something."""
    layout = RunLayout(Path(".checker") / name)
    layout.create()
    whole = changed(opened(), title=title)
    _journal(layout, 1, [started(), OperationsSelected((USERS,)), whole, *learned, progress(), records()[-1]])
    return layout


def _learned(number: int) -> tuple[Record, ...]:
    return (
        finding(fingerprint=f"f{number}", unique_key=f"{number}"),
        SignalsSeen(USERS, ((number, "status"), (1000, "leaf"))),
        ValueSeen(USERS, "/id", number, f"c{number}"),
        CorpusEntry(USERS, (), (number,), 0.01),
    )


def _stats(invoke: Any, *name: str) -> Any:
    ran = invoke("corpus", "stats", *name, "--format", "json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.output)


def test_statistics_count_what_all_runs_learned(invoke: Any) -> None:
    _corpus("one", *_learned(1))
    found = _stats(invoke)
    assert {name: found[name] for name in COUNTED} == {
        "findings": 1, "sequences": 1, "values": 1, "signals": {"status": 1, "leaf": 1},
    }  # fmt: skip
    assert found["last_run"]["outcome"] == "completed"
    shown = invoke("corpus", "stats", "one").output
    assert "Findings: 1\n" in shown
    assert "Signals: leaf 1, status 1\n" in shown


def test_a_merge_holds_what_either_machine_learned_once(invoke: Any) -> None:
    _corpus("one", *_learned(1), *_learned(2))
    other = _corpus("two", *_learned(2), *_learned(3))
    before = {path: path.read_bytes() for path in other.root.rglob("*") if path.is_file()}
    ran = invoke("corpus", "merge", "one", "two")
    assert (ran.exit_code, "3 findings, 3 sequences, 3 values" in ran.output) == (0, True), ran.output
    assert _stats(invoke, "one")["signals"] == {"status": 3, "leaf": 1}
    assert {path: path.read_bytes() for path in before} == before
    # Once more changes nothing, and the last run is still reported as it was.
    assert invoke("corpus", "merge", "one", "two").exit_code == 0
    assert _stats(invoke, "one")["findings"] == 3
    assert invoke("report", "one", "--format", "json", "-o", "one.json").exit_code == 0
    assert {one["fingerprint"] for one in json.loads(Path("one.json").read_text())["failures"]} == {"f1", "f2"}


def test_a_run_after_a_merge_sends_the_failures_of_all_machines_first(invoke: Any) -> None:
    _corpus("one", finding(fingerprint="f1", steps=(Step(Label(USERS), Drawn((1,))),)))
    _corpus("two", finding(fingerprint="f2", steps=(Step(Label(USERS), Drawn((2,))),)))
    _corpus("three", finding(fingerprint="f3", steps=(Step(Label(USERS), Drawn((3,))),), reproduced=False))
    assert invoke("corpus", "merge", "all", "one", "two", "three").exit_code == 0
    saved = SavedExamples(".proptest/examples").load(Label(USERS))
    assert [step.choices for steps in saved for step in steps] == [(1,), (2,)]


def test_a_merge_makes_a_new_corpus_of_several(invoke: Any) -> None:
    for number in (1, 2, 3):
        _corpus(f"night{number}", *_learned(number))
    assert invoke("corpus", "merge", "all", "night1", "night2", "night3").exit_code == 0
    kept = lasting_records(RunLayout(Path("all"))).records
    assert {one.fingerprint for one in kept if isinstance(one, Finding)} == {"f1", "f2", "f3"}
    found = _stats(invoke, "all")
    assert (found["last_run"], found["findings"]) == (None, 3)


@pytest.mark.parametrize(
    ("arguments", "said"), [(("one", "bank"), "different APIs: Bank, Shop"), (("one", "one"), "itself")]
)
def test_a_merge_that_makes_no_sense_changes_nothing(arguments: tuple[str, ...], said: str, invoke: Any) -> None:
    one = _corpus("one", *_learned(1))
    _corpus("bank", *_learned(2), title="Bank")
    ran = invoke("corpus", "merge", *arguments)
    assert (ran.exit_code, said in ran.output) == (2, True), ran.output
    assert not one.snapshot.exists()


def test_a_merge_waits_for_no_run_that_goes_on(invoke: Any) -> None:
    one = _corpus("one", *_learned(1))
    _corpus("two", *_learned(2))
    with Ownership(one):
        ran = invoke("corpus", "merge", "one", "two")
    assert (ran.exit_code, "another checker is working in" in ran.output) == (2, True), ran.output


def test_a_smaller_corpus_keeps_what_was_learned_and_the_last_run(invoke: Any) -> None:
    layout = _corpus("one", *_learned(1))
    again = changed(started(), run="r2", at=started().at + 9)
    _journal(layout, 2, [again, OperationsSelected((USERS,)), opened(), *_learned(2), progress(), records()[-1]])
    layout.traffic(2, 1).with_suffix(".traffic").write_bytes(b"x" * 1000)
    before = _stats(invoke, "one")
    assert invoke("corpus", "minimize", "one").exit_code == 0
    after = _stats(invoke, "one")
    assert {name: after[name] for name in COUNTED} == {name: before[name] for name in COUNTED}
    assert after["bytes"]["traffic"] == 0
    assert after["bytes"]["all"] < before["bytes"]["all"]
    assert after["last_run"] == before["last_run"]


def test_failures_of_all_runs_are_exported_unless_they_are_fixed(invoke: Any, tmp_path: Path) -> None:
    layout = _corpus("one", *_learned(1), *_learned(2))
    again = changed(started(), run="r2", at=started().at + 9)
    fixed = FindingReplayed("f1", FIXED, started().at + 10)
    _journal(layout, 2, [again, OperationsSelected((USERS,)), opened(), *_learned(3), fixed, progress(), records()[-1]])
    ran = invoke("corpus", "export", "one", "--format", "json", "-o", "found.json")
    assert (ran.exit_code, ran.output) == (0, "found.json: 2 failures\n")
    found = json.loads((tmp_path / "found.json").read_text())["failures"]
    assert [one["fingerprint"] for one in found] == ["f2", "f3"]
    refused = invoke("corpus", "export", "one", "--format", "har", "-o", "found.har")
    assert (refused.exit_code, "give one format that shows only failures" in refused.output) == (2, True)


def test_exported_failures_have_their_needs_and_are_compared_with_the_baseline(invoke: Any, tmp_path: Path) -> None:
    old = finding(fingerprint="f1")
    layout = _corpus("one", old)
    shot = changed(interaction(), exchange=changed(exchange(), target=b"/api/users/7/age"))
    needing = finding(fingerprint="f2", unique_key="2", interactions=(shot,))
    made = ResourceMade("/api/users/7", "POST /users", "examples", 1, 201, "curl creation")
    again = changed(started(), run="r2", at=started().at + 9)
    _journal(layout, 2, [again, OperationsSelected((USERS,)), opened(), needing, made, progress(), records()[-1]])
    (tmp_path / "known.toml").write_text(f'format-version = 1\n[[failures]]\nfingerprint = "{failure_id(old)}"\n')
    (tmp_path / "checker.toml").write_text('baseline = "known.toml"\n')
    assert invoke("corpus", "export", "one", "--format", "json", "-o", "found.json").exit_code == 0
    found = {one["fingerprint"]: one for one in json.loads((tmp_path / "found.json").read_text())["failures"]}
    assert {name: one["standing"] for name, one in found.items()} == {"f1": "known", "f2": "new"}
    assert "curl creation" in json.dumps(found["f2"])
