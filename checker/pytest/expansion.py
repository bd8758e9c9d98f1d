"""Expands a test function of a schema into one test function for each operation. Often only a few of thousands run."""

import asyncio
import functools
import inspect
import itertools
import unittest
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Unpack

import pytest
from msgspec import Struct

from checker.core.errors import (
    BudgetSpent,
    CheckerError,
    IncorrectUsage,
    NothingToBreak,
    SerializationError,
    Unsatisfiable,
)
from checker.core.hooks import HookDecorator, HookRegistry, HookScope
from checker.core.operation import BrokenOperation
from checker.core.operation_filter import FilterAttributes, OperationFilter, Predicate
from checker.core.system import later
from checker.kinds.protocol import ApiOperation
from checker.library.decorators import (
    SCHEMA,
    SchemaAuth,
    SchemaDecorators,
    Tested,
    copied,
    given_names,
    refuse_misuse,
    with_schema,
)
from checker.library.schema import LoadedSchema

if TYPE_CHECKING:
    import checker.library.property_tests as property_tests
    import checker.library.recording as recording
    from checker.library.property_tests import PropertyTest
else:
    property_tests = later("checker.library.property_tests")
    recording = later("checker.library.recording")

Test = Callable[..., Any]
PENDING: Final = "_checker_pending"
"""Attribute of the placeholder for a test until it runs, as `checker.pytest.plugin` reads it: its `PendingTest`."""


class PendingTest(Struct, frozen=True):
    """A test of one operation; the operation is read, and the Hypothesis test made, when it runs."""

    test: Test
    schema: LoadedSchema
    read: Callable[[], ApiOperation | BrokenOperation]
    name: str

    def made(self) -> "PropertyTest | str":
        operation = self.read()
        if isinstance(operation, BrokenOperation):
            return f"Schema Error\n\n{operation.error}"
        try:
            return property_tests.property_test(self.test, self.schema, operation, self.name)
        except CheckerError as error:
            return str(error)


def fixture_signature(test: Test) -> inspect.Signature:
    """Return the arguments of a test that pytest gives: all except `case` and those of `schema.given`. Raises `IncorrectUsage`."""
    given = given_names(test)
    own = inspect.signature(test)
    return own.replace(parameters=[one for key, one in own.parameters.items() if key not in given])


def stand_in(pending: PendingTest, signature: inspect.Signature) -> Test:
    """Return the function that pytest collects in place of a test, with its name, marks, place and fixtures. It is never called."""
    found: Test = copied(pending.test)
    found.__dict__["__signature__"] = signature
    found.__dict__[PENDING] = pending
    return found


def fail(message: str) -> NoReturn:
    """Fail the test with a message and no traceback."""
    # This frame is not hidden: pytest 9.2 has a remark below messages all of whose frames are hidden.
    pytest.fail(message, pytrace=False)


def take_place(item: pytest.Function, pending: PendingTest) -> None:
    """Replace the function of a collected item by its Hypothesis test; fail the test if there is none."""
    __tracebackhide__ = True
    made = pending.made()
    if isinstance(made, str):
        fail(made)
    # A rerun of the item makes another Hypothesis test, because this one has its listed cases already.
    made.function.__dict__[PENDING] = pending
    instance = item.instance
    item.obj = made.function if instance is None else MethodType(made.function, instance)
    if isinstance(instance, unittest.TestCase):
        # pytest-django lets the instance find its method, whatever the item has.
        setattr(instance, item.name, item.obj)


def prepare(test: "PropertyTest") -> None:
    """Put the listed cases first; skip or fail a test without any case."""
    __tracebackhide__ = True
    label, reason = test.operation.label, ""
    # The `after_run` of class checks is called at the end of the session, even if no response was judged.
    test.engine.class_checks()
    try:
        test.compile()
        listed = test.add_listed_cases()
    except NothingToBreak as error:
        pytest.skip(f"{label}: there is nothing to violate: {error.reason}")
    except (Unsatisfiable, SerializationError, BudgetSpent) as error:
        reason = f"{label}: {error}"
    # This is outside of `except`, because pytest would show both errors, with equal messages.
    if reason:
        fail(reason)
    if not listed and not test.draws:
        pytest.skip(f"{label}: no enabled phase has a case for it")
    recording.record_test(label, test.seed if test.draws else None)


@dataclass(frozen=True, slots=True)
class LazySchema(SchemaDecorators):
    """A schema that a fixture will provide. Filters and registrations are applied when it is available."""

    fixture: str
    filter: OperationFilter = OperationFilter()  # noqa: RUF009 - frozen
    hooks: HookRegistry = field(default_factory=lambda: HookRegistry(HookScope.SCHEMA))
    auth: SchemaAuth = field(default_factory=SchemaAuth)
    """`@lazy.auth(...)`: a provider for operations of this schema; `@lazy.auth(Provider)`: for one test alone."""

    def include(self, *functions: Predicate, **attributes: Unpack[FilterAttributes]) -> "LazySchema":
        """Return the schema with matching operations only; filters are those of `schema.include`."""
        return replace(self, filter=self.filter.including(*functions, **attributes), hooks=self.hooks.copy())

    def exclude(
        self, *functions: Predicate, deprecated: bool = False, **attributes: Unpack[FilterAttributes]
    ) -> "LazySchema":
        """Return the schema without matching operations; filters are those of `schema.include`."""
        wanted = self.filter.excluding(*functions, deprecated=deprecated, **attributes)
        return replace(self, filter=wanted, hooks=self.hooks.copy())

    @property
    def hook(self) -> HookDecorator:
        """Return the decorator of hooks for operations of this schema alone: `@schema.hook`."""
        return self.hooks.hook

    def resolved(self, value: object) -> LoadedSchema:
        """Return the schema of the fixture with these filters and hooks. Raises `IncorrectUsage`."""
        if not isinstance(value, LoadedSchema):
            raise IncorrectUsage(
                f"the fixture {self.fixture!r} gave {type(value).__name__} {value!r:.80}; it must give a loaded schema"
            )
        return value.extended(self.filter, self.hooks).with_test_auth(self.auth)


def from_fixture(name: str) -> LazySchema:
    """Return the schema of a fixture, which is known when a test runs."""
    if not isinstance(name, str):
        raise IncorrectUsage(f"`from_fixture` takes the name of a fixture, got {name!r}")
    return LazySchema(name)


def parametrize(**schemas: LoadedSchema) -> Callable[[Tested], Tested]:
    """Return a decorator for a test that takes `case`. It makes one test for each operation of each schema: `test_api[users][GET /users]`.

    Raises `IncorrectUsage` for a value that is no loaded schema.
    """
    if not schemas:
        raise IncorrectUsage("`checker.pytest.parametrize` needs at least one schema: `users=...`")
    for name, schema in schemas.items():
        if not isinstance(schema, LoadedSchema):
            raise IncorrectUsage(f"{name!r} must be a loaded schema, got {schema!r:.80}")
    return with_schema(schemas)


class CollectedOutcomes:
    """Replaces the fixture `subtests`."""

    def __init__(self) -> None:
        self._failures: list[Exception] = []
        self._skipped: list[str] = []
        self._count = 0

    @contextmanager
    def test(self, name: str) -> Iterator[None]:
        """Keep the failure of the block for later, with the operation in a note."""
        __tracebackhide__ = True
        self._count += 1
        try:
            yield
        except pytest.skip.Exception as error:
            self._skipped.append(str(error))
        except pytest.fail.Exception as error:
            # Groups of exceptions only accept `Exception`, and this is none.
            self._keep(name, AssertionError(str(error)))
        except Exception as error:  # noqa: BLE001 - an exception in a user's test fails that test
            self._keep(name, error)

    def conclude(self) -> None:
        """Raise all failures as one group; skip if everything was skipped."""
        # This frame is not hidden: pytest 8.4 cannot show a group whose frames are all hidden.
        if self._failures:
            told = f"{len(self._failures)} of {self._count} operations failed"
            raise ExceptionGroup(told, self._failures)
        if len(self._skipped) == self._count:
            pytest.skip("; ".join(dict.fromkeys(self._skipped)))

    def _keep(self, name: str, error: Exception) -> None:
        error.add_note(name)
        self._failures.append(error)


SUBTESTS: Final = "subtests"  # Fixture of pytest 9, and of the plugin pytest-subtests for earlier ones.
NO_OPERATION = "Test function {name} does not match any API operations and therefore has no effect"
NONE_ENABLED = "{name}: the configuration disables all operations of the test"


def expanded(test: Test, name: str, *, has_subtests: bool = True) -> Iterator[tuple[str, Test]]:
    """Yield names and functions of the tests of a function; each is an independent test, or reports an error.

    `has_subtests`: whether pytest or a plugin supports subtests.
    """
    schema = test.__dict__[SCHEMA]
    try:
        refuse_misuse(test)
        signature = fixture_signature(test)
    except CheckerError as error:
        yield name, failing(test, str(error))
        return
    match schema:
        case LazySchema():
            yield name, _lazy(test, schema, name, signature, has_subtests=has_subtests)
        case dict():
            # Of `parametrize` above: schemas by the names in the ids of tests.
            for key, one in schema.items():
                yield from _of_schema(test, one, f"{name}[{key}]", signature)
        case LoadedSchema():
            yield from _of_schema(test, schema, name, signature)
        case _:
            yield name, failing(test, f"{schema!r} is not a loaded schema")


def _of_schema(test: Test, schema: LoadedSchema, name: str, signature: inspect.Signature) -> Iterator[tuple[str, Test]]:
    found = _operations(test, schema, name)
    first = next(found, None)
    if first is None:
        reason = _nothing_tested(schema, name)
        yield name, failing(test, reason or NONE_ENABLED.format(name=name), is_skipped=not reason)
        return
    for pending in itertools.chain([first], found):
        if not inspect.iscoroutinefunction(test):
            yield pending.name, stand_in(pending, signature)
            continue
        # This test needs an event loop, and the plugin for that examines the Hypothesis test at collection.
        made = pending.made()
        yield pending.name, failing(test, made) if isinstance(made, str) else made.function


def _operations(test: Test, schema: LoadedSchema, name: str) -> Iterator[PendingTest]:
    return (PendingTest(test, schema, read, f"{name}[{label}]") for label, read in schema.in_turn())


def _nothing_tested(schema: LoadedSchema, name: str) -> str:
    """Return the error for a test without operations; empty if the configuration allows it."""
    is_mistaken = next(schema.matching_entries(), None) is None
    return NO_OPERATION.format(name=name) if is_mistaken else ""


def _lazy(test: Test, lazy: LazySchema, name: str, signature: inspect.Signature, *, has_subtests: bool) -> Test:
    """Return one test that takes the schema from a fixture and has a subtest for each operation."""
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
                    fail(made)
                _run_alone(made, instance, own)
        if is_empty:
            if reason := _nothing_tested(schema, name):
                fail(reason)
            pytest.skip(NONE_ENABLED.format(name=name))
        if isinstance(subtests, CollectedOutcomes):
            subtests.conclude()

    more = [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY) for one in sorted(wanted)]
    # pytest-asyncio warns about its mark on a function that is no coroutine, as this one.
    return _instead_of(test, run, inspect.Signature([*signature.parameters.values(), *more]), {"asyncio"})


def _run_alone(made: "PropertyTest", instance: tuple[Any, ...], fixtures: dict[str, Any]) -> None:
    """Run a test that no runner has prepared. An asynchronous test gets an event loop for each case."""
    __tracebackhide__ = True
    handle = made.function.hypothesis  # type: ignore[attr-defined]
    inner = handle.inner_test
    if inspect.iscoroutinefunction(inner):

        @functools.wraps(inner)
        def alone(*arguments: Any, **named: Any) -> None:
            asyncio.run(inner(*arguments, **named))

        handle.inner_test = alone
    prepare(made)
    made.function(*instance, **fixtures)


def failing(test: Test, message: str, *, is_skipped: bool = False) -> Test:
    """Return a test that fails with a message, or is skipped, in place of another one. It takes no fixtures: some may not exist."""

    def tell(*instance: Any) -> None:
        __tracebackhide__ = True
        if is_skipped:
            pytest.skip(message)
        fail(message)

    return _instead_of(test, tell, inspect.Signature(), {"asyncio", "parametrize"})


def _instead_of(test: Test, function: Test, signature: inspect.Signature, without: Container[str]) -> Test:
    """Return a function with these arguments, and with the name and the marks of a test `without` those of some names."""
    found = functools.wraps(test, updated=())(function)
    del found.__wrapped__
    marks = list(getattr(test, "pytestmark", ()))
    found.__dict__["pytestmark"] = [mark for mark in marks if mark.name not in without]
    found.__signature__ = signature  # type: ignore[attr-defined]
    return found
