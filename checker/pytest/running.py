"""What happens before the Hypothesis test of an operation runs."""

import pytest

from checker.core.errors import BudgetSpent, NothingToBreak, SerializationError, Unsatisfiable
from checker.library.property_tests import PropertyTest


def prepare(test: PropertyTest) -> None:
    """Have the listed cases come first; skip or fail where there are no cases at all."""
    __tracebackhide__ = True
    label = test.operation.label
    try:
        test.compile()
        listed = test.add_listed_cases()
    except NothingToBreak as error:
        pytest.skip(f"{label}: there is nothing to violate: {error.reason}")
    except (Unsatisfiable, SerializationError, BudgetSpent) as error:
        pytest.fail(f"{label}: {error}", pytrace=False)
    if not listed and not test.draws:
        pytest.skip(f"{label}: no enabled phase has a case for it")
