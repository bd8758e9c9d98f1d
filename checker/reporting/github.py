"""What GitHub shows of a job: annotations that its log is searched for, and a summary."""

from collections.abc import Iterator
from pathlib import Path

from checker.reporting.context import ReportContext
from checker.reporting.findings import prose
from checker.reporting.formats.markdown import write
from checker.reporting.known_text import NEW_FILE
from checker.reporting.lines import operation_lines
from checker.reporting.report import Report
from checker.reporting.shown import shown_findings
from checker.reporting.text import xml_text

MOST = 10
"""GitHub shows so many errors of a step."""
_MOST_CHARACTERS = 1000


def annotations(report: Report, context: ReportContext) -> Iterator[str]:
    """A line `::error ...::...` for each of the worst failures, then errors; at the line of the operation where it is known."""
    if context.baseline.is_new:
        yield f"::warning title=New baseline::{_data(NEW_FILE.format(source=context.baseline.source))}"
    lines = operation_lines(context.location)
    count = 0
    for shown in shown_findings(report.failing, context):
        label = shown.finding.label
        code = f"{shown.finding.code} " if shown.finding.code else ""
        place = f"file={_property(context.location)},line={lines[label]}," if label in lines else ""
        text = "\n".join(part for part in (label, shown.message, *shown.commands) if part)
        if count < MOST:
            yield f"::error {place}title={_property(code + shown.title)}::{_data(text)}"
        count += 1
    for error in report.errors:
        if count < MOST:
            message = f"{error.label}: {prose(error.message, context.masking.command)}"
            yield f"::error title={_property(error.title)}::{_data(message)}"
        count += 1


def add_summary(path: Path, report: Report, context: ReportContext) -> None:
    """Add the Markdown report to the summary of the job. `OSError` passes through."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(write(report, context))


def _data(text: str) -> str:
    """The value of a command: what would end it is written as percent signs say."""
    shown = xml_text(text)[:_MOST_CHARACTERS]
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
