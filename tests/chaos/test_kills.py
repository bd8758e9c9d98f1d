"""Whoever is killed, and whenever: what was on record is in the report, once, and nobody is left behind.

`python -m benchmarks.chaos` does the same for longer, at every stage.
"""

import pytest

from checker.corpus.inflight import Stage
from tests.apps.serving import serving
from tests.chaos import evidence, target
from tests.chaos.killing import Campaign, kill_supervisors, kill_workers
from tests.e2e.runner import Command

OPERATIONS = 12
INTERRUPTED = 130
NOTHING = (0, 0, 0)


def _costs(campaign: Campaign) -> list[tuple[int, int, int]]:
    """(lost, told twice, left behind) of each kill, of a campaign that found something and whose report is whole."""
    ran = campaign.ran
    assert ran is not None
    assert ran.code == INTERRUPTED, ran.shown
    assert "Traceback" not in ran.shown
    assert len(campaign.seen) > 3
    assert campaign.orphans == 0
    # Not only what was seen at a kill: the report tells everything that is on record, once.
    told = evidence.reported(ran.stdout)
    assert sorted(told.elements()) == sorted(evidence.findings(campaign.corpus).values())
    return [(kill.lost, kill.duplicated, kill.orphans) for kill in campaign.kills]


def test_killed_workers_cost_no_finding(command: Command) -> None:
    stages = (Stage.SHRINK, Stage.SEND, Stage.RECORD, Stage.CONFIRM, Stage.MAKE)
    with serving(target.defective(pause_s=0.005), target.document(OPERATIONS)) as api:
        campaign = kill_workers(command, api.document_url, stages, seed=1)
    assert _costs(campaign) == [NOTHING] * len(stages)


@pytest.mark.thorough
def test_killed_supervisors_cost_no_finding_and_leave_nobody_behind(command: Command) -> None:
    stages = (Stage.SHRINK, Stage.JUDGE, Stage.CONFIRM)
    with serving(target.defective(pause_s=0.005), target.document(OPERATIONS)) as api:
        campaign = kill_supervisors(command, api.document_url, stages, seed=2)
    assert _costs(campaign) == [NOTHING] * len(stages)
