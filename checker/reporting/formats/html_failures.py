"""The failures of the HTML report: by cause, each with its request, its answer and what was violated."""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Final

from checker.reporting.causes import Cause, causes_of
from checker.reporting.context import ReportContext
from checker.reporting.formats.markup import block, plain, prose
from checker.reporting.known_text import entry_name
from checker.reporting.report import Report
from checker.reporting.shown import ShownFinding, shown_findings, shown_request, standing_text

_VIOLATION = re.compile(
    r"(?P<said>.*?)\n\n(?P<schema>Schema at [^\n]*:\n\n.*?)\n\nValue:\n\n(?P<value>.*?)(?P<rest>\n\nValidated .*)?\Z",
    re.DOTALL,
)
_SHOWN_BODY: Final = 2_000
_STANDINGS: Final = ("new", "known", "expired", "recorded")


def failures(report: Report, context: ReportContext) -> Iterator[str]:
    """The section; nothing where there is nothing to tell."""
    gone = report.compared.gone
    if not report.findings and not gone:
        return
    shown = {one.finding.fingerprint: one for one in shown_findings(report.findings, context)}
    causes = causes_of(report.findings)
    yield f'<section aria-labelledby="failures">\n<h2 id="failures">Failures ({len(shown)})</h2>\n'
    yield from _filters(list(shown.values()), has_baseline=bool(context.baseline))
    for cause in sorted(causes, key=lambda one: not _fails(one, shown)):
        yield from _cause(cause, shown, context)
    if gone:
        yield f'<h3 id="gone">Known, and gone ({len(gone)})</h3>\n<ul>\n'
        yield from (f"<li>{plain(entry_name(entry))}</li>\n" for entry in gone)
        yield "</ul>\n"
    yield "</section>\n"


def _fails(cause: Cause, shown: dict[str, ShownFinding]) -> bool:
    return any(shown[one.fingerprint].fails for one in cause.places)


def _filters(shown: list[ShownFinding], *, has_baseline: bool) -> Iterator[str]:
    """What narrows the list; the script keeps it in the URL."""
    yield '<form class="filters" role="search">\n'
    yield '<label for="filter">Filter</label> <input id="filter" type="search" data-key="filter">\n'
    choices = [
        ("severity", dict.fromkeys(one.finding.severity for one in shown)),
        ("check", dict.fromkeys(sorted(one.finding.check for one in shown))),
    ]
    if has_baseline:
        choices.append(("standing", dict.fromkeys(_STANDINGS)))
    for name, values in choices:
        yield f'<label for="by-{name}">{name.capitalize()}</label> <select id="by-{name}" data-key="{name}"><option value="">all</option>'
        yield "".join(f'<option value="{plain(one)}">{plain(one)}</option>' for one in values)
        yield "</select>\n"
    yield '<button type="button" id="unfold">Open all</button> '
    yield '<output id="count" role="status"></output>\n</form>\n'


def _cause(cause: Cause, shown: dict[str, ShownFinding], context: ReportContext) -> Iterator[str]:
    """All places of a cause; the heading is left out where there is one."""
    ordered = sorted(cause.places, key=lambda one: not shown[one.fingerprint].fails)
    places = [shown[one.fingerprint] for one in ordered]
    if len(places) == 1:
        yield from _failure(places[0], context)
        return
    name = plain(f"c-{cause.fingerprint}")
    first = places[0]
    yield f'<article class="cause" aria-labelledby="{name}">\n<h3 id="{name}">'
    yield f"{plain(_kind(first))} <small>one cause in {len(places)} places</small> "
    yield f'<a class="anchor" href="#{name}" aria-label="Link to this cause">#</a></h3>\n'
    for one in places:
        yield from _failure(one, context)
    yield "</article>\n"


def _kind(shown: ShownFinding) -> str:
    code = f"{shown.finding.code} " if shown.finding.code else ""
    return f"{code}{shown.title}"


def _failure(shown: ShownFinding, context: ReportContext) -> Iterator[str]:
    finding = shown.finding
    anchor = plain(f"f-{finding.fingerprint}")
    severity = plain(finding.severity)
    known = standing_text(shown.standing, shown.entry)
    yield (
        f'<details class="finding" id="{anchor}" data-severity="{severity}" data-check="{plain(finding.check)}" '
        f'data-standing="{shown.standing}">\n<summary>'
    )
    yield f'<span class="severity {severity}">{severity}</span> '
    yield f"{plain(_kind(shown))} <code>{plain(finding.label)}</code>"
    if marks := ", ".join((*shown.marks, *([known] if known else []))):
        yield f' <span class="mark">{plain(marks)}</span>'
    yield f"</summary>\n{_message(shown)}"
    yield from _exchange(shown, context)
    if shown.query:
        yield f'<h3 class="part">Query</h3>\n{block(shown.query)}'
    if shown.setup:
        yield f'<h3 class="part">Send first on a fresh server</h3>\n{block(shown.setup, copied=True)}'
    if shown.commands:
        yield '<h3 class="part">Reproduce with</h3>\n'
        yield "".join(block(command, copied=True) for command in shown.commands)
    if shown.hidden:
        yield f"<p>Hidden: {plain(', '.join(shown.hidden))}</p>\n"
    about = (
        f"{finding.check}, {shown.stability}",
        finding.phase and f"phase {finding.phase}",
        finding.case and f"case {finding.case}",
        f"after {max(0.0, finding.at - context.started_at):.1f} s" if context.started_at else "",
    )
    yield f'<p class="about">{plain(", ".join(part for part in about if part))} '
    yield f'<a class="anchor" href="#{anchor}">{plain(shown.id)}</a></p>\n</details>\n'


def _message(shown: ShownFinding) -> str:
    """What is wrong; the violated schema beside the value that violates it."""
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


def _exchange(shown: ShownFinding, context: ReportContext) -> Iterator[str]:
    """The last request and its answer, side by side."""
    if not shown.finding.interactions:
        return
    sent = shown_request(shown.finding.interactions[-1], context)
    lines = [f"{sent.method} {sent.url}"]
    lines += [f"{name}: {value}" for name, values in sent.headers.items() for value in values]
    if sent.body:
        lines += ["", sent.body[:_SHOWN_BODY].decode("utf-8", "replace")]
    yield f'<div class="beside">\n<div><h3 class="part">Request</h3>\n{block(chr(10).join(lines))}</div>\n'
    # The box shows where it begins and ends.
    body = shown.body.removeprefix("`").removesuffix("`")
    answer = shown.status + (f"\n\n{body}" if body else "")
    yield f'<div><h3 class="part">Answer</h3>\n{block(answer or "-")}</div>\n</div>\n'
