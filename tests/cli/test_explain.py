import pytest

from checker.checks.table import BUILT_IN, FAILURES
from checker.core.warning_table import warning_rows
from checker.reporting.explanations import PAGES, pages_for
from tests.reporting.golden import assert_golden

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


@pytest.mark.parametrize("name", [str(row.name) for row in warning_rows()])
def test_every_warning_can_be_explained(invoke, name: str) -> None:
    assert invoke("explain", name).output.startswith(f"{name}: ")


def test_an_unknown_name_suggests_the_nearest(invoke) -> None:
    shown = invoke("explain", "missing_aut")
    assert shown.exit_code == 2
    assert "nobody knows 'missing_aut'. Did you mean 'missing_auth'?" in shown.stderr


def test_the_list_names_codes_checks_and_warnings(invoke) -> None:
    lines = invoke("explain", "--list").output.splitlines()
    names = [line.split()[0] for line in lines]
    assert {"ST101", "not_a_server_error", "missing_auth"} <= set(names)
