"""Workers that hold while somebody looks why the target serves nobody."""

from pathlib import Path

from msgspec.structs import replace

from checker.workers.context import Activity, TimeAccounting
from checker.workers.messages import OutageAction, OutageOrder
from tests.workers.harness import TASK, run, workplace


def test_a_worker_that_holds_waits_and_is_not_idle(tmp_path: Path) -> None:
    now, waited = 0.0, list[Activity]()
    with workplace(tmp_path) as place:
        place.ledger = ledger = TimeAccounting(lambda: now)

        def noted() -> None:
            nonlocal now
            ledger.take()
            now += 1.0
            waited.append(Activity(ledger.take().index(1.0)))

        later = (OutageOrder(OutageAction.HOLD, 1), OutageOrder(OutageAction.RESUME, 1))
        run(place, replace(TASK, phase="fuzzing"), drained_after=20, later=later, each_wait=noted)
    assert waited[:2] == [Activity.IDLE, Activity.WAIT]
