from pathlib import Path

import pytest

from checker.checks.table import BUILT_IN, FAILURES
from checker.core.constraints import Constraint
from checker.core.warning_table import WARNINGS
from checker.corpus.journal import JournalWriter
from checker.corpus.records import DemandHeard, Note, RefusalCounted
from checker.reporting.explain import PAGES, pages_for
from tests.reporting.golden import assert_golden
from tests.reporting.samples import AT, ORDERS, USERS, exchange, finding, interaction, progress, records
from tests.reporting.traffic import Workers

CODES = sorted({kind.code for kind in FAILURES.values() if kind.code})


def test_every_page_is_about_a_code_that_there_is() -> None:
    assert PAGES.keys() <= {*CODES, "ST901"}


@pytest.mark.parametrize("code", CODES)
def test_every_code_can_be_explained(invoke, code: str) -> None:
    shown = invoke("explain", code)
    assert (shown.exit_code, shown.output.splitlines()[0].startswith(f"{code} ")) == (0, True)


@pytest.mark.parametrize("name", ["st103", "103", "ST103"])
def test_case_and_letters_of_a_code_do_not_matter(invoke, name: str) -> None:
    assert_golden("explain_st103", invoke("explain", name).output)


def test_a_check_has_the_pages_of_its_codes() -> None:
    name = "content_type_conformance"
    codes = [kind.code for kind in BUILT_IN[name].failures]
    assert [page[:5] for page in pages_for(name) or []] == codes


@pytest.mark.parametrize("name", [str(row.name) for row in WARNINGS.values()])
def test_every_warning_can_be_explained(invoke, name: str) -> None:
    assert invoke("explain", name).output.startswith(f"{name}: ")


def test_an_unknown_name_suggests_the_nearest(invoke) -> None:
    shown = invoke("explain", "missing_aut")
    assert shown.exit_code == 2
    assert "unknown name 'missing_aut'. Did you mean 'missing_auth'?" in shown.stderr


def test_the_list_names_codes_checks_and_warnings(invoke) -> None:
    lines = invoke("explain", "--list").output.splitlines()
    names = [line.split()[0] for line in lines]
    assert {"ST101", "not_a_server_error", "missing_auth"} <= set(names)


@pytest.fixture
def past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of one run, with the requests to one operation that it keeps."""
    monkeypatch.chdir(tmp_path)
    workers = Workers(tmp_path / ".checker" / "shop")
    writer = JournalWriter(workers.layout.journal(3, 1003))
    demand = Constraint("query", ("limit",), "minimum", "1")
    warned = Note("missing_auth", USERS, "401", "401 in 95% of cases")
    for record in (*records(), DemandHeard(USERS, demand, "fuzzing"), warned):
        writer.write(record)
    writer.close()
    workers.keep(3, interaction(case="a", mode="negative", at=AT))
    workers.keep(3, interaction(case="b", at=AT + 1))
    workers.keep(3, interaction(case="c", at=AT + 2, exchange=exchange(status=204, response_body=b"")))
    workers.keep(3, interaction(case="d", at=AT + 3, label=ORDERS))
    workers.close()
    return workers.layout.root


def test_an_operation_is_explained_by_what_was_tried_and_came_back(invoke, past: Path) -> None:
    shown = invoke("explain", USERS)
    assert shown.exit_code == 0, shown.stderr
    assert_golden("explain_operation", shown.stdout)
    assert invoke("explain", USERS, "--run", str(past)).stdout == shown.stdout


def test_an_operation_that_was_never_reached_is_explained_by_its_most_common_refusal(invoke, past: Path) -> None:
    writer = JournalWriter(Workers(past).layout.journal(4, 1004))
    for label in ("GET /a", "GET /b"):
        writer.write(progress(statuses=((label, 409, 3),), task=f"refused {label}"))
        writer.write(RefusalCounted(label, 409, "configure the service first", 2))
    writer.close()
    shown = invoke("explain", "GET /a").stdout
    assert "Most common refusal: 409 configure the service first: bring the service into the required state" in shown
    assert "The same for GET /b" in shown


def test_a_failure_is_explained_by_its_block_and_its_code(invoke, past: Path) -> None:
    writer = JournalWriter(Workers(past).layout.journal(4, 1004))
    told = finding(fingerprint="9a68c0ffee00aa11", code="ST101", message="Exactly this")
    writer.write(told)
    writer.close()
    for name in ("v1-9a68", "9a68c0ff"):
        shown = invoke("explain", name)
        assert shown.exit_code == 0, shown.stderr
        heading, _, block = shown.stdout.partition("\n")
        assert heading == USERS
        assert "Exactly this" in block
        assert told.investigation.reproduction in block
        assert block.index("ST101 Server error") > block.index("Exactly this")
    shown = invoke("explain", "v1-9a69")
    assert shown.exit_code == 2
    assert "is the id of no failure of the last run; it has v1-" in shown.stderr


def test_an_operation_that_no_run_knows_is_answered_with_the_nearest(invoke, past: Path) -> None:
    shown = invoke("explain", f"{USERS}x")
    assert shown.exit_code == 2
    assert f"had no operation '{USERS}x'. Did you mean {USERS!r}?" in shown.stderr


def test_an_operation_without_a_run_is_one_sentence(invoke) -> None:
    shown = invoke("explain", "GET /users")
    assert (shown.exit_code, "holds no run" in shown.stderr) == (2, True)
