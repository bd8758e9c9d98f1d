"""A worker that sends nothing while the reports of a run whose time has an end catch up with it."""

from collections.abc import Callable
from dataclasses import dataclass

from checker.workers.context import WorkerContext
from checker.workers.messages import AwaitReports, HandedOver
from checker.workers.queues import Sender
from checker.workers.scheduling.case_scheduler import CaseScheduler


@dataclass(slots=True)
class ReportWait:
    """Tells how much was handed over, and waits when the supervisor says so."""

    context: WorkerContext
    scheduler: CaseScheduler
    up: Sender
    now: Callable[[], float]
    is_on: bool = False
    """Whether nothing is to be sent."""
    _since: float = 0.0
    _told: int = 0

    def obey(self, order: AwaitReports) -> None:
        """Begin to wait, or go on."""
        if order.waits and not self.is_on:
            self.is_on, self._since = True, self.now()
        elif not order.waits:
            self.end()

    def end(self) -> None:
        """Go on: turns that were under way end so much later."""
        if not self.is_on:
            return
        self.is_on, waited_s = False, self.now() - self._since
        for running in self.scheduler.held:
            if running.ends_at:
                running.ends_at += waited_s

    def tell(self) -> None:
        """Say how much was handed over, where somebody counts it."""
        settings, count = self.context.settings, self.context.recorder.traffic.writer.count
        if settings.keeps_traffic and settings.max_time_s is not None and count != self._told:
            self._told = count
            self.up.send(HandedOver(count))
