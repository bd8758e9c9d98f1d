"""A run with a time limit and reports that follow it: what is sent is written, at whatever speed. By a clock of the test."""

from collections import deque
from math import inf

import pytest

from checker.config.settings import RunSettings
from checker.core.reports import WritingProgress
from checker.corpus.fold import RunView
from checker.supervisor.endings import Ending, closing_s
from checker.supervisor.report_backlog import MOST_BEHIND_S, ReportBacklog

STEP_S = 0.05
HANDED_OVER_S = 0.2
"""So long after it was sent the supervisor and the reports hear of it."""
HELD_BACK_S = 1.0
"""So long it may be preceded by what is not there yet."""
QUIET = RunView()


class Simulation:
    """Two workers that send so many requests a second, and a writer that needs so long for one."""

    def __init__(self, limit_s: float, per_s: float, each_s: float) -> None:
        self.limit_s, self.per_s, self.each_s = limit_s, per_s, each_s
        self.ending = Ending(RunSettings(location="x", kind="run", seed=1, max_time_s=limit_s))
        self.pace = ReportBacklog(self.progress)
        self.now = self.ended_at = 0.0
        self.sent = [0.0, 0.0]
        self.written = 0.0
        self.pauses = 0
        self.is_idle = True
        self._sent_at = deque[tuple[float, float]]()
        self._can_be_written = 0.0

    def progress(self) -> WritingProgress | None:
        return WritingProgress(
            int(self.written), self.each_s if self.written else 0.0, self.is_idle
        )

    def run(self) -> None:
        while not self.ending.began:
            self._work()
            self._write()
            self.now += STEP_S
            self.pauses += self.pace.look() and self.pace.waits
            self.ending.leave_for_writing(self.pace.behind_s)
            self.ending.next_order(QUIET, self.now, self.now, 0)
        self.ended_at = self.now
        # Nobody is at work any more: nothing else may come before what is there.
        self._can_be_written = inf
        while self.now < self.limit_s:
            self._write()
            self.now += STEP_S

    def _work(self) -> None:
        if not self.pace.waits:
            for worker in range(2):
                self.sent[worker] += self.per_s / 2 * STEP_S
        self._sent_at.append((self.now, sum(self.sent)))
        for worker, count in enumerate(self.sent):
            lately = self.per_s / 2 * HANDED_OVER_S * (not self.pace.waits)
            self.pace.record(worker, int(max(0.0, count - lately)))
        while self._sent_at and self._sent_at[0][0] < self.now - HELD_BACK_S:
            self._can_be_written = self._sent_at.popleft()[1]

    def _write(self) -> None:
        left = min(self._can_be_written, sum(self.sent)) - self.written
        self.is_idle = left * self.each_s < STEP_S
        self.written += min(left, STEP_S / self.each_s)


@pytest.mark.parametrize(
    ("limit_s", "per_s", "each_s"),
    [
        (limit_s, per_s, each_s)
        for limit_s in (5.0, 15.0, 60.0)
        for per_s in (3.0, 500.0, 4000.0, 12_000.0)
        for each_s in (0.00005, 0.0002, 0.0005, 0.002)
        # Else more is sent than there is time for before anybody can know what writing takes.
        if per_s * each_s * HELD_BACK_S < limit_s / 2
    ],
)
def test_what_is_sent_is_written_when_the_time_is_over(
    limit_s: float, per_s: float, each_s: float
) -> None:
    simulation = Simulation(limit_s, per_s, each_s)
    simulation.run()
    assert simulation.written == pytest.approx(sum(simulation.sent))
    # Neither more is given away than reports need.
    most = min(per_s, 1 / each_s) * (limit_s - closing_s(limit_s) - 2 * MOST_BEHIND_S)
    assert sum(simulation.sent) >= 0.9 * most


def test_who_can_be_kept_up_with_never_waits() -> None:
    simulation = Simulation(60.0, 3000.0, 0.0002)
    simulation.run()
    assert simulation.pauses == 0
    assert simulation.ended_at > 60.0 - closing_s(60.0) - MOST_BEHIND_S


def test_no_phase_pays_for_the_others() -> None:
    """Waits come all along, not all at the end."""
    simulation = Simulation(60.0, 8000.0, 0.0005)
    simulation.run()
    assert simulation.pauses > 10
    assert simulation.ended_at > 60.0 - closing_s(60.0) - 2 * MOST_BEHIND_S


@pytest.mark.parametrize("progress", [None, WritingProgress(0, 0.01, is_idle=True)])
def test_what_will_not_be_written_holds_nobody_up(progress: WritingProgress | None) -> None:
    pace = ReportBacklog(lambda: progress)
    pace.record(1, 10_000)
    assert not pace.look()
    assert not pace.waits


def test_without_reports_that_follow_the_time_is_what_it_was() -> None:
    pace = ReportBacklog(lambda: None)
    pace.record(1, 10_000)
    pace.look()
    assert pace.behind_s == 0.0


def test_a_worker_that_is_replaced_has_sent_what_it_sent() -> None:
    pace = ReportBacklog(lambda: WritingProgress(50, 0.1, is_idle=False))
    pace.record(1, 60)
    pace.record(1, 61)
    pace.record(2, 1)
    pace.record(2, 4)
    pace.look()
    assert pace.behind_s == pytest.approx(1.9)
    pace.record(1, 62)
    pace.leave(1)
    # There may be three more of the second one, and no more of the first.
    pace.look()
    assert pace.behind_s == pytest.approx(1.9)


def test_reports_take_no_more_than_half_of_the_time() -> None:
    ending = Ending(RunSettings(location="x", kind="run", seed=1, max_time_s=60.0))
    ending.leave_for_writing(1000.0)
    assert ending.left_s(0.0) == 60.0 / 2 - closing_s(60.0)
    ending.leave_for_writing(0.0)
    assert ending.left_s(0.0) == 60.0 - closing_s(60.0)
