"""The plugin of pytest: it finds tests of schemas, makes one item for each operation, and shows what failed.

The plugin is loaded wherever `checker` is installed, so it imports the rest of `checker` only when such a test exists.
"""

import sys
import unittest
from collections.abc import Callable, Generator, Iterable
from types import FunctionType
from typing import Any, cast

import pytest

SCHEMA = "_checker_schema"  # Attribute of tests that are for a schema, as `checker.library.decorators` writes it.
PROPERTY_TEST = "_checker_property_test"
"""Attribute of tests of one operation, as `checker.library.property_tests` writes it."""
SEQUENCES = "_checker_sequences"  # Attribute of tests of state machines, as `checker.library.state_machine` writes it.
PENDING = "_checker_pending"
"""Attribute of functions that are collected in place of tests, as `checker.pytest.expansion` writes it."""
GENERATED = "_checker_generated"  # Attribute of functions that the plugin adds beside the test of the user.


_SENT = "checker"  # Name of the data that processes of pytest-xdist send back.
_CALLS: pytest.StashKey[Any] = pytest.StashKey()  # The calls of a session, once it runs a test of a schema.
_HAS_TESTS: pytest.StashKey[bool] = pytest.StashKey()
_CONCLUSIONS: pytest.StashKey[list[str]] = pytest.StashKey()
"""Failures that users' class checks found in the whole session."""
_CRASHED: pytest.StashKey[int] = pytest.StashKey()
"""The number of pytest-xdist processes that ended without reporting anything."""


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item | pytest.Collector] | None:
    """Return an item for each operation of the schema of a test."""
    # Types are compared, because attribute access on some module objects, such as settings of Django, has side effects.
    if issubclass(type(obj), type):
        if issubclass(cast("type[object]", obj), unittest.TestCase):
            # Tests of operations are added beside the test of a schema, where `unittest` finds them.
            case = cast("type[unittest.TestCase]", obj)
            if hasattr(case, SEQUENCES):
                collector.config.stash[_HAS_TESTS] = True
            for method in dir(case):
                function = getattr(case, method)
                marks = getattr(function, "__dict__", {})
                if SCHEMA in marks and method.startswith(unittest.TestLoader.testMethodPrefix):
                    for label, own in _tests(collector.config, function, method):
                        setattr(case, label, own)
                    # Not `delattr`, because the method may belong to a base class.
                    setattr(case, method, _hidden)
        return None
    attributes = obj.__dict__ if type(obj) is FunctionType else {}
    if GENERATED in attributes:
        # A base class has been collected before.
        return []
    if SCHEMA not in attributes or not collector.funcnamefilter(name):
        return None
    found: list[pytest.Item | pytest.Collector] = []
    for own_name, test in _tests(collector.config, obj, name):
        # pytest looks up names here, so fixtures, marks, classes and other plugins work as for any test.
        setattr(collector.obj, own_name, test)
        found += collector._genfunctions(own_name, test)
    return found


class UsualIds:
    """Gives items of operations the ids that pytest reads from their text. `--last-failed` compares these ids."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pycollect_makeitem(self) -> Generator[None, object, object]:
        found = yield
        for item in found if isinstance(found, list) else ():
            own: Any = getattr(item, "_id", None)
            # Since 9.2 an id is a structure; one that ends in brackets is that of a parameter.
            if (_own(item, PENDING) is not None or _own(item, PROPERTY_TEST) is not None) and hasattr(own, "parse"):
                item._id = type(own).parse(str(own))
        return found


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the placeholders for Hypothesis tests as Hypothesis marks its own tests, so that `-m hypothesis` selects them."""
    if _HAS_TESTS in config.stash and config.pluginmanager.has_plugin("hypothesispytest"):
        for item in items:
            if _own(item, PENDING) is not None:
                item.add_marker("hypothesis")


def pytest_configure(config: pytest.Config) -> None:
    """Register the hook that sees all collected items after other plugins."""
    config.pluginmanager.register(UsualIds(), "checker-ids")


def _hidden() -> None:
    """A placeholder for a test whose operations are tested one by one."""


_hidden.__test__ = False  # type: ignore[attr-defined]


def _tests(config: pytest.Config, test: Any, name: str) -> Iterable[tuple[str, Callable[..., Any]]]:
    expansion = _module("checker.pytest.expansion")
    config.stash[_HAS_TESTS] = True
    # The name of the plugin that is built into pytest 9, and of pytest-subtests for earlier versions.
    has_subtests = config.pluginmanager.has_plugin("subtests")
    for own_name, function in expansion.expanded(test, name, has_subtests=has_subtests):
        function.__dict__[GENERATED] = True
        yield own_name, function


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Record all calls from the first test on."""
    stash = session.config.stash
    if _HAS_TESTS in stash and not session.config.option.collectonly:
        stash[_CALLS] = _module("checker.pytest.session").SessionCalls.recording()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Make the Hypothesis test of an operation before it runs, and give it the cases that phases list."""
    __tracebackhide__ = True
    pending = _own(item, PENDING)
    if pending is not None:
        _module("checker.pytest.expansion").take_place(cast("pytest.Function", item), pending)
    property_test = _own(item, PROPERTY_TEST)
    if property_test is not None:
        _module("checker.pytest.expansion").prepare(property_test)
    try:
        return (yield)
    finally:
        if _CALLS in item.config.stash:
            item.config.stash[_CALLS].ended()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show failed checks as the console does, below the line of the user's test."""
    report = yield
    failures = sys.modules.get("checker.core.failures")
    if call.excinfo is not None and report.longrepr is not None and failures is not None:
        _module("checker.pytest.session").show(item, call.excinfo, report)
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Call users' class checks for the last time, and pass the data of reports to the process that writes them."""
    calls = session.config.stash.get(_CALLS, None)
    if calls is None:
        return
    calls.finish()
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_SENT] = calls.sent()
        # Each of several processes has seen only a part of the session, so none can conclude it or write reports.
        del session.config.stash[_CALLS]
        return
    found = session.config.stash[_CONCLUSIONS] = calls.conclusions()
    if found and session.exitstatus in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the records of a process of pytest-xdist."""
    stash = node.config.stash
    if error:
        stash[_CRASHED] = stash.get(_CRASHED, 0) + 1
    sent = getattr(node, "workeroutput", {}).get(_SENT)
    if sent is None:
        return
    if _CALLS not in stash:
        stash[_CALLS] = _module("checker.pytest.session").SessionCalls()
    stash[_CALLS].absorb(sent)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write the reports, and print their paths."""
    calls = config.stash.get(_CALLS, None)
    if calls is None:
        return
    found = config.stash.get(_CONCLUSIONS, [])
    if found or calls.unasked:
        terminalreporter.section("Checks of the whole session")
    for said in found:
        terminalreporter.write_line(said, red=True)
    for name in calls.unasked:
        terminalreporter.write_line(
            f"{name}: `after_run` was not called, since each process of pytest-xdist saw a part"
        )
    command = " ".join(["pytest", *map(str, config.invocation_params.args)])
    lines = list(calls.write(command))
    crashed = config.stash.get(_CRASHED, 0)
    if lines and crashed:
        lines.append(f"Processes that crashed: {crashed}; what they had sent is not in the reports")
    if lines:
        terminalreporter.section("Reports")
    for said in calls.closed():
        terminalreporter.section("Authentication failed")
        terminalreporter.write_line(said, red=True)
    if lines or terminalreporter.stats.get("failed"):
        lines += calls.told_seeds()
    for line in lines:
        terminalreporter.write_line(line)


def _own(item: pytest.Item, attribute: str) -> Any:
    """Return the mark of this plugin on the function of an item, which may be a method; None if there is none."""
    function = getattr(item, "obj", None)
    function = getattr(function, "__func__", function)
    return getattr(function, "__dict__", {}).get(attribute)


def _module(name: str) -> Any:
    __import__(name)
    return sys.modules[name]
