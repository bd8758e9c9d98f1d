"""Failed checks in the report of a test: the line of the user's test, and below it the text of the console."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from checker.core.failures import FailureGroup

_NUMBER: Final = re.compile(r"\A\d+\. ")


class ChecksFailed(AssertionError):
    """Replaces groups of failures, which pytest would show as plain text with every frame."""


def show(item: pytest.Item, excinfo: pytest.ExceptionInfo[Any], report: pytest.TestReport) -> None:
    """Put failed checks into a report; anything else stays as it is."""
    groups = list(_groups(excinfo.value))
    if not groups:
        return
    blocks = [_NUMBER.sub(f"{number}. ", one.text) for number, one in enumerate(groups, 1)]
    count = sum(len(one.exceptions) for one in groups)
    heading = f"checker found {count} distinct failures" if count > 1 else "checker found 1 failure"
    told = ChecksFailed("\n\n".join([heading, *blocks]))
    for note in dict.fromkeys(note for one in groups for note in getattr(one, "__notes__", ())):
        told.add_note(note)
    where = groups[0].raised_for or excinfo.tb
    shown = pytest.ExceptionInfo.from_exc_info((ChecksFailed, told, where))
    style = item.config.getoption("tbstyle", "auto")
    report.longrepr = shown.getrepr(
        style="long" if style == "auto" else style,
        showlocals=bool(item.config.getoption("showlocals", False)),
        tbfilter=False,
    )
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        # The summary and JUnit show one line of it.
        crash.message = ", ".join(dict.fromkeys(one.title for group in groups for one in group.exceptions))


def _groups(error: BaseException) -> Iterator[FailureGroup]:
    """Yield the groups of failures in the exception of a test; nothing if it contains another exception."""
    found: list[FailureGroup] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, FailureGroup):
            found.append(one)
        elif isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        else:
            return
    seen: set[tuple[tuple[str, str, str], ...]] = set()
    for group in found:
        key = tuple((one.check, one.unique_key, one.text) for one in group.exceptions)
        if key not in seen:
            seen.add(key)
            yield group
