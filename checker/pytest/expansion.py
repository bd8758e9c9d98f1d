"""From a test function of a schema to one test function for each operation."""

import asyncio
import functools
import inspect
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from checker.core.errors import CheckerError
from checker.core.later import later
from checker.library.parametrized import SCHEMA
from checker.library.schema import LoadedSchema
from checker.library.tested_functions import refuse_misuse
from checker.pytest.collected import CollectedOutcomes
from checker.pytest.lazy import LazySchema
from checker.pytest.pending import PendingTest, Test, fixture_signature, stand_in
from checker.pytest.several import SeveralSchemas

if TYPE_CHECKING:
    import checker.pytest.running as running
    from checker.library.property_tests import PropertyTest
else:
    running = later("checker.pytest.running")

SUBTESTS: Final = "subtests"
"""Fixture of pytest 9, and of the plugin pytest-subtests for earlier ones."""
NO_OPERATION = "Test function {name} does not match any API operations and therefore has no effect"
NONE_ENABLED = "{name}: the configuration disables all operations of the test"


def expanded(test: Test, name: str, *, has_subtests: bool = True) -> Iterator[tuple[str, Test]]:
    """Names and functions of the tests of a function; each is a test of its own, or says what is wrong.

    `has_subtests` is whether pytest, or a plugin, knows subtests.
    """
    schema = test.__dict__[SCHEMA]
    try:
        refuse_misuse(test)
    except CheckerError as error:
        yield name, failing(test, str(error))
        return
    match schema:
        case LazySchema():
            yield name, _lazy(test, schema, name, has_subtests=has_subtests)
        case SeveralSchemas(named):
            for key, one in named.items():
                yield from _of_schema(test, one, f"{name}[{key}]")
        case LoadedSchema():
            yield from _of_schema(test, schema, name)
        case _:
            yield name, failing(test, f"{schema!r} is not a loaded schema")


def _of_schema(test: Test, schema: LoadedSchema, name: str) -> Iterator[tuple[str, Test]]:
    found = _operations(test, schema, name)
    first = next(found, None)
    if first is None:
        reason = _nothing_tested(schema, name)
        yield (
            name,
            failing(test, reason) if reason else skipping(test, NONE_ENABLED.format(name=name)),
        )
        return
    try:
        signature = fixture_signature(test)
    except CheckerError as error:
        yield name, failing(test, str(error))
        return
    for pending in itertools.chain([first], found):
        yield pending.name, _collected(pending, signature)


def _collected(pending: PendingTest, signature: inspect.Signature) -> Test:
    """What pytest collects: the Hypothesis test itself only where an event loop has to be found for it."""
    if not pending.is_asynchronous:
        return stand_in(pending, signature)
    made = pending.made()
    return failing(pending.test, made) if isinstance(made, str) else made.function


def _operations(test: Test, schema: LoadedSchema, name: str) -> Iterator[PendingTest]:
    """Tests of the operations."""
    for label, read in schema.in_turn():
        yield PendingTest(test, schema, read, f"{name}[{label}]")


def _nothing_tested(schema: LoadedSchema, name: str) -> str:
    """Why it is a mistake that a test has no operation; empty where the configuration wants it so."""
    is_mistaken = next(schema.matching_entries(), None) is None
    return NO_OPERATION.format(name=name) if is_mistaken else ""


def _lazy(test: Test, lazy: LazySchema, name: str, *, has_subtests: bool) -> Test:
    """One test that takes the schema from a fixture and has a subtest for each operation."""
    needed = {lazy.fixture, SUBTESTS} if has_subtests else {lazy.fixture}
    wanted = needed - set(inspect.signature(test).parameters)

    def run(*instance: Any, **fixtures: Any) -> None:
        __tracebackhide__ = True
        schema = lazy.resolved(fixtures[lazy.fixture])
        subtests = fixtures[SUBTESTS] if has_subtests else CollectedOutcomes()
        own = {key: value for key, value in fixtures.items() if key not in wanted}
        is_empty = True
        for pending in _operations(test, schema, name):
            is_empty = False
            with subtests.test(pending.name):
                made = pending.made()
                if isinstance(made, str):
                    pytest.fail(made, pytrace=False)
                _run_alone(made, instance, own)
        if is_empty:
            reason = _nothing_tested(schema, name)
            if reason:
                pytest.fail(reason, pytrace=False)
            pytest.skip(NONE_ENABLED.format(name=name))
        if isinstance(subtests, CollectedOutcomes):
            subtests.conclude()

    found = _instead_of(test, run)
    signature = inspect.signature(found)
    more = [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY) for one in sorted(wanted)]
    found.__signature__ = inspect.Signature([*signature.parameters.values(), *more])  # type: ignore[attr-defined]
    return found


def _run_alone(made: "PropertyTest", instance: tuple[Any, ...], fixtures: dict[str, Any]) -> None:
    """Run a test that no runner has prepared; what is asynchronous has an event loop for each case."""
    __tracebackhide__ = True
    handle = made.function.hypothesis  # type: ignore[attr-defined]
    inner = handle.inner_test
    if inspect.iscoroutinefunction(inner):

        @functools.wraps(inner)
        def alone(*arguments: Any, **named: Any) -> None:
            asyncio.run(inner(*arguments, **named))

        handle.inner_test = alone
    running.prepare(made)
    made.function(*instance, **fixtures)


def failing(test: Test, message: str) -> Test:
    """A test that fails with a message, with the marks and fixtures of another one."""

    def fail(*arguments: Any, **fixtures: Any) -> None:
        __tracebackhide__ = True
        pytest.fail(message, pytrace=False)

    return _instead_of(test, fail)


def skipping(test: Test, message: str) -> Test:
    """A test that is skipped with a message, with the marks and fixtures of another one."""

    def skip(*arguments: Any, **fixtures: Any) -> None:
        __tracebackhide__ = True
        pytest.skip(message)

    return _instead_of(test, skip)


def _instead_of(test: Test, function: Test) -> Test:
    """The function under the name, marks and arguments of a test; what Hypothesis would give is no argument."""
    found = functools.wraps(test, updated=())(function)
    del found.__wrapped__
    marks = list(getattr(test, "pytestmark", ()))
    # pytest-asyncio warns of its mark above what is no coroutine, as the function in its place is none.
    found.__dict__["pytestmark"] = [mark for mark in marks if mark.name != "asyncio"]
    try:
        signature = fixture_signature(test)
    except CheckerError:
        # It fails, and says so: it needs no arguments for that.
        signature = inspect.Signature()
    found.__signature__ = signature  # type: ignore[attr-defined]
    return found
