"""Which valid requests may be refused for a rule that no description says."""

import pytest

from checker.checks.unwritten_rules import may_break_one
from checker.core.case import Case
from checker.core.meta import CaseMetadata, GenerationMode, PhaseData, PhaseInfo
from checker.core.scenarios import Scenario
from tests.openapi.documents import operation


@pytest.mark.parametrize(
    ("scenario", "is_in_doubt"), [(Scenario.SIGNS, True), (Scenario.STRING, False)]
)
def test_signs_of_other_languages_may_be_refused(scenario: Scenario, is_in_doubt: bool) -> None:
    phase = PhaseInfo("coverage", PhaseData({"scenario": str(scenario)}))
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, phase)
    case = Case(operation({}), "a", query={"q": "("}, meta=meta)
    assert bool(may_break_one(case)) is is_in_doubt
