"""A night in which everything dies now and then. `python -m benchmarks.survival` takes half an hour for it."""

from pathlib import Path

import pytest

from tests.chaos import target
from tests.chaos.survival import Limits, Periods, Restarting, survive
from tests.e2e.runner import SLOW_CLOCK, Command

REQUESTS = 4_000
PERIODS = Periods(service=900, worker=150, supervisor=1_100)


@pytest.mark.thorough
def test_a_night_of_deaths_loses_nothing_and_tells_nothing_twice(tmp_path: Path) -> None:
    service = Restarting(target.defective(pause_s=0.001), target.document(12))
    command = Command(tmp_path.resolve(), program=SLOW_CLOCK)
    try:
        night = survive(
            command,
            service,
            clock=lambda: service.requests,
            until=REQUESTS,
            periods=PERIODS,
            limits=Limits(memory_bytes=1 << 30, disk_bytes=1 << 30),
        )
    finally:
        service.close()
    assert night.faults == []
    assert night.ran is not None
    assert night.ran.view.finding_count() > 3
    assert min(night.deaths[name] for name in ("service", "worker", "supervisor")) >= 2, night.deaths
