"""Boundary cases of real operations, written to bytes and judged by the referee, who shares nothing with the generator."""

from pathlib import Path

import pytest

from checker.core.contract import Outcome
from checker.core.operation import Location
from checker.core.request import BaseUrl
from checker.generation.boundaries.cases import BoundaryCase
from checker.generation.boundaries.operations import OperationEdges
from checker.generation.boundaries.values import Scenario
from checker.generation.program import GenerationSettings
from checker.transport.prepare import RequestMaker
from tests.measuring.corpora import operations

SMOKE = Path(__file__).parent.parent.parent / "data" / "smoke"
FILES = sorted(path for path in SMOKE.iterdir() if path.suffix != ".md")
ORIGIN = BaseUrl("http", "127.0.0.1", 80, "/base")
OPERATIONS = 8
CASES = 40
BEYOND_THE_SCHEMA = frozenset(
    (Scenario.UNSPECIFIED_METHOD, Scenario.MALFORMED_CONTENT_TYPE, Scenario.UNSUPPORTED_CONTENT_TYPE)
)


def _is_about_a_schema(case: BoundaryCase) -> bool:
    is_extra = case.scenario is Scenario.UNEXPECTED_PROPERTIES and case.location is not Location.BODY
    # Whoever judges data knows nothing of credentials.
    is_secret = "/security" in (case.pointer or "").lower()
    return case.scenario not in BEYOND_THE_SCHEMA and not is_extra and not is_secret


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.thorough_beyond(1)
def test_the_referee_agrees_on_every_case(path: Path) -> None:
    for operation in list(operations(path))[:OPERATIONS]:
        maker = RequestMaker(ORIGIN, version="1")
        cases = list(OperationEdges(operation, GenerationSettings()).cases())
        for boundary in cases[:: max(1, len(cases) // CASES)]:
            if not _is_about_a_schema(boundary):
                continue
            request = maker.make(boundary.case(operation, "c"))
            outcome = operation.judge_request(request, base_path="/base").outcome
            wrong = Outcome.VALID if boundary.mode.is_negative else Outcome.INVALID
            assert outcome is not wrong, (operation.label, boundary.description, request.target)
