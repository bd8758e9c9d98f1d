"""The table of checks and the page that users read say the same."""

from pathlib import Path

import pytest

import checker
from checker.checks.check import Check
from checker.checks.table import BUILT_IN, TABLE

PAGE = Path(checker.__file__).parent.parent / "docs" / "checks.md"


def documented() -> dict[str, str]:
    """Name of a check -> its row on the page."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {line.split("`")[1]: line for line in rows}


@pytest.mark.parametrize("check", BUILT_IN.values(), ids=list(BUILT_IN))
def test_each_check_is_on_the_page_with_its_failures_and_settings(check: Check) -> None:
    row = documented()[check.name]
    for kind in check.failures:
        assert f"`{kind.__name__}` {kind.code}".rstrip() in row
    for setting in check.settings:
        assert f"`{setting.name}`" in row


def test_kinds_of_failures_are_known_to_users_by_their_names() -> None:
    for check in BUILT_IN.values():
        for kind in check.failures:
            assert getattr(checker.errors, kind.__name__) is kind
    assert not hasattr(checker.errors, "NoSuchFailure")


def test_a_code_belongs_to_one_check_or_to_one_idea_of_several() -> None:
    codes = [(kind.code, check.name) for check in TABLE for kind in check.failures if kind.code]
    shared = {code for code, _ in codes if len({name for one, name in codes if one == code}) > 1}
    # What breaks a schema has one code, wherever the schema stands, and what is not stored has one, whoever reads it.
    assert shared == {"ST108", "ST303"}
