"""What writes a report: one protocol for formats that stream, one for those that are made of what a run came to."""

from collections.abc import Callable, Iterable
from importlib import import_module
from operator import attrgetter
from typing import Any, Protocol

from checker.core.reports import ReportFormat
from checker.reporting.context import ReportContext
from checker.reporting.events import Event
from checker.reporting.report import Report


class StreamWriter(Protocol):
    """Writes a report event by event. What it gives is added to the file; what it keeps is its own affair."""

    context: ReportContext
    """Of the run whose events come: set anew where the next of several runs begins that are told as one."""

    def head(self) -> str:
        """What stands before everything else."""
        ...

    def event(self, event: Event) -> str:
        """What is to be added for an event; empty for one that the format does not show."""
        ...

    def end(self) -> str:
        """What stands behind everything else."""
        ...


StreamFactory = Callable[[ReportContext], StreamWriter]
SummaryWriter = Callable[[Report, ReportContext], Iterable[str]]
"""The text of a report in pieces."""
FolderWriter = Callable[[Report, ReportContext], Iterable[tuple[str, str]]]
"""(name, text) of each file of a report."""
BinaryWriter = Callable[[Report, ReportContext], Iterable[bytes]]
"""The bytes of a report in pieces."""


def writer_of(row: ReportFormat) -> Any:
    """What writes a format: a `StreamFactory`, `SummaryWriter`, `FolderWriter` or `BinaryWriter`, as its row says."""
    if not isinstance(row.writer, str):
        return row.writer
    module, _, attribute = row.writer.partition(":")
    return attrgetter(attribute)(import_module(module))
