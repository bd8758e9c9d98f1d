"""Known failures in reports and in their file: a service with twelve defects, and the day after."""

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.files import read_baseline
from checker.core.known import Baseline, KnownFailure
from checker.corpus.fold import fold
from checker.corpus.known import KnownFailures, KnownStatus, entry_for
from checker.corpus.records import Finding, OperationsSelected, Record
from checker.reporting.baselines import updated, write_baseline
from checker.reporting.report import report_of
from checker.reporting.shown import ReportContext, standing_text
from checker.reporting.summary import summary_lines, total_line

from .formats import READERS, WRITTEN, written
from .samples import finding, interaction, opened, progress, records, settings, started

DAY_ONE, DAY_TWO = "2026-11-22", "2026-11-23"
LABELS = tuple(f"GET /things/{number}" for number in range(12))
FIXED, EXPIRED, NEW, FLAKY = LABELS[0], LABELS[1], "GET /new", LABELS[2]


def defect(label: str, **changes: Any) -> Finding:
    name = f"{abs(hash(label)) % 16**16:016x}" if label == NEW else f"{LABELS.index(label):016x}"
    return finding(**{"fingerprint": name, "label": label, "message": f"of {label}", **changes})


def run(found: list[Finding]) -> list[Record]:
    labels = (*LABELS, NEW)
    cases = progress(labels=labels, statuses=tuple((label, 200, 5) for label in labels))
    return [started(), OperationsSelected(labels), opened(13, 13), *found, cases, records()[-1]]


ENTRIES = tuple(
    replace(entry_for(defect(label), DAY_ONE), reason="later", ticket=f"T-{number}")
    for number, label in enumerate(LABELS)
)
BASELINE = Baseline("known.toml", DAY_TWO, (ENTRIES[0], replace(ENTRIES[1], expires=DAY_ONE), *ENTRIES[2:]))
SECOND = [
    *(defect(label) for label in LABELS if label not in (FIXED, FLAKY)),
    defect(FLAKY, reproduced=False),
    defect(NEW),
]


def told(name: str) -> Any:
    row = next(row for row in WRITTEN if row.name == name)
    context = ReportContext("checker run", 1, "http://h", baseline=BASELINE)
    sent = [interaction(label=label) for label in LABELS]
    return READERS[name](written(row, run(SECOND), sent, settings(baseline=BASELINE), context))


def report(found: list[Finding], baseline: Baseline = BASELINE) -> Any:
    view = fold((1, record) for record in run(found))
    return report_of(view, settings(baseline=baseline), "completed")


def test_only_what_is_new_or_expired_fails_the_run() -> None:
    assert {one.label for one in report(SECOND).failing} == {NEW, EXPIRED}
    assert total_line(report(SECOND)) == "2 bugs, 10 known in 2.00s"
    assert total_line(report(SECOND[1:-1])) == "No new issues found, 10 known in 2.00s"


def test_the_summary_names_what_somebody_has_to_look_at() -> None:
    lines = list(summary_lines(report(SECOND), lambda name: name))
    start = lines.index("Baseline: known.toml")
    assert [re.sub(r"\[.*\]", "[]", line) for line in lines[start : start + 8]] == [
        "Baseline: known.toml",
        "  New: 1",
        "    - GET /new: Server error []",
        "  Known: 10",
        "  Expired: 1",
        "    - GET /things/1: Server error []",
        "  Gone: 1 (fixed, or rare)",
        "    - GET /things/0: Server error []",
    ]


def test_json_tells_what_each_failure_is() -> None:
    found = told("json")
    standing = {one["operation"]: one["standing"] for one in found["failures"]}
    assert {label for label, state in standing.items() if state == "known"} == set(LABELS[2:])
    assert (standing[NEW], standing[EXPIRED]) == ("new", "expired")
    assert [one["operation"] for one in found["baseline"]["gone"]] == [FIXED]
    flaky = next(one for one in found["failures"] if one["operation"] == FLAKY)
    assert (flaky["stability"], flaky["known"]["ticket"]) == ("intermittent", "T-2")


def test_junit_skips_what_is_known() -> None:
    row = next(row for row in WRITTEN if row.name == "junit")
    context = ReportContext("checker run", 1, "http://h", baseline=BASELINE)
    (content,) = written(row, run(SECOND), (), settings(baseline=BASELINE), context).values()
    cases = content.decode().split("<testcase ")[1:]
    of = {re.search(r'name="([^"]*)"', case).group(1): case for case in cases}  # type: ignore[union-attr]
    assert {name for name, case in of.items() if "<failure" in case} == {NEW, EXPIRED}
    assert {name for name, case in of.items() if "<skipped" in case} == set(LABELS[2:])
    assert "gone: GET /things/0" in of[FIXED]


def test_sarif_has_words_for_all_of_it() -> None:
    states: dict[str, set[str]] = {}
    for result in told("sarif"):
        name = result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
        states.setdefault(result["baselineState"], set()).add(name)
        assert ("suppressions" in result) == (name in LABELS[2:])
    assert states == {"new": {NEW}, "unchanged": set(LABELS[1:]), "absent": {FIXED}}


def test_allure_knows_them() -> None:
    statuses = {one.name: one.status for one in told("allure")}
    assert {name for name, status in statuses.items() if status == "failed"} == {NEW, EXPIRED}
    assert {name for name, status in statuses.items() if status == "skipped"} == set(LABELS[2:])


def test_ndjson_tells_them_at_the_end() -> None:
    events = told("ndjson")
    last = next(fields for name, fields in events if name == "Baseline")
    assert [one["operation"] for one in last["gone"]] == [FIXED]
    assert (last["new"], last["known"], last["expired"]) == (1, 10, 1)
    phase = next(fields for name, fields in events if name == "PhaseFinished")
    assert (phase["status"], phase["payload"]["failed"], phase["payload"]["known"]) == ("failure", 2, 10)


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_what_people_read_tells_all_four(name: str) -> None:
    row = next(row for row in WRITTEN if row.name == name)
    context = ReportContext("checker run", 1, "http://h", baseline=BASELINE)
    (content,) = written(row, run(SECOND), (), settings(baseline=BASELINE), context).values()
    text = content.decode().replace("\\", "")
    assert text.count("known: later") == 10
    assert text.count(f"expired: later (T-1, until {DAY_ONE})") == 1
    assert "2 bugs, 10 known" in text
    assert "GET /things/0: Server error [v1-0000000000000000]" in text


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_file_keeps_what_people_wrote(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"known.{suffix}"
    first = Baseline(str(path), DAY_ONE, updates=True)
    found = [defect(label) for label in LABELS]
    write_baseline(path, updated(report(found, first).compared, found))
    if suffix == "toml":
        text = path.read_text().replace('ticket = ""', 'ticket = "T-0" # asked on Monday\nexpires = 2020-01-01', 1)
        path.write_text("# ours\n" + text)
    entries = read_baseline(path)
    assert len(entries) == 12
    again = Baseline(str(path), DAY_TWO, entries, updates=True, prunes=True)
    write_baseline(path, updated(report(SECOND, again).compared, SECOND))
    kept = {entry.operation: entry for entry in read_baseline(path)}
    assert set(kept) == {*LABELS, NEW} - {FIXED}
    assert (kept[FLAKY].first_seen, kept[FLAKY].last_seen) == (DAY_ONE, DAY_TWO)
    if suffix == "toml":
        assert path.read_text().startswith("# ours\n# Known failures")


def test_comments_stay_with_their_entries(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('[[failures]]\ncheck = "b" # why\n\n# of a\n[[failures]]\ncheck = "a"\nexpires = 2030-01-01\n')
    entries = read_baseline(path)
    write_baseline(path, [*entries, entry_for(defect(NEW), DAY_ONE)])
    text = path.read_text()
    assert 'check = "b" # why' in text
    assert "# of a" in text
    assert len(read_baseline(path)) == 3


def test_a_cause_is_known_wherever_it_shows() -> None:
    cause = replace(ENTRIES[3], operation="", fingerprint="")
    known = KnownFailures(Baseline("b", DAY_TWO, (cause,)))
    assert [one for one in SECOND if known.fails(one)] == []


def test_the_day_on_which_an_entry_ends_is_told_once() -> None:
    entry = KnownFailure(expires="2026-01-01")
    assert standing_text(KnownStatus.EXPIRED, entry) == "expired (until 2026-01-01)"
    assert standing_text(KnownStatus.KNOWN, entry) == "known (until 2026-01-01)"
