import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as limits
from msgspec.structs import replace

from checker.core.errors import LoaderError
from checker.core.known import Baseline
from checker.core.terminal import DRIVING
from checker.corpus.fold import fold
from checker.corpus.records import RunFinished
from checker.reporting.console import Console
from checker.reporting.report import Report
from checker.reporting.summary import summary_lines

from .golden import assert_golden
from .hostile import hostile
from .samples import AT, changed, clean_records, finding, opened, progress, records, settings, started

REPORTS = (("vcr", "checker-report/vcr.yaml"),)


def printed(
    found: list[Any], outcome: str = "completed", encoding: str = "utf-8", **changes: Any
) -> tuple[str, Report]:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = Console(settings(**changes), stream, clock=lambda: 100.0)
    console.title()
    console.loading()
    for record in found:
        console.on_record(1, record)
    report = console.report(fold((1, record) for record in found), outcome)
    console.finish(report, written=REPORTS)
    stream.flush()
    return raw.getvalue().decode(encoding), report


def test_run_with_findings_reads_as_kept() -> None:
    text, _ = printed(records())
    assert_golden("run_with_findings", text)


@pytest.mark.parametrize(("spent_s", "line"), [(7.5, "Reports: 7.50s after the testing\n"), (0.9, "")])
def test_noticeable_time_of_reports_is_shown(spent_s: float, line: str) -> None:
    stream, now = io.StringIO(), [100.0]
    console = Console(settings(), stream, clock=lambda: now[0])
    console.end_testing()
    report = console.report(fold((1, record) for record in clean_records()), "completed")
    now[0] += spent_s
    console.finish(report)
    assert "".join(re.findall("Reports: .*\n", stream.getvalue())) == line


def test_clean_run_reads_as_kept() -> None:
    text, _ = printed(clean_records())
    assert_golden("clean_run", text)


def test_workers_are_those_of_the_project() -> None:
    text, report = printed(clean_records(), projects=((opened().title, {"processes": {"workers": 3}}),))
    assert "Workers:          3 (seed " in text
    assert report.time.workers == 3


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "  Fetching http://127.0.0.1:8080/openapi.json"),
        (
            {"location": "http://a:b@127.0.0.1/x", "wait_for_schema_s": 30.0},
            "  Fetching http://[Filtered]@127.0.0.1/x, waiting up to 30 s for it",
        ),
        ({"location": "small.json"}, "  Reading small.json"),
        ({"location": "large.json"}, "  Reading large.json (2.5 MB)"),
        ({"location": "missing.json"}, "  Reading missing.json"),
    ],
)
def test_what_is_read_is_told_before_it_is_there(
    changes: dict[str, Any], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.json").write_bytes(b"{}")
    Path("large.json").write_bytes(b" " * 2_500_000)
    stream = io.StringIO()
    console = Console(settings(**changes), stream, clock=lambda: 100.0)
    console.loading()
    assert stream.getvalue() == f"{line}\n"


def test_on_a_terminal_it_is_drawn_and_goes_when_the_description_is_there() -> None:
    stream = io.StringIO()
    console = Console(settings(color=True), stream, clock=lambda: 100.0)
    console.loading()
    console.on_record(1, opened())
    console.close()
    first, _, rest = stream.getvalue().partition("Loaded specification")
    assert "Fetching http://127.0.0.1:8080/openapi.json" in first
    assert "Fetching" not in rest


def test_run_that_goes_on_shows_the_seed_of_its_beginning() -> None:
    text, report = printed(clean_records(), seed=2)
    assert f"(seed {started().seed})" in text
    assert "seed 2" not in text
    assert report.seed == started().seed


def test_fuzz_tells_its_stop_reason() -> None:
    text, _ = printed(records(), "time limit", kind="fuzz", phases=("exploration",))
    assert_golden("fuzz_with_findings", text)


@pytest.mark.parametrize(
    ("outcome", "step"), [("first failure", "`--continue-on-failure`"), ("interrupted", "The same command starts with")]
)
def test_fuzz_says_how_to_go_on(outcome: str, step: str) -> None:
    text, _ = printed(records(), outcome, kind="fuzz", phases=("exploration",))
    assert step in text.split("Stop reason: ")[1].split("\n\n")[0]


def test_ascii_stream_reads_as_kept() -> None:
    text, _ = printed(records(), encoding="ascii")
    assert_golden("run_on_ascii", text)


def test_python_samples_hold_no_variables_of_a_shell() -> None:
    command = "curl -H 'Authorization: {secret:header:Authorization}' http://127.0.0.1:8080/api/users"
    text, _ = printed([started(), opened(), finding(reproduction=command)], code_sample_style="python")
    assert "connection.putheader('Authorization', '[Filtered]')" in text
    assert "$CHECKER" not in text
    assert "header Authorization" in text


def test_a_finding_that_cannot_be_shown_costs_itself_only() -> None:
    # Nothing that we write ourselves: a command that nobody can read.
    bad = finding(fingerprint="bad", label="GET /bad", reproduction="curl 'http://h/")
    text, _ = printed([*records()[:-1], bad, records()[-1]])
    whole, _ = printed(records())
    assert "- Server error\n\nThe rest cannot be shown: ValueError: " in text
    sections = whole.split("____ GET /users ____")[1].split("= SUMMARY =")[0]
    assert sections in text
    assert "SUMMARY" in text


def test_a_part_of_the_summary_that_cannot_be_shown_costs_itself_only() -> None:
    _, report = printed(records())
    broken = replace(report, phases=(replace(report.phases[0], name=None),))
    lines = list(summary_lines(broken, lambda name: name))
    assert any(line.startswith("A part of the summary cannot be shown: ") for line in lines)
    assert f"Seed: {report.seed}" in lines


def test_a_record_that_cannot_be_shown_does_not_stop_the_run() -> None:
    stream = io.StringIO()
    console = Console(settings(kind="fuzz"), stream, clock=lambda: 100.0)
    console.on_record(1, changed(finding(), hits=None))
    console.on_record(1, replace(opened(), base_url=None))
    console.on_record(1, finding(fingerprint="f2"))
    assert stream.getvalue().splitlines()[-1].endswith(f"GET /users: {finding().title}")


def test_interrupted_run_prints_what_was_gathered() -> None:
    text, _ = printed(records()[:-1], "interrupted")
    assert "Server error: 1" in text
    assert text.splitlines()[-1].strip("= ").startswith("3 bugs (2 stable), 2 errors, 2 warnings, interrupted after")


def test_document_without_operations_is_an_empty_suite() -> None:
    found = [started(), opened(0, 0), RunFinished("r1", AT, "completed", 0.1, (0,) * 5)]
    text, _ = printed(found)
    assert text.splitlines()[-1].strip("=") == " Empty test suite "


def test_run_without_any_record_still_ends_with_a_summary() -> None:
    text, _ = printed([], "error")
    assert "SUMMARY" in text


def test_no_line_of_our_own_is_wider_than_a_terminal() -> None:
    text, _ = printed(records())
    ruled = [line for line in text.splitlines() if line.startswith(("===", "___"))]
    assert {len(line) for line in ruled} == {80}


def test_one_defect_is_reported_once() -> None:
    found = [*records()[:-1], changed(finding(), at=AT + 1, phase="stateful")]
    text, _ = printed(found)
    assert "Server error: 1\n" in text


def test_failures_of_one_case_share_a_block() -> None:
    text, _ = printed(records())
    assert text.count("Test Case ID: 0a1b2c3d4e5f") == 1


def test_ledger_sums_to_wall_times_workers() -> None:
    _, report = printed(records())
    assert sum(report.time.ledger) == pytest.approx(report.time.elapsed_s * report.time.workers, rel=0.05)


def test_the_time_counts_the_workers_of_a_cluster_that_there_were() -> None:
    text, report = printed(records(), workers=64, follows_cluster=True)
    assert "Workers:          at most 64 (seed" in text
    assert report.time.workers == 1


def test_times_of_phases_that_overlap_add_up_to_the_work_of_the_run() -> None:
    # Both phases last from the 0th to the 10th second.
    shares = {"coverage": (1.0, 1.0, 0.5, 0.5, 0.0), "stateful": (2.0, 3.0, 1.0, 0.5, 0.5)}
    found = [
        progress(task=phase, phase=phase, ledger=ledger, at=AT + at)
        for phase, ledger in shares.items()
        for at in (sum(ledger[:4]), 10.0)
    ]
    _, report = printed(
        [started(), opened(), *found, RunFinished("r", AT + 10, "completed", 10.0, (6.0, 8.0, 3.0, 2.0, 1.0))]
    )
    times = {one.name: one.elapsed_s * report.time.workers for one in report.phases if one.elapsed_s}
    assert times == {"coverage": pytest.approx(6.0), "stateful": pytest.approx(13.0)}
    assert sum(times.values()) <= report.time.elapsed_s * report.time.workers


def test_terminal_shows_findings_as_they_come() -> None:
    stream = io.StringIO()
    console = Console(settings(color=True), stream, clock=lambda: 100.0)
    console.loading()
    for record in records():
        console.on_record(1, record)
    console.close()
    assert stream.getvalue().count("GET /users: Server error") == 1


def test_fuzz_without_a_terminal_tells_findings_as_they_come() -> None:
    stream = io.StringIO()
    console = Console(settings(kind="fuzz"), stream, clock=lambda: 100.0)
    for record in records():
        console.on_record(1, record)
    assert "GET /users: Server error" in stream.getvalue()


@pytest.mark.parametrize("kind", ["run", "fuzz"])
@pytest.mark.parametrize(("pace_s", "records", "signs"), [(5.0, 7, 3), (10.0, 7, 6), (600.0, 7, 6), (10.0, 361, 104)])
def test_without_a_terminal_there_are_signs_of_life(kind: str, pace_s: float, records: int, signs: int) -> None:
    stream, times = io.StringIO(), iter([0.0, 0.0, *(pace_s * step for step in range(999))])
    console = Console(settings(kind=kind), stream, clock=lambda: next(times))
    for _ in range(records):
        console.on_record(1, progress())
    assert stream.getvalue().count("requests/s") == signs


def test_controls_in_a_title_do_not_drive_the_terminal() -> None:
    text, _ = printed([opened(), finding(title="\x1b[2J\x9bboom")])
    assert "\\x1b[2J\\x9bboom: 1" in text


def test_requests_to_another_host_than_the_description_are_announced() -> None:
    source = "http://127.0.0.1:3000"
    text, _ = printed([replace(opened(), fetched_from=source)])
    before, _, after = text.partition(f"The description comes from {source}, but names another")
    assert "Base URL:" in before
    assert "`--url`" in after
    assert "The description comes" not in printed([opened()])[0]


def test_credentials_in_the_location_are_masked() -> None:
    text, _ = printed(records(), location="http://me:secret@127.0.0.1/openapi.json")
    assert "Loaded specification from http://[Filtered]@127.0.0.1/openapi.json" in text


def test_loading_error_has_a_title_a_message_and_details() -> None:
    stream = io.StringIO()
    console = Console(settings(), stream, clock=lambda: 100.0)
    console.loading_failed(LoaderError("Connection refused.", ["127.0.0.1:8080", "errno 111"]))
    assert_golden("loading_error", stream.getvalue())


def test_interrupted_loading_says_so() -> None:
    stream = io.StringIO()
    Console(settings(), stream, clock=lambda: 100.0).loading_interrupted()
    assert "Loading interrupted after 0.00s" in stream.getvalue()


def test_operations_come_worst_first_and_no_more_than_asked_for() -> None:
    low = finding(fingerprint="x1", label="DELETE /a", severity="low", title="Slow")
    bad = finding(fingerprint="x2", label="PUT /z", severity="critical")
    text, _ = printed([*clean_records()[:-1], low, bad, clean_records()[-1]])
    assert text.index("_ PUT /z _") < text.index("_ DELETE /a _")
    text, _ = printed([*clean_records()[:-1], low, bad, clean_records()[-1]], max_shown=1)
    assert "_ PUT /z _" in text
    assert "_ DELETE /a _" not in text
    assert "And 1 more operation: `--max-shown` shows more" in text


def test_a_baseline_that_this_run_makes_is_announced() -> None:
    new = Baseline("known.toml", "2026-11-22", updates=True, is_new=True)
    text, _ = printed(records(), baseline=new)
    assert "     Baseline:         known.toml (new file)\n" in text
    assert "known.toml does not exist: this run creates it, and its failures do not fail the run." in text
    assert "3 recorded as known" in text.splitlines()[-1]


@limits(max_examples=30)
@given(hostile())
def test_a_terminal_is_shown_nothing_that_it_obeys(run: tuple[list[Any], list[Any]]) -> None:
    for encoding in ("utf-8", "ascii"):
        text, _ = printed(run[0], encoding=encoding)
        assert "= FAILURES =" in text
        assert not re.search(f"[{DRIVING}]", text)


def test_the_first_forty_causes_are_listed_and_the_others_counted() -> None:
    found = [finding(label=f"GET /{number}", fingerprint=f"f{number}", unique_key=f"k{number}") for number in range(45)]
    text, _ = printed([*clean_records()[:-1], *found, clean_records()[-1]])
    causes = text[text.index("= CAUSES =") : text.index("= FAILURES =")]
    assert causes.count("Server error") == 40
    assert "- and 5 more" in causes
