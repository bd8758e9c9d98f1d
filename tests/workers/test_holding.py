"""Workers that hold while somebody looks why the target serves nobody."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from checker.workers.messages import OutageAction, OutageOrder
from checker.workers.outages.health import TargetHealth
from checker.workers.time_accounting import Activity, TimeAccounting
from tests.workers.harness import TASK, run, workplace


def test_who_holds_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sit_out, now, waited = TargetHealth.sit_out, 0.0, list[float]()
    with workplace(tmp_path) as place:
        place.ledger = ledger = TimeAccounting(lambda: now)

        def noted(self: TargetHealth) -> None:
            nonlocal now
            ledger.take()
            now += 1.0
            waited.append(ledger.take()[Activity.WAIT])
            sit_out(self)

        monkeypatch.setattr(TargetHealth, "sit_out", noted)
        later = (OutageOrder(OutageAction.HOLD, 1), OutageOrder(OutageAction.RESUME, 1))
        run(place, replace(TASK, phase="fuzzing"), drained_after=20, later=later)
    assert set(waited) == {1.0}
