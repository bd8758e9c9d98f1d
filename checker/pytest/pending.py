"""Tests of operations that are made when they run, because of thousands of collected tests often only a few run."""

import inspect
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec import Struct

from checker.core.errors import BudgetSpent, CheckerError, NothingToBreak, SerializationError, Unsatisfiable
from checker.core.operation import BrokenOperation
from checker.core.system import later
from checker.kinds.protocol import ApiOperation
from checker.library.decorators import copied, given_names
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
"""Attribute of what stands for a test until it runs, as `checker.pytest.plugin` reads it: its `PendingTest`."""


class PendingTest(Struct, frozen=True):
    """A test of one operation; the operation is read, and the Hypothesis test made, when it runs."""

    test: Test
    schema: LoadedSchema
    read: Callable[[], ApiOperation | BrokenOperation]
    name: str

    def made(self) -> "PropertyTest | str":
        """Return the Hypothesis test, or the reason why there is none."""
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


def take_place(item: pytest.Function, pending: PendingTest) -> None:
    """Replace the function of a collected item by its Hypothesis test; fail the test if there is none."""
    __tracebackhide__ = True
    made = pending.made()
    if isinstance(made, str):
        pytest.fail(made, pytrace=False)
    # A rerun of the item makes another Hypothesis test, because this one has its listed cases already.
    made.function.__dict__[PENDING] = pending
    instance = item.instance
    item.obj = made.function if instance is None else MethodType(made.function, instance)


def prepare(test: "PropertyTest") -> None:
    """Put the listed cases first; skip or fail a test without any case."""
    __tracebackhide__ = True
    label, reason = test.operation.label, ""
    # Their `after_run` is called at the end of the session, also if no response was judged.
    test.engine.class_checks()
    try:
        test.compile()
        listed = test.add_listed_cases()
    except NothingToBreak as error:
        pytest.skip(f"{label}: there is nothing to violate: {error.reason}")
    except (Unsatisfiable, SerializationError, BudgetSpent) as error:
        reason = f"{label}: {error}"
    # Outside of `except`: pytest would show both errors, with equal messages.
    if reason:
        pytest.fail(reason, pytrace=False)
    if not listed and not test.draws:
        pytest.skip(f"{label}: no enabled phase has a case for it")
    recording.record_test(label, test.seed if test.draws else None)
