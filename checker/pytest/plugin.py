"""The plugin of pytest: it finds tests of schemas, makes one item for each operation, and shows what failed.

It is loaded wherever `checker` is installed, so it imports nothing of it before there is such a test.
"""

import sys
import unittest
from collections.abc import Callable, Generator, Iterable
from types import FunctionType
from typing import Any, cast

import pytest

SCHEMA = "_checker_schema"
"""Attribute of tests that are for a schema, as `checker.library.parametrized` writes it."""
PROPERTY_TEST = "_checker_property_test"
"""Attribute of tests of one operation, as `checker.library.property_tests` writes it."""
GENERATED = "_checker_generated"
"""Attribute of what was put beside the test of the user."""


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item | pytest.Collector] | None:
    """One item for each operation of the schema of a test."""
    # By their types: some objects of modules, such as settings of Django, do work when they are asked for anything.
    if issubclass(type(obj), type):
        if issubclass(cast("type[object]", obj), unittest.TestCase):
            _expand_methods(cast("type[unittest.TestCase]", obj))
        return None
    attributes = obj.__dict__ if type(obj) is FunctionType else {}
    if GENERATED in attributes:
        # A base class has been collected before.
        return []
    if SCHEMA not in attributes or not collector.funcnamefilter(name):
        return None
    found: list[pytest.Item | pytest.Collector] = []
    for own_name, test in _tests(obj, name):
        # Where names are looked up by pytest: so fixtures, marks, classes and other plugins work as for any test.
        setattr(collector.obj, own_name, test)
        found += collector._genfunctions(own_name, test)
    return found


class UsualIds:
    """Gives items of operations the ids that pytest reads from their text, which `--last-failed` compares."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pycollect_makeitem(self) -> Generator[None, object, object]:
        """Also what other plugins made of our items."""
        found = yield
        for item in found if isinstance(found, list) else ():
            own: Any = getattr(item, "_id", None)
            # Since 9.2 an id is a structure; one that ends in brackets is that of a parameter.
            if _property_test(item) is not None and hasattr(own, "parse"):
                item._id = type(own).parse(str(own))
        return found


def pytest_configure(config: pytest.Config) -> None:
    """Look at all that is collected, after other plugins."""
    config.pluginmanager.register(UsualIds(), "checker-ids")


def _expand_methods(case: type[unittest.TestCase]) -> None:
    """Put tests of operations beside those of a schema; `unittest` finds them."""
    for name in dir(case):
        test = getattr(case, name)
        attributes = getattr(test, "__dict__", {})
        if SCHEMA in attributes and name.startswith(unittest.TestLoader.testMethodPrefix):
            for own_name, own in _tests(test, name):
                setattr(case, own_name, own)
            # Not `delattr`: it may be a base class's.
            setattr(case, name, _hidden)


def _hidden() -> None:
    """Stands for a test whose operations are tested one by one."""


_hidden.__test__ = False  # type: ignore[attr-defined]


def _tests(test: Any, name: str) -> Iterable[tuple[str, Callable[..., Any]]]:
    """Names and functions of the items of a test."""
    expansion = _module("checker.pytest.expansion")
    for own_name, function in expansion.expanded(test, name):
        function.__dict__[GENERATED] = True
        yield own_name, function


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Give the Hypothesis test of an operation the cases that phases list, before it runs."""
    __tracebackhide__ = True
    property_test = _property_test(item)
    if property_test is not None:
        _module("checker.pytest.running").prepare(property_test)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show failed checks as the console does, below the line of the user's test."""
    report = yield
    failures = sys.modules.get("checker.core.failures")
    if call.excinfo is not None and report.longrepr is not None and failures is not None:
        _module("checker.pytest.failures").show(item, call.excinfo, report)
    return report


def _property_test(item: pytest.Item) -> Any:
    function = getattr(item, "obj", None)
    return getattr(function, "__dict__", {}).get(PROPERTY_TEST) or getattr(
        getattr(function, "__func__", None), PROPERTY_TEST, None
    )


def _module(name: str) -> Any:
    __import__(name)
    return sys.modules[name]
