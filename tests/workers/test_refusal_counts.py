"""Refusals of valid cases are counted by operation and reason."""

from types import SimpleNamespace
from typing import cast

import pytest

from checker.checks.judge import UNJUDGED
from checker.core.case import Case
from checker.core.operation import BrokenOperation
from checker.core.response import Response
from checker.corpus.secrets import Secrets
from checker.phases.attempt import Verdict
from checker.workers.observer_table import Refusals
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.task_state import InFlight
from tests.openapi.documents import opened


@pytest.mark.parametrize(
    ("statuses", "counted"),
    [([303, 304], []), ([303, 400], [400]), ([400, 400], [400, 400]), ([200, 400], []), ([503], [503])],
)
def test_refusals_begin_at_status_400(statuses: list[int], counted: list[int]) -> None:
    schema = opened("3.0.3", {"/a": {"get": {"responses": {"default": {"description": ""}}}}})
    (operation,) = schema.get_all_operations()
    assert not isinstance(operation, BrokenOperation)
    case = Case(operation, "c")
    flight = cast("InFlight", SimpleNamespace(made=SimpleNamespace(label=operation.label, case=case)))
    refusals = Refusals(cast("Recorder", SimpleNamespace(secrets=Secrets())))
    verdicts = [Verdict(case, None, Response(status, [], b""), UNJUDGED) for status in statuses]
    assert [one.status for verdict in verdicts for one in refusals.saw(flight, verdict)] == counted
