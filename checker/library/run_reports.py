"""The reports of a run from Python, and its exit code, as the configuration asks for them."""

from pathlib import Path

from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.corpus.records import Note, Record, RunStarted
from checker.reporting.context import ReportContext
from checker.reporting.orders import RunIsOver
from checker.reporting.report import Report
from checker.reporting.summaries import write_summary
from checker.reporting.views import report_of
from checker.reporting.whole import check_writable
from checker.reporting.writing import FollowedRun, Target, follow, format_named
from checker.supervisor.execution import RunOutcome


class RunReports:
    """Hears the records of a run, and writes its reports when it is over."""

    def __init__(self, settings: RunSettings) -> None:
        """Raises `UsageError` where a report cannot be written, before anything is sent."""
        for name, path in settings.reports:
            check_writable(Path(path), is_folder=format_named(name).is_folder)
        self._settings = settings
        self._first: int | None = None
        self._started: RunStarted | None = None

    def on_record(self, incarnation: int, record: Record) -> None:
        """Take note of when the run began."""
        self._first = incarnation if self._first is None else min(self._first, incarnation)
        if isinstance(record, RunStarted) and self._started is None:
            self._started = record

    def written(self, outcome: RunOutcome) -> tuple[RunOutcome, list[str]]:
        """The run with the exit code that its report gives it, and why reports are not there."""
        opened = outcome.view.opened
        if opened is None or self._first is None or self._started is None:
            return outcome, []
        settings = self._settings.for_project(opened.title)
        targets = settings.reports
        problems: list[str] = []
        streaming = [one for one in targets if format_named(one[0]).streams]
        if streaming:
            run = FollowedRun(self._first, self._started, opened)
            found = follow([(settings, run)], streaming, RunIsOver())
            problems += (
                f"{path}: the report cannot be written: {why}" for path, why in found.problems
            )
            for note in found.notes:
                outcome.view.absorb(0, Note(*note))
        report = report_of(outcome.view, settings, outcome.outcome)
        context = ReportContext.of(settings, self._started, opened)
        problems += _summaries(targets, report, context)
        code = outcome.exit_code or int(bool(report.failing_warnings or report.shortfalls))
        return replace(outcome, exit_code=code), problems


def _summaries(targets: tuple[Target, ...], report: Report, context: ReportContext) -> list[str]:
    """Write what is made when a run is over; why it is not there."""
    rows = [(format_named(name), Path(path)) for name, path in targets]
    told = [write_summary(row, path, report, context) for row, path in rows if not row.streams]
    return [problem for problem in told if problem]
