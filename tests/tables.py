"""With `--tables`, a parametrized test is one item that runs all its rows and names those that fail.

An item costs 2 CPU-ms with three processes: each collects it, and its reports travel between them. Most rows cost less.
A test stays several items if a fixture is made anew for each of them, or if marks of its rows say so.
"""

import functools
import inspect
import itertools
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest

Row = dict[str, Any]  # Arguments of one call of a test.
APART = {"thorough_beyond", "xfail", "usefixtures"}
"""Marks that speak of each item."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tables", action="store_true", help="Run all rows of a parametrized test as one item.")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> pytest.Item | None:
    """Make one item of a table; None: pytest makes its items."""
    is_asked = isinstance(collector, pytest.Module) and collector.config.getoption("tables")
    if not is_asked or not name.startswith("test_") or not inspect.isfunction(obj):
        return None
    rows = _rows(obj)
    if not rows or hasattr(obj, "is_hypothesis_test"):
        return None
    item = pytest.Function.from_parent(collector, name=name, callobj=_table(obj, rows))
    info = item._fixtureinfo
    found = [definitions[-1] for definitions in info.name2fixturedefs.values()]
    are_shared = not any(one.scope == "function" or one.params for one in found) and "request" not in info.argnames
    return item if are_shared else None


def _table(test: Callable[..., None], rows: list[Row]) -> Callable[..., None]:
    """Return the test that runs all rows, whichever fail."""

    @functools.wraps(test)
    def table(**fixtures: Any) -> None:
        failures: list[BaseException] = []
        skipped = []
        for row in rows:
            try:
                test(**row, **fixtures)
            except pytest.skip.Exception as skip:
                skipped.append(f"{row!r:.200}: {skip}")
            except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001  # A row may fail in any way.
                failure.add_note(f"row: {row!r:.2000}")
                failures.append(failure)
        if failures:
            raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} rows failed", failures)
        if skipped:
            pytest.skip("; ".join(skipped))

    signature = inspect.signature(test)
    fixtures = [one for name, one in signature.parameters.items() if name not in rows[0]]
    table.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
    return table


def _rows(test: Any) -> list[Row]:
    """Return the rows of a parametrized test; none if its items stay apart."""
    marks = getattr(test, "pytestmark", [])
    if any(mark.name in APART for mark in marks):
        return []
    parts = [list(_rows_of_mark(mark)) for mark in marks if mark.name == "parametrize"]
    rows = itertools.product(*parts) if parts else ()
    return [{name: value for part in row for name, value in part.items()} for row in rows]


def _rows_of_mark(mark: pytest.Mark) -> Iterator[Row]:
    """Yield the rows of one `parametrize`; none if its rows have marks or go through fixtures."""
    names, values = mark.args if len(mark.args) == 2 else ((), ())
    # An iterator can be read only once.
    if mark.kwargs.keys() - {"ids"} or not isinstance(values, Collection):
        return
    sets = [one for one in values if isinstance(one, type(pytest.param()))]
    if any(one.marks for one in sets):
        return
    several = not isinstance(names, str) or "," in names
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    for one in values:
        row = one.values if isinstance(one, type(pytest.param())) else one if several else (one,)
        yield dict(zip(keys, row, strict=True))
