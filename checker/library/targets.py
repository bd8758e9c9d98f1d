"""Leads Hypothesis to larger values of metrics (`generation.maximize`)."""

from collections.abc import Sequence

import hypothesis
from hypothesis.errors import InvalidArgument

from checker.core.case import Case
from checker.core.metrics import observed
from checker.core.response import Response


def pursue(case: Case, response: Response, names: Sequence[str]) -> None:
    """Tell Hypothesis what an exchange came to, where a test of its runs. Raises `MetricError`, `IncorrectUsage`."""
    if not names or not hypothesis.currently_in_test_context():
        return
    for name, value in observed(names, case, response).items():
        try:
            hypothesis.target(value, label=f"{name} of {case.operation.label}")
        except InvalidArgument:
            # A test that sends several requests has told of its first one: one number for each label is taken.
            continue
