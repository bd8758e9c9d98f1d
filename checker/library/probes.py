"""The choice of responses of a user's test that get probes, for checks that probe each operation once (`Check.probes`)."""

import os
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, field

from checker.checks.context import JudgedInteraction
from checker.checks.judge import Judge, Judgement
from checker.core.case import Case
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.phases.attempt import drive

_CURRENT_TEST: Final = "PYTEST_CURRENT_TEST"
"""Variable of the environment in which pytest names the test that runs."""


class TestProbes(Struct):
    """Probes the first success of each operation in each test; without pytest, of each operation of a loaded schema.

    An operation whose probe failed is probed every time from then on: Hypothesis runs a failing example again, and reports a
    flaky test if it passes.
    """

    _test: str = ""
    _failed: dict[Label, bool] = field(default_factory=dict)
    """Operation -> whether a probe of it failed."""

    def judged(
        self,
        judge: Judge,
        about: tuple[Case, Response, Sequence[JudgedInteraction]],
        send: Callable[[WireRequest], Outcome],
    ) -> Judgement:
        """Return what the checks say of a response; they send their requests by `send`."""
        case, response, _ = about
        test, label, sent = (
            os.environ.get(_CURRENT_TEST, ""),
            case.operation.label,
            response.request,
        )
        if test != self._test:
            self._test, self._failed = test, {}
        is_probed = self._failed.get(label, True) and bool(judge.probes(*about))
        if sent is not None:
            sent.is_probed = is_probed
        said: Judgement = drive(judge.judge(*about), send)
        if is_probed:
            has_failed = any(one.request is not None for one in said.failures)
            self._failed[label] = self._failed.get(label, False) or has_failed
        return said
