"""HTML: one file that needs no network, for people. Whatever a server said is text in it, never markup."""

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from checker import __version__
from checker.reporting.context import ReportContext
from checker.reporting.findings import errors_by_label
from checker.reporting.known_text import entry_name
from checker.reporting.report import OperationOutcome, Report
from checker.reporting.shown import ShownFinding, shown_findings, standing_text
from checker.reporting.summary import counted, total_line
from checker.reporting.text import xml_text
from checker.reporting.warning_notes import warning_groups

_MOST_CHARACTERS = 20_000
"""Of one text: what is longer stands in reports for programs."""
_CLASSES = ("2xx", "3xx", "4xx", "5xx", "1xx", "none")


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Text of the report."""
    folder = files("checker.reporting.formats")
    style = folder.joinpath("report.css").read_text(encoding="utf-8")
    script = folder.joinpath("report.js").read_text(encoding="utf-8")
    title = _text(f"{total_line(report)} - {context.title or context.location}")
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    )
    yield from _verdict(report, context)
    yield from _findings(report, context)
    yield from _errors(report, context)
    yield from _operations(report.operations)
    yield from _warnings(report)
    yield from _settings(report, context)
    yield f"<script>\n{script}</script>\n</body>\n</html>\n"


def _verdict(report: Report, context: ReportContext) -> Iterator[str]:
    kind = "bad" if report.failing or report.error_count else "good" if report.cases else "open"
    yield f'<header class="{kind}">\n<h1>{_text(total_line(report))}</h1>\n'
    yield f'<p>{_text(context.title)} {_text(context.specification)}</p>\n<ul class="facts">\n'
    for fact in (
        f"{report.tested} of {report.selected} operations tested",
        f"{report.succeeded} answered 2xx",
        f"{report.cases:,} cases, {report.requests:,} requests",
        *(f"{phase.title}: {phase.note or phase.icon}" for phase in report.phases),
    ):
        yield f"<li>{_text(fact)}</li>\n"
    yield "</ul>\n</header>\n<main>\n"
    if not report.is_complete:
        yield '<p class="warning">The run has no end: this is what it came to so far.</p>\n'


def _findings(report: Report, context: ReportContext) -> Iterator[str]:
    shown = shown_findings(report.findings, context)
    if not shown and not report.compared.gone:
        return
    yield f'<section aria-labelledby="failures">\n<h2 id="failures">Failures ({len(shown)})</h2>\n'
    yield '<p><label for="filter">Filter</label> <input id="filter" type="search"></p>\n'
    for one in shown:
        yield from _finding(one)
    if gone := report.compared.gone:
        yield "<h3>Known, and gone</h3>\n<ul>\n"
        yield from (f"<li>{_text(entry_name(entry))}</li>\n" for entry in gone)
        yield "</ul>\n"
    yield "</section>\n"


def _finding(shown: ShownFinding) -> Iterator[str]:
    finding = shown.finding
    anchor = _text(f"f-{finding.fingerprint}")
    code = f"{finding.code} " if finding.code else ""
    yield f'<details class="finding" id="{anchor}">\n<summary>'
    yield f'<span class="severity {_text(finding.severity)}">{_text(finding.severity)}</span> '
    yield f"{_text(code + shown.title)} <code>{_text(finding.label)}</code>"
    known = standing_text(shown.standing, shown.entry)
    for mark in (*shown.marks, *([known] if known else [])):
        yield f' <span class="mark">{_text(mark)}</span>'
    yield f'</summary>\n<p><a href="#{anchor}">Link to this failure</a></p>\n'
    if shown.message:
        yield f"<pre>{_text(shown.message)}</pre>\n"
    if shown.status:
        yield f"<h3>Answer</h3>\n<p>{_text(shown.status)}</p>\n"
    if shown.body:
        yield f"<pre>{_text(shown.body)}</pre>\n"
    if shown.commands:
        yield '<h3>Reproduce with</h3>\n<div class="command">\n'
        yield f"<pre>{_text(chr(10).join(shown.commands))}</pre>\n"
        yield '<button type="button" class="copy">Copy</button>\n</div>\n'
    if shown.hidden:
        yield f"<p>Hidden: {_text(', '.join(shown.hidden))}</p>\n"
    about = (finding.check, finding.phase and f"phase {finding.phase}", f"case {finding.case}")
    yield f'<p class="about">{_text(", ".join(part for part in about if part))}</p>\n</details>\n'


def _errors(report: Report, context: ReportContext) -> Iterator[str]:
    errors = list(errors_by_label(report.errors, report.quarantined, context.masking.command))
    if not errors:
        return
    yield f'<section aria-labelledby="errors">\n<h2 id="errors">Errors ({len(errors)})</h2>\n'
    for label, text in errors:
        yield f"<details>\n<summary><code>{_text(label)}</code></summary>\n<pre>{_text(text)}</pre>\n</details>\n"
    yield "</section>\n"


def _operations(operations: tuple[OperationOutcome, ...]) -> Iterator[str]:
    if not operations:
        return
    yield f'<section aria-labelledby="operations">\n<h2 id="operations">Operations ({len(operations)})</h2>\n'
    yield '<table>\n<thead><tr><th scope="col">Operation</th><th scope="col">Outcome</th>'
    yield '<th scope="col">Reach</th><th scope="col">Answers</th><th scope="col">Cases</th>'
    yield '<th scope="col">Seconds</th></tr></thead>\n<tbody>\n'
    for one in operations:
        yield f'<tr class="{one.outcome}"><th scope="row"><code>{_text(one.label)}</code></th>'
        yield f"<td>{_text(one.outcome)}{_text(f': {one.note}') if one.note else ''}</td>"
        yield f"<td>{_text(one.reach or '-')}</td><td>{_bar(one)}</td>"
        yield f"<td>{one.cases:,}</td><td>{one.seconds:.2f}</td></tr>\n"
    yield "</tbody>\n</table>\n</section>\n"


def _bar(operation: OperationOutcome) -> str:
    """How many answers were of which class, as a picture with words."""
    counts = dict.fromkeys(_CLASSES, 0)
    for status, count in operation.statuses:
        counts[f"{status // 100}xx" if 100 <= status < 600 else "none"] += count
    found = {name: count for name, count in counts.items() if count}
    if not found:
        return "-"
    words = _text(", ".join(f"{count} {name}" for name, count in found.items()))
    parts, left = [], 0.0
    for name, count in found.items():
        width = 100 * count / operation.cases
        parts.append(
            f'<rect class="s{name}" x="{left:.2f}" y="0" width="{width:.2f}" height="10"/>'
        )
        left += width
    return (
        f'<svg role="img" aria-label="{words}" viewBox="0 0 100 10" width="100" height="10">'
        f"<title>{words}</title>{''.join(parts)}</svg>"
    )


def _warnings(report: Report) -> Iterator[str]:
    groups = list(warning_groups(report.notes))
    if not groups:
        return
    yield '<section aria-labelledby="warnings">\n<h2 id="warnings">Warnings</h2>\n'
    for group in groups:
        yield f"<details>\n<summary>{_text(group.title)}: {counted(len(group.places), 'place')}</summary>\n"
        if group.advice:
            yield f'<p class="advice">{_text(group.advice)}</p>\n'
        yield "<ul>\n"
        for (pointer, text), labels in group.places:
            said = ": ".join(part for part in (", ".join(sorted(labels)), pointer, text) if part)
            yield f"<li>{_text(said)}</li>\n"
        yield "</ul>\n</details>\n"
    yield "</section>\n"


def _settings(report: Report, context: ReportContext) -> Iterator[str]:
    yield '<section aria-labelledby="settings">\n<h2 id="settings">This run</h2>\n<dl>\n'
    for name, value in (
        ("Command", context.command),
        ("Description", context.location),
        ("Base URL", context.base_url),
        ("Seed", str(report.seed)),
        ("Workers", str(report.workers)),
        ("Seconds", f"{report.elapsed_s:.2f}"),
        ("Ended", report.outcome),
        ("Version", f"Checker {__version__}"),
    ):
        yield f"<dt>{name}</dt><dd>{_text(value)}</dd>\n"
    yield "</dl>\n</section>\n</main>\n"


def _text(text: str) -> str:
    """Text that is text wherever it stands: between tags and in attributes in quotes."""
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[:_MOST_CHARACTERS]}\n..."
    # A carriage return would come back as another line end.
    return escape(xml_text(text).replace("\r", "\\r"))
