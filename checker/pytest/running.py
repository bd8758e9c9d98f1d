"""Preparation of the Hypothesis test of an operation."""

from types import MethodType

import pytest

from checker.core.errors import BudgetSpent, NothingToBreak, SerializationError, Unsatisfiable
from checker.library.property_tests import PropertyTest
from checker.library.recording import record_seed
from checker.pytest.pending import PENDING, PendingTest


def take_place(item: pytest.Function, pending: PendingTest) -> None:
    """Put the Hypothesis test in the place of what was collected for it; fail where there is none."""
    __tracebackhide__ = True
    made = pending.made()
    if isinstance(made, str):
        pytest.fail(made, pytrace=False)
    # Where the item is to run once more, another one is made: it must not have these listed cases already.
    made.function.__dict__[PENDING] = pending
    instance = item.instance
    item.obj = made.function if instance is None else MethodType(made.function, instance)


def prepare(test: PropertyTest) -> None:
    """Put the listed cases first; skip or fail a test without any case."""
    __tracebackhide__ = True
    label, reason = test.operation.label, ""
    try:
        test.compile()
        listed = test.add_listed_cases()
    except NothingToBreak as error:
        pytest.skip(f"{label}: there is nothing to violate: {error.reason}")
    except (Unsatisfiable, SerializationError, BudgetSpent) as error:
        reason = f"{label}: {error}"
    # Outside of `except`: pytest would tell both errors, with the same words.
    if reason:
        pytest.fail(reason, pytrace=False)
    if not listed and not test.draws:
        pytest.skip(f"{label}: no enabled phase has a case for it")
    if test.draws:
        record_seed(test.seed)
