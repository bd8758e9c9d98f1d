"""Markdown for comments on pull requests and summaries of jobs, below 60 KB."""

import re
from collections.abc import Iterator
from pathlib import Path

from checker.core import blocks
from checker.corpus.records import Finding
from checker.reporting.baselines import NEW_FILE, entry_name
from checker.reporting.findings import causes_of, place_lines, prose
from checker.reporting.formats.sarif import operation_lines
from checker.reporting.report import Report
from checker.reporting.shown import ReportContext, shown_findings
from checker.reporting.summary import total_line
from checker.reporting.text import counted, xml_text
from checker.reporting.warnings import warning_groups

MOST_BYTES = 60_000  # GitHub accepts 65,536 characters in a comment.
_MOST_OF_A_PART = 3_000
_MOST_OPERATIONS = 100
_MOST_PLACES = 5
_MOST_GROUPED = 50
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&:@])")
_FENCE = re.compile(r"`{3,}")
_TOO_LONG = "*There is more: see the other reports.*\n"


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the parts of the report, most important first, as long as they fit."""
    left = MOST_BYTES - len(_TOO_LONG) - 2
    for part in _parts(report, context):
        size = len(part.encode("utf-8", "replace"))
        if size > left:
            yield _TOO_LONG
            return
        left -= size
        yield part


def _parts(report: Report, context: ReportContext) -> Iterator[str]:
    name = context.title or context.location
    yield f"## API test of {_escaped(_line(name))}\n\n"
    yield f"**{_escaped(total_line(report))}**\n\n"
    facts = [
        f"{report.tested} of {report.counts.selected} operations tested",
        f"{report.succeeded} returned 2xx",
        f"{report.counts.cases:,} cases",
        f"seed {report.seed}",
    ]
    yield f"{', '.join(facts)}\n\n"
    if report.changes.sentence:
        yield f"{report.changes.sentence}.\n\n"
        ended = [f"- {_escaped(_line(text))}\n" for text in report.changes.ended[:_MOST_GROUPED]]
        yield from (*ended, "\n") if ended else ()
    yield from _group("Failures", report.failing, context)
    known = (one for one in report.findings if not report.compared.fails(one.fingerprint))
    yield from _group("Known failures", tuple(known), context)
    if report.compared.gone:
        yield "### Gone\n\n"
        for entry in report.compared.gone:
            yield f"- {_escaped(_line(entry_name(entry)))}\n"
        yield "\n"
    if report.errors or report.quarantined:
        yield "### Errors\n\n"
        for error in report.joined_errors:
            message = prose(error.message, context.masking.command)
            text = _escaped(_line(f"{error.label}: {error.title}: {message}"))
            yield f"- {text}\n"
        for case in report.quarantined:
            yield f"- {_escaped(_line(f'{case.label}: Quarantined case: {case.reason}'))}\n"
        yield "\n"
    groups = list(warning_groups(report.notes))
    if groups:
        yield "### Warnings\n\n"
        for group in groups:
            yield f"- **{_escaped(group.title)}**: {counted(group.size, 'place')}. {_escaped(group.advice)}\n"
            for (pointer, text), labels in group.places[:_MOST_PLACES]:
                where = ", ".join(sorted(labels)[:_MOST_PLACES])
                said = ": ".join(part for part in (where, pointer, text) if part)
                yield f"    - {_escaped(_line(said))}\n"
        yield "\n"
    if not report.operations:
        return
    yield "### Operations\n\n| Operation | Outcome | Reach | Cases |\n| --- | --- | --- | --- |\n"
    for one in report.operations[:_MOST_OPERATIONS]:
        yield f"| {_escaped(_line(one.label))} | {one.outcome} | {one.reach or '-'} | {one.cases} |\n"
    if len(report.operations) > _MOST_OPERATIONS:
        yield f"\n{len(report.operations) - _MOST_OPERATIONS} more operations\n"


def _group(title: str, findings: tuple[Finding, ...], context: ReportContext) -> Iterator[str]:
    """Yield causes below a heading, worst first: one block each, of the place that is easiest to reproduce."""
    if not findings:
        return
    yield f"### {title}\n\n"
    for cause in causes_of(findings):
        (worst,) = shown_findings([cause.worst], context)
        more = len(cause.labels) - 1
        others = f" and {counted(more, 'more operation')}" if more else ""
        fact = f": {worst.fact}" if worst.fact else ""
        heading = f"{worst.kind}: {worst.finding.label}{others}{fact}"
        notes = (*worst.marks, *worst.known)
        marks = f" ({', '.join(notes)})" if notes else ""
        places = "\n".join(place_lines(cause, _MOST_GROUPED)) if len(cause.places) > 1 else ""
        parts = [
            f"<details><summary><b>{_html(worst.finding.severity)}</b> {_html(_line(heading + marks))}</summary>",
            *([_fenced(worst.message, "text")] if worst.message else []),
            *([_fenced(places, "text")] if places else []),
            *([f"Response: {_escaped(_line(worst.status))}"] if worst.status else []),
            *([_fenced(worst.query, blocks.LANGUAGE)] if worst.query else []),
            *([_fenced("\n".join(worst.commands), "sh")] if worst.commands else []),
            *([_fenced("\n\n".join(blocks.hidden_paragraphs(worst.hidden)), "text")] if worst.hidden else []),
            "</details>",
        ]
        yield "\n\n".join(parts) + "\n\n"


def _line(text: str) -> str:
    """Return text on one line, shortened: a line end would end the surrounding element."""
    flat = " ".join(xml_text(text).split())
    return flat if len(flat) <= _MOST_OF_A_PART else f"{flat[:_MOST_OF_A_PART]}..."


def _escaped(text: str) -> str:
    """Return text whose characters have no meaning in Markdown (CommonMark, 2.4)."""
    return _SPECIAL.sub(r"\\\1", text)


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _fenced(text: str, language: str) -> str:
    """Return a block of code with a fence longer than any in the text (CommonMark, 4.5)."""
    shown = xml_text(text)
    if len(shown) > _MOST_OF_A_PART:
        shown = f"{shown[:_MOST_OF_A_PART]}\n..."
    longest = max((len(found) for found in _FENCE.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


MOST = 10  # Errors of a step that GitHub shows.
_MOST_CHARACTERS = 1000


def annotations(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield a line `::error ...::...` for each of the worst failures, then for errors. The line of the operation is added if known."""
    if context.baseline.is_new:
        yield f"::warning title=New baseline::{_data(NEW_FILE.format(source=context.baseline.source))}"
    lines = operation_lines(context.location)
    count = 0
    for shown in shown_findings(report.failing, context):
        label = shown.finding.label
        place = f"file={_property(context.location)},line={lines[label]}," if label in lines else ""
        first = f"{label}: {shown.fact}" if shown.fact else label
        parts = (first, shown.message, *shown.commands, *blocks.hidden_paragraphs(shown.hidden))
        text = "\n".join(filter(None, parts))
        if count < MOST:
            yield f"::error {place}title={_property(shown.kind)}::{_data(text)}"
        count += 1
    for error in report.joined_errors:
        if count < MOST:
            message = f"{error.label}: {prose(error.message, context.masking.command)}"
            yield f"::error title={_property(error.title)}::{_data(message)}"
        count += 1


def add_summary(path: Path, report: Report, context: ReportContext) -> None:
    """Append the Markdown report to the summary of the job. Raises `OSError`."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(write(report, context))


def _data(text: str) -> str:
    """Return the value of a workflow command, with line ends percent-encoded."""
    shown = xml_text(text)[:_MOST_CHARACTERS]
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
