from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.settings import NOTHING_SENT
from checker.core.meta import Binding, Drawn, Step
from checker.core.operation import Label, Location
from checker.core.schema import WarningKind
from checker.core.security import SecurityScheme, ways_in
from checker.core.warning_table import WARNINGS
from checker.corpus.fold import UNDECLARED_AUTH, fold
from checker.corpus.journal import DAMAGED
from checker.corpus.records import (
    CONFIRMED,
    FIXED,
    FLAKY,
    GONE,
    NOT_REPRODUCED,
    Finding,
    FindingReplayed,
    Note,
    OpenFindings,
    OperationError,
    Record,
    RunFinished,
)
from checker.corpus.traffic import TRIMMED
from checker.health import HEALTH_CHECK, TARGET
from checker.reporting.report import ENDLESS, INCOMPLETE, Report, report_of
from checker.reporting.summary import ledger_lines, note_lines, summary_lines, tally_parts, total_line, warning_lines
from checker.reporting.warnings import warning_groups
from checker.workers.authentication.signup import SIGN_UP_FAILED, SIGNED_UP
from tests.asking import saying

from .samples import AT, ORDERS, USERS, changed, clean_records, finding, opened, progress, records, settings, started


def _key(location: Location, name: str) -> SecurityScheme:
    return SecurityScheme("k", "apiKey", "", location=location, parameter=name)


def report(found: list[Record], outcome: str = "completed", **changes: object) -> Report:
    view = fold((1, record) for record in found)
    return report_of(view, settings(**changes), outcome)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "3 bugs (2 stable), 2 errors, 2 warnings in 2.00s"),
        ({"findings": ()}, "2 errors, 2 warnings in 2.00s"),
        ({"findings": (), "errors": ()}, "1 error, 2 warnings in 2.00s"),
        ({"findings": (), "errors": (), "quarantined": ()}, "No issues found, 2 warnings in 2.00s"),
        ({"findings": (), "errors": (), "quarantined": (), "cases": 0}, "Nothing was tested in 2.00s"),
        ({"findings": (), "errors": (), "quarantined": (), "notes": ()}, "No issues found in 2.00s"),
        ({"selected": 0, "errors": (), "quarantined": ()}, "Empty test suite"),
        (
            {"findings": (), "errors": (), "quarantined": (), "notes": (), "outcome": "interrupted"},
            "No issues found, interrupted after 2.00s",
        ),
        ({"outcome": "interrupted"}, "3 bugs (2 stable), 2 errors, 2 warnings, interrupted after 2.00s"),
    ],
)
def test_total_line_counts_what_was_found(changes: dict[str, object], line: str) -> None:
    assert total_line(changed(report(records()), **changes)) == line


def test_cases_whose_operation_had_an_error_are_not_said_to_have_passed() -> None:
    def lines(errors: tuple[OperationError, ...]) -> list[str]:
        shown = changed(report(records()), findings=(), errors=errors, quarantined=(), cases=7)
        return list(summary_lines(shown, str))

    error = OperationError("GET /a", "fuzzing", "Network Error", "refused")
    assert "  7 generated, no failure found" in lines((error,))
    assert "  7 generated, 7 passed" in lines(())


def test_examples_of_earlier_runs_were_not_generated() -> None:
    shown = changed(report(records()), cases=1, failed_cases=0)
    assert "  1 generated, earlier examples found 3 unique failures" in summary_lines(shown, str)


def test_an_api_that_is_gone_was_found_by_no_example() -> None:
    (first, *_) = report(records()).findings
    gone = replace(first, check=HEALTH_CHECK)
    shown = changed(report(records()), cases=1, failed_cases=0, findings=(gone,))
    assert "  1 generated, 1 unique failure" in summary_lines(shown, str)


def test_ledger_names_time_that_nobody_accounts_for() -> None:
    short = changed(report(clean_records()), ledger=(0.1, 0.2, 0.0, 0.0, 0.0))
    assert "  other        3.70s   92%" in list(ledger_lines(short))


def test_a_run_without_an_end_took_as_long_as_its_workers_account_for() -> None:
    short = changed(report(clean_records()), ledger=(6.0, 4.0, 0.0, 0.0, 1.0), outcome=ENDLESS)
    assert "Time: 5.50s x 2 workers" in list(ledger_lines(short))
    assert total_line(short).endswith("not finished after 5.50s")


def test_ledger_of_a_resumed_run_covers_what_went_before() -> None:
    resumed = changed(report(clean_records()), ledger=(1.0, 5.0, 1.0, 1.0, 2.0))
    lines = list(ledger_lines(resumed))
    assert lines[0] == "Time: 5.00s x 2 workers"
    assert "  20 cases/s" not in lines
    assert lines[-2] == "  23 requests/s, 20 cases/s"
    dry = settings().with_changes(target={"transport": NOTHING_SENT})
    assert list(ledger_lines(changed(resumed, settings=dry)))[-2] == "  20 cases/s"


@pytest.mark.parametrize(("wait_s", "line"), [(40.0, "  80% of the work was for GET /slow"), (4.0, ""), (8.0, "")])
def test_an_operation_that_takes_most_of_the_time_is_named(wait_s: float, line: str) -> None:
    ledgers = {
        "GET /slow": (0.0, wait_s, 0.0, 0.0, 1.0),
        "GET /a": (0.0, 6.0, 0.0, 0.0, 1.0),
        "GET /b": (4.0, 0.0, 0.0, 0.0, 0.0),
    }
    found = [
        progress(task=label, labels=(label,), statuses=((label, 200, 1),), ledger=ledger)
        for label, ledger in ledgers.items()
    ]
    named = [one for one in ledger_lines(report([started(), *found])) if "of the work" in one]
    assert named == [line] * bool(line)


def test_phases_that_were_not_asked_for_are_disabled() -> None:
    found = report(clean_records(), phases=("fuzzing",))
    notes = {phase.name: phase.note for phase in found.phases}
    assert notes == {"examples": "disabled", "coverage": "disabled", "fuzzing": "", "stateful": "disabled"}


def test_interrupted_phase_says_so() -> None:
    found = report(clean_records()[:-1], "interrupted")
    assert ("interrupted", "interrupted") in {(p.icon, p.note) for p in found.phases}


@pytest.mark.parametrize("checks", [{"enabled": False}, {"enabled": False, "races": {"enabled": True}}])
def test_where_no_check_ran_nothing_has_passed(checks: dict[str, Any]) -> None:
    """An intrusive check does not act in `run`."""
    view = fold((1, record) for record in clean_records())
    unchecked = settings(operations=saying({"checks": checks}))
    found = report_of(view, unchecked, "completed")
    lines = list(summary_lines(found, lambda name: name))
    assert not any("passed" in line for line in lines)
    assert f"  {found.counts.cases} generated, no checks ran" in lines
    assert "  skip Fuzzing (no checks ran)" in lines
    tallies = [tally_parts(phase.tally, lambda name: name) for phase in found.phases]
    assert [f"skip {found.tested} without checks"] in tallies
    assert total_line(found).startswith("No checks ran in ")


def test_same_error_in_two_phases_is_one_error() -> None:
    twice = [*records(), changed(records()[7], phase="coverage")]
    assert report(twice).error_count == 2


def test_errors_of_the_run_are_no_operations_that_were_not_tested() -> None:
    found = [
        *records(),
        OperationError(TARGET, "", "Access refused", "The configured credentials opened no operation."),
    ]
    lines = list(summary_lines(report(found), lambda _: "*"))
    at = lines.index("  Not tested: 1")
    assert lines[at + 1] == f"    - {ORDERS}"


def test_closed_doors_are_named() -> None:
    found = [
        *clean_records()[:2],
        progress(statuses=((USERS, 401, 90), (USERS, 404, 10))),
        progress(task="t2", statuses=((ORDERS, 403, 89), (ORDERS, 200, 11))),
    ]
    lines = list(summary_lines(report(found), lambda _: "*"))
    at = lines.index("Authentication failed: 1 operation returned authentication errors")
    assert lines[at + 1 : at + 4] == [
        "  401 Unauthorized: 1 operation",
        f"    - {USERS}",
        "  Give credentials with `--auth USER:PASSWORD` or `-H 'Authorization: ...'`.",
    ]


@pytest.mark.parametrize(
    ("schemes", "said"),
    [
        ((_key(Location.HEADER, "x-api-key"),), "`-H 'X-Api-Key: ...'`"),
        ((_key(Location.COOKIE, "sid"),), "`-H 'Cookie: sid=...'`"),
        ((_key(Location.QUERY, "appid"),), "`[auth.openapi]` in checker.toml"),
        ((SecurityScheme("b", "http", "", "basic"),), "`--auth USER:PASSWORD`"),
        (
            (SecurityScheme("b", "http", "", "bearer"), SecurityScheme("o", "oauth2", "")),
            "`-H 'Authorization: Bearer ...'`",
        ),
        (
            (_key(Location.HEADER, "x-key"), SecurityScheme("h", "http", "", "digest")),
            "`--auth USER:PASSWORD --auth-type digest` or `-H 'X-Key: ...'`",
        ),
    ],
)
def test_closed_doors_are_opened_as_the_description_says(schemes: tuple[SecurityScheme, ...], said: str) -> None:
    opening = changed(opened(), ways_in=ways_in(schemes))
    for status, sentence in (
        (401, f"  Give credentials with {said}."),
        (403, f"  Known but not allowed: try other credentials with {said}."),
    ):
        found = report([started(), opening, progress(statuses=((USERS, status, 100),))])
        assert sentence in list(summary_lines(found, lambda _: "*"))


def test_what_would_open_closed_doors_is_no_warning_of_its_own() -> None:
    opening = changed(opened(), auth_examples=("[auth.openapi.Key] api-key = '...'",))
    refused = progress(statuses=((USERS, 401, 90), (ORDERS, 401, 90)), cases=180)
    found = report([started(), opening, refused])
    lines = list(summary_lines(found, lambda _: "*"))
    tip = "write into checker.toml: [auth.openapi.Key] api-key = '...'"
    assert f"  Or {tip}" in lines
    assert ", 2 warnings in" in total_line(found)
    (group,) = warning_groups(found.notes)
    assert [sorted(labels) for _, labels in group.places] == [sorted((USERS, ORDERS))]
    assert group.advice.endswith(f" Or {tip}")


def test_who_is_known_but_not_allowed_is_not_told_to_give_credentials() -> None:
    found = [*clean_records()[:2], progress(statuses=((USERS, 403, 100),))]
    lines = list(summary_lines(report(found), lambda _: "*"))
    assert (
        "  Known but not allowed: try other credentials with `--auth USER:PASSWORD` or `-H 'Authorization: ...'`."
        in lines
    )


def test_one_mistake_that_is_made_often_is_told_once() -> None:
    kind = WarningKind.MALFORMED_KEYWORD
    notes = [Note(kind, f"GET /{n}", f"#/{n}", f"`type` at #/{n} cannot be") for n in range(3)]
    notes.append(Note(kind, USERS, "#/x", "`enum` at #/x cannot be"))
    assert list(warning_lines(changed(report([]), notes=tuple(notes)))) == [
        "Warnings:",
        "  Keywords that mean nothing: 4",
        "    - `type` at #/0 cannot be (in 3 operations, and in 2 more places)",
        f"    - `enum` at #/x cannot be ({USERS})",
        "",
    ]


def test_a_damaged_file_is_a_warning_of_no_operation() -> None:
    told = report([*clean_records(), Note(DAMAGED, "", "", "j is damaged: why; what is missing")])
    lines = list(summary_lines(told, lambda _: "*"))
    at = lines.index("  Damaged files of the corpus: 1")
    assert lines[at + 1] == "    - j is damaged: why; what is missing"
    assert total_line(told).startswith("No issues found, 1 warning")


def test_opaque_nodes_are_counted_by_pointer() -> None:
    notes = tuple(Note("opaque", f"GET /{n}", "#/a", "pattern") for n in range(3))
    assert list(note_lines(changed(report([]), notes=notes)))[:2] == [
        "1 schema node not understood; generated values may not match",
        "  - #/a: pattern (in 3 operations)",
    ]


def test_long_lists_of_notes_are_cut() -> None:
    notes = tuple(Note("untried", f"GET /{n}", "", "") for n in range(13))
    assert list(note_lines(changed(report([]), notes=notes)))[-2] == "  - and 3 more"


def test_elapsed_time_without_an_end_is_that_of_the_listener() -> None:
    found: list[Record] = [started(), opened(), progress()]
    view = fold((1, record) for record in found)
    assert report_of(view, settings(), "error", 7.0).time.elapsed_s == 7.0


def test_end_of_the_run_tells_its_time() -> None:
    found = [*clean_records()[:-1], RunFinished("r1", AT, "completed", 9.0, (0,) * 5)]
    assert report(found).time.elapsed_s == 9.0


def test_every_kind_of_warning_has_a_title() -> None:
    told_by_workers = {row.name for row in WARNINGS.values() if row.trigger is None}
    others = {DAMAGED, INCOMPLETE, "killed", TRIMMED, "unmatched_filter", "unmatched_parameter"}
    others |= {"unused_server_variable", "other_hosts", "nothing_recalled"}
    others |= {"turned_away", "refresh_stopped", "left_behind", "constants_extraction", SIGNED_UP, SIGN_UP_FAILED}
    others.add(UNDECLARED_AUTH)
    assert told_by_workers == {*WarningKind} | others
    assert all(row.title for row in WARNINGS.values())


def test_failures_that_may_not_show_again_are_told_apart() -> None:
    bound = Binding(Location.PATH, "id", Label("POST /a"), "/id", 0, 1)
    findings = (
        finding(),
        finding(reproduced=False),
        finding(reproduced=False, steps=(Step(Label(USERS), Drawn(()), (bound,)),)),
        finding(title="Other", steps=(Step(Label(USERS), Drawn(()), (bound,)),)),
        finding(title="Other", reproduced=None),
    )
    shown = changed(report(records()), findings=findings)
    lines = list(summary_lines(shown, str))
    assert "  failure Server error: 3 (2 intermittent)" in lines
    assert "  failure Other: 2 (1 was not retried, 1 depends on earlier requests)" in lines
    at = lines.index("Test cases:")
    assert lines[at + 1].endswith("5 unique failures")
    assert lines[at + 2] == (
        "  1 reproduces with one request, 2 intermittent, 1 was not retried, 1 depends on earlier requests"
    )
    assert total_line(shown).startswith("1 bug (5 places, 1 stable), ")


def test_causes_are_counted_by_weight() -> None:
    def found(number: int, severity: str, code: str, cause: str) -> Finding:
        return finding(fingerprint=f"f{number}", severity=severity, code=code, cause=cause)

    crash = [found(number, "critical", "ST101", "crash") for number in range(3)]
    others = [
        found(4, "high", "ST108", "schema"),
        found(5, "medium", "ST204", "allow"),
        found(6, "low", "ST112", "slow"),
    ]
    own = (found(7, "medium", "", "own"), found(8, "medium", "ST901", "assertion"))
    shown = changed(report(records()), findings=(*crash, *others, *own), errors=(), quarantined=(), notes=())
    assert total_line(shown) == "4 bugs, 2 contract deviations (8 places) in 2.00s"


def test_stable_failures_look_as_ever() -> None:
    shown = changed(report(records()), findings=(finding(),) * 3)
    assert "  failure Server error: 3" in summary_lines(shown, str)
    assert total_line(shown).startswith("1 bug (3 places), ")
    assert not any("stable" in line for line in summary_lines(shown, str))


def test_a_phase_that_was_over_before_the_time_was_is_not_said_to_be_cut_off() -> None:
    none = {"cases": 0, "requests": 0, "failed_cases": 0, "statuses": (), "next_index": 0}
    found: list[Record] = [
        started(),
        opened(),
        progress(task="t1", phase="examples", **none),
        progress(task="t2", phase="coverage", failed_cases=0, statuses=((USERS, 200, 9),)),
        progress(task="t3", phase="fuzzing", finished=False),
        progress(task="t4", phase="stateful", finished=False, **none),
    ]
    phases = ("examples", "coverage", "fuzzing", "stateful")
    ran = report(found, "time limit", phases=phases).phases
    reached = "time limit reached"
    assert [one.note for one in ran] == ["nothing to test", "", reached, reached]


def test_a_night_shows_its_discoveries_over_time() -> None:
    found: list[Record] = [
        started("fuzz"),
        finding(at=AT + 50),
        progress(statuses=((USERS, 200, 90),), at=AT + 10),
        progress(task="t2", statuses=((USERS, 500, 1),), at=AT + 3000),
        RunFinished("r1", AT + 7200, "time limit", 7200.0, (0.0,) * 5),
    ]
    steps = "1/1 after 720 s, 1/1 after 1,440 s, 1/2 after 3,600 s, 1/2 after 7,200 s"
    assert report(found, kind="fuzz").discovery.lines == [
        f"Causes of failures/statuses of operations: {steps}",
        "A further hour may show about 0.5 new statuses.",
    ]
    assert not report([started("run"), *found[1:]]).discovery.lines


def test_findings_of_earlier_runs_have_one_result_each() -> None:
    names = ("seen", "tried", "flaky", "later", "fixed", "absent", "removed", "left")
    replays = {
        "tried": CONFIRMED,
        "flaky": FLAKY,
        "later": FIXED,
        "fixed": FIXED,
        "absent": NOT_REPRODUCED,
        "removed": GONE,
    }
    found: list[Record] = [started("fuzz"), OpenFindings(tuple((name, USERS, "Broken") for name in names))]
    found += (FindingReplayed(name, result, AT) for name, result in replays.items())
    found += (finding(fingerprint=name, unique_key=name) for name in ("seen", "later", "first"))
    changes = report(found, kind="fuzz").changes
    assert {name: [one for one, *_ in places] for name, places in changes.found.items()} == {
        "new": ["first"],
        "confirmed": ["seen", "tried"],
        "flaky": ["flaky", "later"],
        "fixed": ["fixed"],
        "not reproduced": ["absent"],
        "gone": ["removed"],
        "not tried": ["left"],
    }
    assert changes.ended == ["fixed: GET /users: Broken", "gone: GET /users: Broken"]
    none = report([started("fuzz"), OpenFindings(())], kind="fuzz").changes.sentence
    assert (none, report([started("fuzz")], kind="fuzz").changes.sentence) == ("No failures since the last run", "")
