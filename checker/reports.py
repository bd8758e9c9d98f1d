"""Formats of reports of your own: `register` a `ReportFormat` in a module behind an entry point of `checker.plugins`.

A streaming format is a class. It is created with a `ReportContext` and has the methods `head()`, `event(event)` and
`end()`, which return text. Any other format is a function from a `Report` and a `ReportContext` to pieces of text.
"""

from checker.config.table import register_report as register
from checker.core.reports import ReportFormat
from checker.corpus.records import (
    Finding,
    Interaction,
    Note,
    OperationError,
    Quarantined,
    RunFinished,
    RunStarted,
    SchemaOpened,
)
from checker.reporting.events import Event, PhaseFinished, PhaseStarted
from checker.reporting.report import OperationOutcome, Report
from checker.reporting.shown import ReportContext

__all__ = [
    "Event",
    "Finding",
    "Interaction",
    "Note",
    "OperationError",
    "OperationOutcome",
    "PhaseFinished",
    "PhaseStarted",
    "Quarantined",
    "Report",
    "ReportContext",
    "ReportFormat",
    "RunFinished",
    "RunStarted",
    "SchemaOpened",
    "register",
]
