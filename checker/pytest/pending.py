"""Tests of operations that are made when their turn comes: of thousands that are collected, often a few run."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from checker.core.errors import CheckerError
from checker.core.operation import BrokenOperation
from checker.core.system import later
from checker.kinds.protocol import ApiOperation
from checker.library.decorators import copied, given_names
from checker.library.schema import LoadedSchema

if TYPE_CHECKING:
    import checker.library.property_tests as property_tests
    from checker.library.property_tests import PropertyTest
else:
    property_tests = later("checker.library.property_tests")

Test = Callable[..., Any]
PENDING: Final = "_checker_pending"
"""Attribute of what stands for a test until it runs, as `checker.pytest.plugin` reads it: its `PendingTest`."""


class PendingTest(Struct, frozen=True):
    """A test of one operation; the operation is read, and the Hypothesis test made, when it runs."""

    test: Test
    schema: LoadedSchema
    read: Callable[[], ApiOperation | BrokenOperation]
    name: str

    @property
    def is_asynchronous(self) -> bool:
        """Whether the test runs on an event loop, whose plugin looks at the Hypothesis test at collection."""
        return inspect.iscoroutinefunction(self.test)

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
