"""HTML: one file for people that needs no network. Text from servers is always escaped."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import starmap
from textwrap import dedent
from typing import Final

from checker import __version__
from checker.core.blocks import hidden_parts
from checker.reporting.baselines import entry_name
from checker.reporting.described import OperationCoverage, OutcomeCounts, PlaceCoverage, words
from checker.reporting.findings import causes_of, errors_by_label
from checker.reporting.report import OperationOutcome, Report
from checker.reporting.shown import Headers, ReportContext, ShownFinding, shown_findings, shown_headers, shown_request
from checker.reporting.summary import total_line
from checker.reporting.text import counted, xml_text
from checker.reporting.warnings import warning_groups

MOST_CHARACTERS = 4_000
"""Characters of one text, so that 200 failures fit into 2 MB. Reports for programs have longer limits."""
_LARGE: Final = 150
"""Number of failures or operations from which details are created on demand: each has 20 to 30 elements, and a page should have at most 5,000."""
_QUOTED = re.compile(r"`([^`\n]+)`")
CLASSES = ("2xx", "3xx", "4xx", "5xx", "1xx", "none")


def plain(text: str) -> str:
    """Return escaped text for elements and quoted attributes."""
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n..."
    # HTML parsers replace a carriage return by a line feed.
    return escape(xml_text(text).replace("\r", "\\r"))


def prose(text: str) -> str:
    """Return escaped sentences, with text in back-quotes as code."""
    return _QUOTED.sub(r"<code>\1</code>", plain(text))


def block(text: str, *, copied: bool = False) -> str:
    """Return preformatted text in a box; `copied`: with a copy button."""
    button = '<button type="button" class="copy">Copy</button>\n' if copied else ""
    return f'<div class="block">\n<pre tabindex="0">{plain(text)}</pre>\n{button}</div>\n'


def folded(attributes: str, summary: str, content: str, *, is_large: bool) -> str:
    """Return content that is shown on demand. In a large report a script creates its elements at that time."""
    inner = f"<template>{content}</template>\n" if is_large else content
    return f"<details{attributes}>\n<summary>{summary}</summary>\n{inner}</details>\n"


def _is_large(report: Report) -> bool:
    return len(report.findings) + len(report.operations) > _LARGE


def class_counts(statuses: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Return class of the status (`2xx`, `none`) -> count, without zeros."""
    counts = dict.fromkeys(CLASSES, 0)
    for status, count in statuses:
        counts[f"{status // 100}xx" if 100 <= status < 600 else "none"] += count
    return {name: count for name, count in counts.items() if count}


_BAR: Final = (
    '<svg class="bar" role="img" aria-label="{words}" viewBox="0 0 100 10" width="100" height="10" '
    'preserveAspectRatio="none"><title>{words}</title>{parts}</svg>'
)


def bar(counts: dict[str, int]) -> str:
    """Return a bar of responses by class, with a text alternative."""
    whole = sum(counts.values())
    if not whole:
        return "-"
    words = plain("responses: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    parts, left = [], 0.0
    for name, count in counts.items():
        width = 100 * count / whole
        parts.append(f'<rect class="s{name}" x="{left:.2f}" y="0" width="{width:.2f}" height="10"/>')
        left += width
    return _BAR.format(words=words, parts="".join(parts))


def span(began: float, seconds: float, whole: float, kind: str) -> str:
    """Return a bar that shows the beginning and the end of a period within the whole time; a dash if the times are unknown.

    `kind` is the class of statuses that gives the colour.
    """
    if not seconds:
        return "-"
    whole = max(whole, began + seconds)
    words = plain(f"from {began:.1f} s to {began + seconds:.1f} s")
    left, width = 100 * began / whole, 100 * seconds / whole
    part = f'<rect class="s{kind}" x="{left:.2f}" y="0" width="{width:.2f}" height="10"/>'
    return _BAR.format(words=words, parts=part)


def steps(seconds: Sequence[float], until: float, label: str) -> str:
    """Return the graph of a count that grows by one at each of these moments. The moments are sorted."""
    width, height = 600.0, 90.0
    whole, most = max(until, *seconds, 0.001), max(len(seconds), 1)
    points = [(0.0, 0)]
    for count, at in enumerate(seconds, 1):
        points += [(at, count - 1), (at, count)]
    points.append((whole, len(seconds)))
    path = " ".join(f"{width * at / whole:.1f},{height - height * n / most:.1f}" for at, n in points)
    words = plain(label)
    return (
        f'<svg class="curve" role="img" aria-label="{words}" viewBox="-4 -6 608 116" width="608" height="116">'
        f'<title>{words}</title><line x1="0" y1="90" x2="600" y2="90"/><line x1="0" y1="0" x2="0" y2="90"/>'
        f'<polyline points="{path}"/><text x="4" y="8">{len(seconds)}</text>'
        f'<text x="0" y="106">0 s</text><text x="600" y="106" text-anchor="end">{whole:.1f} s</text></svg>\n'
    )


def table(heads: Sequence[str], rows: Iterable[str], caption: str) -> Iterable[str]:
    """Yield a table. The rows are HTML."""
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{plain(caption)}">\n'
    yield f"<table>\n<caption>{plain(caption)}</caption>\n<thead><tr>"
    yield "".join(f'<th scope="col">{plain(head)}</th>' for head in heads)
    yield "</tr></thead>\n<tbody>\n"
    yield from rows
    yield "</tbody>\n</table>\n</div>\n"


_SLOWEST: Final = 5
_LEGEND: Final = (
    '<span class="answer met">met</span> <span class="answer missed">never met -</span> '
    '<span class="answer odd">not as documented!</span>'
)


def operations(report: Report) -> Iterator[str]:
    """Yield the table of operations with their outcomes, and the slowest of them."""
    found = report.operations
    if not found:
        return
    failed: dict[str, int] = {}
    for finding in report.findings:
        failed[finding.label] = failed.get(finding.label, 0) + 1
    yield f'<section aria-labelledby="operations">\n<h2 id="operations">Operations ({len(found)})</h2>\n'
    if _is_large(report):
        yield folded("", "All operations", "".join(_table_of_operations(found, failed)), is_large=True)
    else:
        yield from _table_of_operations(found, failed)
    slowest = sorted(found, key=lambda one: -one.seconds)[:_SLOWEST]
    if slowest[0].seconds:
        yield '<h3 id="slowest">Slowest</h3>\n<ol>\n'
        for one in slowest:
            each = f", {1000 * one.seconds / one.cases:.0f} ms a case" if one.cases else ""
            yield f"<li><code>{plain(one.label)}</code> {one.seconds:.2f} s{each}</li>\n"
        yield "</ol>\n"
    yield "</section>\n"


def _table_of_operations(found: Sequence[OperationOutcome], failed: dict[str, int]) -> Iterator[str]:
    yield '<p class="filters"><label for="outcome">Outcome</label> <select id="outcome" data-key="outcome"><option value="">all</option>'
    yield "".join(f"<option>{name}</option>" for name in ("passed", "failed", "errored", "skipped"))
    yield "</select></p>\n"
    heads = ("Operation", "Outcome", "Failures", "Reach", "Responses", "Cases", "Seconds")
    rows = []
    for one in found:
        note = plain(f": {one.note}") if one.note else ""
        rows.append(
            f'<tr class="operation {one.outcome}" data-outcome="{one.outcome}"><th scope="row"><code>{plain(one.label)}</code></th>'
            f"<td>{plain(one.outcome)}{note}</td><td>{failed.get(one.label) or '-'}</td><td>{plain(one.reach or '-')}</td>"
            f"<td>{bar(class_counts(one.statuses))}</td><td>{one.cases:,}</td><td>{one.seconds:.2f}</td></tr>\n"
        )
    yield from table(heads, rows, "Operations")


def coverage(report: Report) -> Iterator[str]:
    """Yield the cases about each place of the description, and their responses."""
    found = report.coverage
    if not any(one.places or one.documented for one in found.operations):
        return
    yield '<section aria-labelledby="coverage">\n<h2 id="coverage">Coverage of the description</h2>\n<ul class="facts">\n'
    for name, share in found.shares.items():
        what = "operations that returned 2xx" if name == "operations" else words(name)
        yield f"<li>{share.met} of {share.total} {plain(what)}</li>\n"
    yield "</ul>\n"
    for sentence in report.coverage.shortfalls:
        yield f'<p class="warning">{plain(sentence)}</p>\n'
    yield f'<p class="about">{_LEGEND}</p>\n'
    operations = "".join(map(_covered, found.operations))
    yield folded("", "By operation", operations, is_large=True) if _is_large(report) else operations
    yield "</section>\n"


def _covered(one: OperationCoverage) -> str:
    answers = " ".join(starmap(_status, one.documented))
    others = " ".join(
        f'<span class="answer odd" title="not documented">{status}!</span>' for status in one.undocumented
    )
    content = ""
    if one.places:
        heads = ("Place", "Valid", "Boundary", "Invalid, by the rule that was broken")
        content = "".join(table(heads, map(_place, one.places), f"Cases and their responses: {one.label}"))
    for found in (*one.enumerations, *one.media_types):
        listed = " ".join(
            _listed(name, came) if found.is_sent else _status(name, came.cases) for name, came in found.listed
        )
        content += f'<p class="listed"><code>{plain(found.place)}</code> {listed}</p>\n'
    return folded("", f"<code>{plain(one.label)}</code> {answers} {others}", content, is_large=False)


def _status(status: str, count: int) -> str:
    kind, words = ("met", f"{count} responses") if count else ("missed", "never returned")
    return f'<span class="answer {kind}" title="{words}">{plain(status)}{"" if count else " -"}</span>'


def _place(place: PlaceCoverage) -> str:
    name = plain(place.place if place.is_declared else f"{place.place} (as a whole)")
    broken = "".join(starmap(_broken, place.broken))
    return (
        f'<tr><th scope="row">{name}</th><td>{_came_back(place.valid)}</td><td>{_came_back(place.edges)}</td>'
        f"<td>{broken or '-'}</td></tr>\n"
    )


def _came_back(came: OutcomeCounts) -> str:
    return f"{_bar(came)} {came.cases:,}" if came.cases else "-"


def _bar(came: OutcomeCounts) -> str:
    return bar(class_counts((100 * status, count) for status, count in came.by_class))


def _broken(keyword: str, came: OutcomeCounts) -> str:
    told = f"{came.accepted} of {came.cases} accepted" if came.accepted else ""
    kind = "odd" if came.accepted else "met" if came.refused == came.cases else "missed"
    told = told or f"{came.refused} of {came.cases} refused"
    return f'<span class="rule"><span class="answer {kind}">{plain(keyword)}</span> {_bar(came)} <small>{told}</small></span>'


def _listed(name: str, came: OutcomeCounts) -> str:
    told = "never"
    if came.cases:
        refused = f", {came.refused} refused" if came.refused else ""
        told = f"{came.cases} times, {came.accepted} accepted{refused}"
    kind = "met" if came.accepted else "odd" if came.cases else "missed"
    return f'<span class="answer {kind}" title="{told}">{plain(name)}{"" if came.cases else " -"}</span>'


def course(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the phases, and the discovery of failures over time."""
    if not report.phases:
        return
    yield '<section aria-labelledby="course">\n<h2 id="course">Phases and discovery</h2>\n'
    rows = (
        f'<tr><th scope="row">{plain(phase.title)}</th><td>{plain(phase.note or phase.icon)}</td>'
        f"<td>{phase.tally.passed}</td><td>{phase.tally.failed}</td><td>{phase.tally.known}</td><td>{phase.tally.errored}</td>"
        f"<td>{phase.tally.skipped}</td><td>{span(phase.began_s, phase.span_s, report.time.elapsed_s, '5xx' if phase.tally.failed else '2xx')}</td></tr>\n"
        for phase in report.phases
    )
    heads = ("Phase", "Result", "Passed", "Failed", "Known", "Errors", "Skipped", "When")
    yield from table(heads, rows, "Operations by phase")
    at = sorted(max(0.0, one.at - context.started_at) for one in report.findings)
    if at and context.started_at:
        label = f"{len(at)} failures, the last one after {at[-1]:.1f} s"
        yield f"<p>{plain(label)}</p>\n{steps(at, report.time.elapsed_s, label)}"
    yield "</section>\n"


_VIOLATION = re.compile(
    r"(?P<said>.*?)\n\n(?P<schema>Schema at [^\n]*:\n\n.*?)\n\nValue:\n\n(?P<value>.*?)(?P<rest>\n\nValidated .*)?\Z",
    re.DOTALL,
)
_SHOWN_BODY: Final = 2_000
_STANDINGS: Final = ("new", "known", "expired", "recorded")


def failures(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the section of failures, if there are any."""
    gone = report.compared.gone
    if not report.findings and not gone:
        return
    shown = {one.finding.fingerprint: one for one in shown_findings(report.findings, context)}
    causes = causes_of(report.findings)
    yield f'<section aria-labelledby="failures">\n<h2 id="failures">Failures ({len(shown)})</h2>\n'
    listed_all = list(shown.values())
    yield '<form class="filters" role="search">\n'
    yield '<label for="filter">Filter</label> <input id="filter" type="search" data-key="filter">\n'
    choices = [
        ("severity", dict.fromkeys(one.finding.severity for one in listed_all)),
        ("check", dict.fromkeys(sorted(one.finding.check for one in listed_all))),
    ]
    if context.baseline:
        choices.append(("standing", dict.fromkeys(_STANDINGS)))
    for field, values in choices:
        yield f'<label for="by-{field}">{field.capitalize()}</label> <select id="by-{field}" data-key="{field}"><option value="">all</option>'
        yield "".join(f'<option value="{plain(one)}">{plain(one)}</option>' for one in values)
        yield "</select>\n"
    yield '<button type="button" id="unfold">Open all</button> '
    yield '<output id="count" role="status"></output>\n</form>\n'
    for cause in sorted(causes, key=lambda one: not any(shown[place.fingerprint].fails for place in one.places)):
        is_large = _is_large(report)
        ordered = sorted(cause.places, key=lambda one: not shown[one.fingerprint].fails)
        places = [shown[one.fingerprint] for one in ordered]
        listed = "".join(_failure(one, context, is_large=is_large) for one in places)
        if len(places) == 1:
            yield listed
        else:
            worst = shown[cause.worst.fingerprint]
            more = f"and {counted(len(cause.labels) - 1, 'more operation')}" if len(cause.labels) > 1 else ""
            name = plain(f"c-{cause.fingerprint}")
            link = f'<p class="about"><a class="anchor" href="#{name}" aria-label="Link to this cause">#</a></p>\n'
            yield folded(f' class="cause" id="{name}"', _line(worst, more), listed + link, is_large=False)
    if gone:
        yield f'<h3 id="gone">Known, and gone ({len(gone)})</h3>\n<ul>\n'
        yield from (f"<li>{plain(entry_name(entry))}</li>\n" for entry in gone)
        yield "</ul>\n"
    yield "</section>\n"


def _line(shown: ShownFinding, more: str = "") -> str:
    severity, marks = plain(shown.finding.severity), ", ".join((*shown.marks, *shown.known))
    parts = (
        f'<span class="severity {severity}">{severity}</span>',
        plain(shown.kind),
        f"<code>{plain(shown.finding.label)}</code>",
        more,
        f'<span class="fact">{prose(shown.fact)}</span>' if shown.fact else "",
        f'<span class="mark">{plain(marks)}</span>' if marks else "",
    )
    return " ".join(filter(None, parts))


def _failure(shown: ShownFinding, context: ReportContext, *, is_large: bool) -> str:
    finding = shown.finding
    anchor = plain(f"f-{finding.fingerprint}")
    attributes = (
        f' class="finding" id="{anchor}" data-severity="{plain(finding.severity)}" data-check="{plain(finding.check)}" '
        f'data-standing="{shown.standing}"'
    )
    return folded(attributes, _line(shown), "".join(_content(shown, context)), is_large=is_large)


def _content(shown: ShownFinding, context: ReportContext) -> Iterator[str]:
    finding = shown.finding
    yield _message(shown)
    if shown.finding.interactions:
        sent = shown_request(shown.finding.interactions[-1], context)
        exchange = shown.finding.interactions[-1].exchange
        lines = [f"{sent.method} {sent.url}", *_headers(sent.headers)]
        if sent.body:
            lines += ["", sent.body[:_SHOWN_BODY].decode("utf-8", "replace")]
        yield f'<div class="beside">\n<div><h3 class="part">Request</h3>\n{block(chr(10).join(lines))}</div>\n'
        # The box replaces the back-quotes.
        body = shown.body.removeprefix("`").removesuffix("`")
        answer = "\n".join([shown.status, *_headers(shown_headers(exchange, context)), *(["", body] if body else [])])
        yield f'<div><h3 class="part">Response</h3>\n{block(answer or "-")}</div>\n</div>\n'
    if shown.query:
        yield f'<h3 class="part">Query</h3>\n{block(shown.query)}'
    if shown.commands:
        yield '<h3 class="part">Reproduce with</h3>\n'
        yield block("\n".join(shown.commands), copied=True)
    exports, places = hidden_parts(shown.hidden)
    if exports:
        yield '<h3 class="part">With the credentials of</h3>\n'
        yield from (block(export, copied=True) for export in exports)
    if places:
        yield f"<p>Hidden: {plain(', '.join(places))}</p>\n"
    about = (
        f"{finding.check}, {shown.stability}",
        finding.phase and f"phase {finding.phase}",
        finding.case and f"case {finding.case}",
        f"after {max(0.0, finding.at - context.started_at):.1f} s" if context.started_at else "",
    )
    yield f'<p class="about">{plain(", ".join(part for part in about if part))} '
    yield f'<a class="anchor" href="#{plain(f"f-{finding.fingerprint}")}">{plain(shown.id)}</a></p>\n'


def _message(shown: ShownFinding) -> str:
    if not shown.message:
        return ""
    found = _VIOLATION.fullmatch(shown.message)
    if found is None:
        return f'<p class="said">{prose(shown.message)}</p>\n'
    heading, _, schema = found["schema"].partition("\n\n")
    return (
        f'<p class="said">{prose(found["said"])}</p>\n<div class="beside">\n'
        f'<div><h3 class="part">{plain(heading.removesuffix(":"))}</h3>\n<pre tabindex="0">{plain(dedent(schema))}</pre></div>\n'
        f'<div><h3 class="part">Value</h3>\n<pre tabindex="0"><mark>{plain(dedent(found["value"]))}</mark></pre></div>\n</div>\n'
        + (f"<p>{prose(found['rest'].strip())}</p>\n" if found["rest"] else "")
    )


def _headers(headers: Headers) -> list[str]:
    return [f"{name}: {value}" for name, values in headers.items() for value in values]


_MOST_ENDED = 20
_NAMES = {"course": "Phases", "settings": "This run"}  # Part -> heading, if it differs from the name.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of the report."""
    yield from page(report, context, _POLICY, "")


def page(report: Report, context: ReportContext, policy: str, script: str) -> Iterator[str]:
    """Yield the document with a content security policy and an additional script."""
    folder = files("checker.reporting.formats")
    style = folder.joinpath("report.css").read_text(encoding="utf-8")
    own = folder.joinpath("report.js").read_text(encoding="utf-8")
    title = plain(f"{total_line(report)} - {context.title or context.location}")
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    )
    yield from body(report, context)
    yield f"<script>\n{own}{script}</script>\n</body>\n</html>\n"


def body(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the part of the page that changes during a run."""
    sections = {
        "failures": failures(report, context),
        "errors": _errors(report, context),
        "warnings": _warnings(report),
        "operations": operations(report),
        "coverage": coverage(report),
        "course": course(report, context),
        "settings": _settings(report, context),
    }
    texts = {name: "".join(pieces) for name, pieces in sections.items()}
    yield from _verdict(report, context, [name for name, text in texts.items() if text])
    yield from texts.values()
    yield "</main>\n"


def _verdict(report: Report, context: ReportContext, parts: list[str]) -> Iterator[str]:
    kind = "bad" if report.failing or report.error_count else "good" if report.counts.cases else "open"
    yield f'<header class="{kind}">\n<h1>{plain(total_line(report))}</h1>\n'
    about = ", ".join(part for part in (context.title, context.specification) if part)
    yield f'<p>{plain(about)}</p>\n<ul class="facts">\n'
    outcomes = Counter(one.outcome for one in report.operations)
    for fact in (
        *filter(None, (report.changes.sentence, *report.changes.ended[:_MOST_ENDED])),
        f"{report.tested} of {report.counts.selected} operations tested",
        *(f"{count} {outcome}" for outcome, count in outcomes.items()),
        f"{report.succeeded} returned 2xx",
        f"{report.counts.cases:,} cases, {report.counts.requests:,} requests",
        f"seed {report.seed}",
    ):
        yield f"<li>{plain(fact)}</li>\n"
    yield '</ul>\n<nav aria-label="Parts of this report">'
    yield " ".join(f'<a href="#{name}">{_NAMES.get(name) or name.capitalize()}</a>' for name in parts)
    yield ' <button type="button" id="theme">Light or dark</button></nav>\n</header>\n<main>\n'
    if _is_large(report):
        yield '<noscript><p class="warning">This report is large: its details need scripts.</p></noscript>\n'
    for group in warning_groups(report.notes):
        advice = f". {prose(group.advice)}" if group.advice else ""
        yield f'<p class="warning"><a href="#warnings">{plain(group.title)}: {counted(group.size, "place")}</a>{advice}</p>\n'
    if not report.is_complete:
        yield '<p class="warning">The run was killed or is still running: these are the results so far.</p>\n'


def _errors(report: Report, context: ReportContext) -> Iterator[str]:
    errors = list(errors_by_label(report.joined_errors, report.quarantined, context.masking.command))
    if not errors:
        return
    yield f'<section aria-labelledby="errors">\n<h2 id="errors">Errors ({len(errors)})</h2>\n'
    for label, text in errors:
        yield f"<details>\n<summary><code>{plain(label)}</code> {plain(text.partition(chr(10))[0])}</summary>\n{block(text)}</details>\n"
    yield "</section>\n"


def _warnings(report: Report) -> Iterator[str]:
    groups = list(warning_groups(report.notes))
    if not groups:
        return
    yield '<section aria-labelledby="warnings">\n<h2 id="warnings">Warnings</h2>\n'
    for group in groups:
        yield f"<details>\n<summary>{plain(group.title)}: {counted(group.size, 'place')}</summary>\n"
        if group.advice:
            yield f'<p class="advice">{prose(group.advice)}</p>\n'
        yield "<ul>\n"
        for (pointer, text), labels in group.places:
            said = ": ".join(part for part in (", ".join(sorted(labels)), pointer, text) if part)
            yield f"<li>{prose(said)}</li>\n"
        yield "</ul>\n</details>\n"
    yield "</section>\n"


def _settings(report: Report, context: ReportContext) -> Iterator[str]:
    yield '<section aria-labelledby="settings">\n<h2 id="settings">This run</h2>\n<dl>\n'
    for name, value in (
        ("Command", context.command),
        ("Description", context.location),
        ("Base URL", context.base_url),
        ("Seed", str(report.seed)),
        ("Workers", str(report.time.workers)),
        ("Seconds", f"{report.time.elapsed_s:.2f}"),
        ("Ended", report.outcome),
        ("Baseline", context.baseline.source or "none"),
        ("Version", f"Checker {__version__}"),
    ):
        yield f"<dt>{name}</dt><dd>{plain(value)}</dd>\n"
    yield "</dl>\n</section>\n"
