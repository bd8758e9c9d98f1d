"""HTML: one file that needs no network, for people. Whatever a server said is text in it, never markup."""

from collections.abc import Iterator
from importlib.resources import files

from checker import __version__
from checker.reporting.context import ReportContext
from checker.reporting.error_blocks import alike_as_one, errors_by_label
from checker.reporting.formats.html_failures import failures
from checker.reporting.formats.html_tables import course, coverage, operations
from checker.reporting.formats.markup import block, plain, prose
from checker.reporting.report import Report
from checker.reporting.summary import counted, total_line
from checker.reporting.warning_notes import warning_groups

_NAMES = {"course": "Phases", "settings": "This run"}
"""Of parts whose headings do not begin with their names."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Text of the report."""
    yield from page(report, context, _POLICY, "")


def page(report: Report, context: ReportContext, policy: str, script: str) -> Iterator[str]:
    """The document; `policy` says what it may load, `script` what it does besides."""
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
    """What of it changes while a run goes on."""
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
    kind = "bad" if report.failing or report.error_count else "good" if report.cases else "open"
    yield f'<header class="{kind}">\n<h1>{plain(total_line(report))}</h1>\n'
    about = ", ".join(part for part in (context.title, context.specification) if part)
    yield f'<p>{plain(about)}</p>\n<ul class="facts">\n'
    for fact in (
        f"{report.tested} of {report.selected} operations tested",
        f"{report.succeeded} answered 2xx",
        f"{report.cases:,} cases, {report.requests:,} requests",
        f"seed {report.seed}",
    ):
        yield f"<li>{plain(fact)}</li>\n"
    yield '</ul>\n<nav aria-label="Parts of this report">'
    yield " ".join(
        f'<a href="#{name}">{_NAMES.get(name) or name.capitalize()}</a>' for name in parts
    )
    yield ' <button type="button" id="theme">Light or dark</button></nav>\n</header>\n<main>\n'
    if not report.is_complete:
        yield '<p class="warning">The run has no end: this is what it came to so far.</p>\n'


def _errors(report: Report, context: ReportContext) -> Iterator[str]:
    errors = list(
        errors_by_label(alike_as_one(report.errors), report.quarantined, context.masking.command)
    )
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
        ("Workers", str(report.workers)),
        ("Seconds", f"{report.elapsed_s:.2f}"),
        ("Ended", report.outcome),
        ("Baseline", context.baseline.source or "none"),
        ("Version", f"Checker {__version__}"),
    ):
        yield f"<dt>{name}</dt><dd>{plain(value)}</dd>\n"
    yield "</dl>\n</section>\n"
