"""Workers that wait for the reports of their run."""

from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.workers.messages import AwaitReports, HandedOver
from checker.workers.queues import Receiver, Sender
from checker.workers.recording.leased import LeasedTask
from checker.workers.report_wait import ReportWait
from checker.workers.scheduling.case_scheduler import CaseScheduler
from checker.workers.scheduling.task_counts import TaskCounts
from tests.workers.harness import TASK, run, workplace

WAIT, GO_ON = AwaitReports(waits=True), AwaitReports(waits=False)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("later", [(WAIT, GO_ON), (WAIT,)], ids=["goes on", "leaves"])
def test_who_waits_for_reports_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lanes: int, later: tuple[AwaitReports, ...]
) -> None:
    obey, end, sent = ReportWait.obey, ReportWait.end, list[int]()

    with workplace(tmp_path, lanes=lanes) as place:

        def count() -> None:
            memory: Any = place.http
            sent.append(sum(kind == "sent" for kind, _ in memory.events))

        def noted_obey(self: ReportWait, order: AwaitReports) -> None:
            obey(self, order)
            count()

        def noted_end(self: ReportWait) -> None:
            if self.is_on:
                count()
            end(self)

        monkeypatch.setattr(ReportWait, "obey", noted_obey)
        monkeypatch.setattr(ReportWait, "end", noted_end)
        ran = run(place, replace(TASK, phase="fuzzing"), drained_after=20, later=later)
    assert 0 < sent[0] == sent[1] < 300
    total = sum(kind == "sent" for kind, _ in ran.memory.events)
    # Who is told to leave makes nothing new.
    assert total == 300 if GO_ON in later else total <= sent[1] + lanes
    assert not place.recorder.traffic.faults


def test_a_turn_is_not_shorter_for_having_waited(tmp_path: Path) -> None:
    now = 10.0
    with workplace(tmp_path) as place:
        scheduler = CaseScheduler(place, TaskCounts(place))
        report_wait = ReportWait(place, scheduler, Sender(Pipe(duplex=False)[1]), lambda: now)
        begun, waiting = LeasedTask.of(TASK), LeasedTask.of(replace(TASK, id="b" * 16))
        begun.ends_at = 12.0
        scheduler.tasks.extend((begun, waiting))
        report_wait.obey(WAIT)
        now = 11.5
        # It is said again and again while it holds.
        report_wait.obey(WAIT)
        now = 15.0
        report_wait.obey(GO_ON)
        report_wait.obey(GO_ON)
    assert (begun.ends_at, waiting.ends_at) == (17.0, None)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"keeps_traffic": True, "max_time_s": 60.0}, [3, 7]),
        ({"keeps_traffic": True}, []),
        ({"max_time_s": 60.0}, []),
    ],
)
def test_what_is_handed_over_is_told_where_somebody_counts_it(
    tmp_path: Path, limits: dict[str, Any], told: list[int]
) -> None:
    heard, up = Pipe(duplex=False)
    found = []
    with workplace(tmp_path, **limits) as place:
        assert isinstance(place.settings, RunSettings)
        scheduler = CaseScheduler(place, TaskCounts(place))
        report_wait = ReportWait(place, scheduler, Sender(up), lambda: 0.0)
        for count in (0, 3, 3, 7):
            place.recorder.traffic.writer.count = count
            report_wait.tell()
        receiver = Receiver(heard)
        while isinstance(message := receiver.get_nowait(), HandedOver):
            found.append(message.count)
    assert found == told
