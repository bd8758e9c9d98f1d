"""`checker report` of several runs: shards of one test, services of one system."""

import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from checker.core.reports import REPORT_FORMATS
from checker.corpus.records import (
    CONFIRMED,
    FIXED,
    FindingReplayed,
    OpenFindings,
    OperationDescribed,
    OperationsSelected,
)
from tests.reporting.formats import READERS
from tests.reporting.samples import AT, ORDERS, USERS, changed, finding, interaction, opened, progress, records, started
from tests.reporting.traffic import Workers

from .test_report import _journal


def _run(name: str, labels: tuple[str, ...], *found: Any, title: str = "Shop", kind: str = "run", at: float) -> None:
    """A corpus with a finished run."""
    workers = Workers(Path(".checker") / name)
    base = f"http://{title.lower()}.example/api"
    asked = [
        OperationDescribed(label, (), ("200", "404"), ("query limit",), needs_credentials=False) for label in labels
    ]
    tried = tuple((label, "query limit", "edge", 2, 5) for label in labels)
    done = progress(labels=labels, statuses=tuple((label, 200, 50) for label in labels), tried=tried)
    begun = changed(started(kind), at=at, seed=int(at - AT))
    _journal(
        workers.layout,
        1,
        [
            begun,
            OperationsSelected(labels),
            changed(opened(len(labels), 4), title=title, base_url=base),
            *asked,
            *found,
            done,
            changed(records()[-1], at=at + 2),
        ],
    )
    for number, label in enumerate(labels):
        workers.keep(1, interaction(label=label, case=f"{name}{number}", at=at + number))
    workers.flush()
    workers.close()


@pytest.fixture
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two halves of one API that share an operation and its defect."""
    monkeypatch.chdir(tmp_path)
    other = finding(fingerprint="f7", unique_key="501", label=ORDERS)
    _run("one", (USERS, ORDERS), finding(), other, at=AT)
    _run("two", (USERS, "GET /health"), finding(stage="found"), at=AT + 60)
    return "one", "two"


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two APIs that both have `GET /users`, with a defect that reads the same."""
    monkeypatch.chdir(tmp_path)
    _run("shop", (USERS, ORDERS), finding(), at=AT)
    _run("bank", (USERS,), finding(), title="Bank", at=AT + 60)
    return "shop", "bank"


def verdict(invoke: Any, *runs: str) -> Any:
    ran = invoke("report", *runs, "--format", "json", "-o", "all.json")
    assert ran.exit_code == 0, ran.output
    return READERS["json"]({"": Path("all.json").read_bytes()})


def test_every_format_tells_all_runs(invoke: Any, shards: tuple[str, str]) -> None:
    names = [row.name for row in REPORT_FORMATS.values() if row.writer is not None]
    ran = invoke("report", *shards, "--format", ",".join(names), "--report-dir", "out")
    assert ran.exit_code == 0, ran.output
    found = {path.name.partition("-")[0]: path for path in Path("out").iterdir()}
    assert found.keys() == set(names)
    for name, read in READERS.items():
        path = found[name]
        inside = {one.name: one.read_bytes() for one in path.iterdir()} if path.is_dir() else {}
        read(inside or {"": path.read_bytes()})
    (suite,) = JUnitXml.fromfile(str(found["junit"]))
    assert {case.name for case in suite} == {USERS, ORDERS, "GET /health"}
    entries = READERS["har"]({"": found["har"].read_bytes()})
    assert len(entries) == 4


def test_a_failure_of_two_shards_is_one_with_the_names_of_both(invoke: Any, shards: tuple[str, str]) -> None:
    found = verdict(invoke, *shards)
    assert {one["fingerprint"]: one["seen_in"] for one in found["failures"]} == {"f1": ["one", "two"], "f7": ["one"]}
    assert "Seen in 2 of 2 runs: one, two." in found["failures"][0]["message"]
    assert [one["name"] for one in found["runs"]] == ["one", "two"]
    # Only the first shard looked into it.
    assert found["failures"][0]["reproduce"]


def test_counts_and_coverage_are_added_up(invoke: Any, shards: tuple[str, str]) -> None:
    found = verdict(invoke, *shards)
    assert found["operations"]["selected"] == 3
    assert found["operations"]["total"] == 4
    statuses = {one["operation"]: one["statuses"] for one in found["operations"]["results"]}
    assert statuses[USERS] == {"200": 100}
    assert found["coverage"]["operations"] == {"met": 3, "total": 3}
    edges = {one["operation"]: one["places"][0]["edges"]["cases"] for one in found["coverage"]["results"]}
    assert edges == {USERS: 10, ORDERS: 5, "GET /health": 5}
    assert found["running_time"] == pytest.approx(4.0)


def test_operations_of_two_services_stay_apart(invoke: Any, services: tuple[str, str]) -> None:
    found = verdict(invoke, *services)
    assert {(one["operation"], *one["seen_in"]) for one in found["failures"]} == {
        ("GET /users (Shop)", "shop"),
        ("GET /users (Bank)", "bank"),
    }
    assert {one["operation"] for one in found["operations"]["results"]} == {
        "GET /users (Shop)",
        "GET /users (Bank)",
        ORDERS,
    }


def test_earlier_failures_of_two_services_have_one_result_each(
    invoke: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, seen = OpenFindings((("f1", USERS, "Broken"),)), FindingReplayed("f1", CONFIRMED, AT)
    _run("shop", (USERS,), before, finding(), seen, kind="fuzz", at=AT)
    _run("bank", (USERS,), before, FindingReplayed("f1", FIXED, AT + 60), title="Bank", kind="fuzz", at=AT + 60)
    found = verdict(invoke, "shop", "bank")
    assert found["discovery"] is None, "runs at the same time have no common course"
    results = found["since_last_run"]
    assert {(name, one["operation"]) for name, places in results.items() for one in places} == {
        ("confirmed", "GET /users (Shop)"),
        ("fixed", "GET /users (Bank)"),
    }


def test_each_request_went_to_its_own_service(invoke: Any, services: tuple[str, str]) -> None:
    invoke("report", *services, "--format", "har", "-o", "all.har")
    entries = json.loads(Path("all.har").read_text())["log"]["entries"]
    assert [entry["request"]["url"].partition("/api")[0] for entry in entries] == [
        "http://shop.example",
        "http://shop.example",
        "http://bank.example",
    ]


def test_the_console_names_the_runs(invoke: Any, shards: tuple[str, str]) -> None:
    ran = invoke("report", *shards)
    assert "Run one: 100 cases, 2 failures, completed, seed 0\n" in ran.output
    assert "Run two: 100 cases, 1 failure, completed, seed 60\n" in ran.output


def test_one_that_was_killed_is_told_of_the_whole(invoke: Any, shards: tuple[str, str]) -> None:
    workers = Workers(Path(".checker") / "three")
    _journal(workers.layout, 1, [changed(started(), run="r3"), opened(), finding(), progress()])
    found = verdict(invoke, *shards, "three")
    assert (found["complete"], found["stop_reason"]) == (False, "killed")
    assert found["failures"][0]["seen_in"] == ["one", "three", "two"]


def _shard(name: str, labels: tuple[str, ...], *found: Any, shard: str, partition: str = "p") -> None:
    _run(name, labels, *found, at=AT)
    workers = Workers(Path(".checker") / name)
    whole = changed(opened(len(labels), 4), title="Shop", shard=shard, partition=partition)
    done = progress(labels=labels, statuses=tuple((label, 200, 50) for label in labels))
    begun = changed(started(), at=AT + 9)
    _journal(workers.layout, 2, [begun, OperationsSelected(labels), whole, *found, done, records()[-1]])


def test_the_shards_of_a_run_have_one_exit_code(invoke: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _shard("one", (USERS,), shard="1/3")
    _shard("two", (ORDERS,), shard="2/3")
    _shard("three", ("GET /health",), shard="3/3")
    assert invoke("report", "one", "two", "three").exit_code == 0
    ran = invoke("report", "one", "two")
    assert (ran.exit_code, "shards of Shop are missing: 3/3" in ran.output) == (2, True)
    ran = invoke("report", "two", "--format", "json", "-o", "two.json")
    assert (ran.exit_code, Path("two.json").exists()) == (2, True)
    assert "missing: 1/3, 3/3" in ran.output
    _shard("failing", (ORDERS,), finding(label=ORDERS), shard="2/3")
    assert invoke("report", "one", "failing", "three").exit_code == 1
    last = invoke("report")
    assert (last.exit_code, "Note: shards of Shop are missing: 1/3, 3/3" in last.output) == (0, True)


@pytest.mark.parametrize(
    ("shard", "partition", "said"),
    [("2/3", "q", "different partitions"), ("2/4", "p", "different partitions"), ("1/3", "p", "are both shard 1/3")],
)
def test_shards_that_do_not_belong_together_are_refused(
    shard: str, partition: str, said: str, invoke: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _shard("one", (USERS,), shard="1/3")
    _shard("two", (ORDERS,), shard=shard, partition=partition)
    ran = invoke("report", "one", "two", "--format", "json", "-o", "all.json")
    assert (ran.exit_code, Path("all.json").exists()) == (2, False)
    assert said in ran.output


def test_seconds_of_operations_are_the_weights_of_later_shards(invoke: Any, shards: tuple[str, str]) -> None:
    ran = invoke("report", *shards, "--format", "weights", "-o", "weights.json")
    assert ran.exit_code == 0, ran.output
    assert set(json.loads(Path("weights.json").read_text())["weights"]) == {USERS, ORDERS, "GET /health"}
