"""The tables of the HTML report: operations with their reach, what of the description was met, phases."""

from collections.abc import Iterator
from functools import partial
from itertools import starmap
from typing import Final

from checker.reporting.context import ReportContext
from checker.reporting.described import OperationCoverage, OutcomeCounts, PlaceCoverage, words
from checker.reporting.formats.markup import bar, class_counts, plain, span, steps, table
from checker.reporting.report import OperationOutcome, Report

_SLOWEST: Final = 5
_LEGEND: Final = (
    '<span class="answer met">met</span> <span class="answer missed">never met -</span> '
    '<span class="answer odd">not as documented!</span>'
)


def operations(report: Report) -> Iterator[str]:
    """What came of each operation, and the slowest of them."""
    found = report.operations
    if not found:
        return
    failed: dict[str, int] = {}
    for finding in report.findings:
        failed[finding.label] = failed.get(finding.label, 0) + 1
    yield f'<section aria-labelledby="operations">\n<h2 id="operations">Operations ({len(found)})</h2>\n'
    yield '<p class="filters"><label for="outcome">Outcome</label> <select id="outcome" data-key="outcome"><option value="">all</option>'
    yield "".join(f"<option>{name}</option>" for name in ("passed", "failed", "errored", "skipped"))
    yield "</select></p>\n"
    heads = ("Operation", "Outcome", "Failures", "Reach", "Answers", "Cases", "Seconds")
    yield from table(
        heads, (_operation(one, failed.get(one.label, 0)) for one in found), "Operations"
    )
    slowest = sorted(found, key=lambda one: -one.seconds)[:_SLOWEST]
    if slowest[0].seconds:
        yield '<h3 id="slowest">Slowest</h3>\n<ol>\n'
        for one in slowest:
            each = f", {1000 * one.seconds / one.cases:.0f} ms a case" if one.cases else ""
            yield f"<li><code>{plain(one.label)}</code> {one.seconds:.2f} s{each}</li>\n"
        yield "</ol>\n"
    yield "</section>\n"


def _operation(one: OperationOutcome, failed: int) -> str:
    note = plain(f": {one.note}") if one.note else ""
    return (
        f'<tr class="operation {one.outcome}" data-outcome="{one.outcome}"><th scope="row"><code>{plain(one.label)}</code></th>'
        f"<td>{plain(one.outcome)}{note}</td><td>{failed or '-'}</td><td>{plain(one.reach or '-')}</td>"
        f"<td>{bar(class_counts(one.statuses))}</td><td>{one.cases:,}</td><td>{one.seconds:.2f}</td></tr>\n"
    )


def coverage(report: Report) -> Iterator[str]:
    """What was tried at each place of the description, and what came back."""
    found = report.coverage
    if not any(one.places or one.documented for one in found.operations):
        return
    yield '<section aria-labelledby="coverage">\n<h2 id="coverage">Coverage of the description</h2>\n<ul class="facts">\n'
    for name, share in found.shares.items():
        what = "operations that answered 2xx" if name == "operations" else words(name)
        yield f"<li>{share.met} of {share.total} {plain(what)}</li>\n"
    yield "</ul>\n"
    for sentence in report.shortfalls:
        yield f'<p class="warning">{plain(sentence)}</p>\n'
    yield f'<p class="about">{_LEGEND}</p>\n'
    for one in found.operations:
        yield from _covered(one)
    yield "</section>\n"


def _covered(one: OperationCoverage) -> Iterator[str]:
    answers = " ".join(map(partial(_status, is_known=True), one.documented))
    others = " ".join(_status((str(status), 1), is_known=False) for status in one.undocumented)
    yield f"<details>\n<summary><code>{plain(one.label)}</code> {answers} {others}</summary>\n"
    if one.places:
        heads = ("Place", "Valid", "Boundary", "Invalid, by the rule that was broken")
        yield from table(
            heads, map(_place, one.places), f"What was tried, and what came back: {one.label}"
        )
    for found in (*one.enumerations, *one.media_types):
        show = _listed if found.is_sent else _received
        listed = " ".join(starmap(show, found.listed))
        yield f'<p class="listed"><code>{plain(found.place)}</code> {listed}</p>\n'
    yield "</details>\n"


def _status(answered: tuple[str, int], *, is_known: bool) -> str:
    status, count = answered
    if not is_known:
        return f'<span class="answer odd" title="not documented">{plain(status)}!</span>'
    kind, words = ("met", f"{count} answers") if count else ("missed", "never answered")
    return (
        f'<span class="answer {kind}" title="{words}">{plain(status)}{"" if count else " -"}</span>'
    )


def _place(place: PlaceCoverage) -> str:
    name = plain(place.place if place.is_declared else f"{place.place} (as a whole)")
    broken = "".join(starmap(_broken, place.broken))
    return (
        f'<tr><th scope="row">{name}</th><td>{_came_back(place.valid)}</td><td>{_came_back(place.edges)}</td>'
        f"<td>{broken or '-'}</td></tr>\n"
    )


def _came_back(came: OutcomeCounts) -> str:
    """A bar of the classes of answers, and how many there were."""
    return f"{_bar(came)} {came.cases:,}" if came.cases else "-"


def _bar(came: OutcomeCounts) -> str:
    return bar(class_counts((100 * status, count) for status, count in came.by_class))


def _broken(keyword: str, came: OutcomeCounts) -> str:
    told = f"{came.accepted} of {came.cases} accepted" if came.accepted else ""
    kind = "odd" if came.accepted else "met" if came.refused == came.cases else "missed"
    told = told or f"{came.refused} of {came.cases} refused"
    return f'<span class="rule"><span class="answer {kind}">{plain(keyword)}</span> {_bar(came)} <small>{told}</small></span>'


def _received(name: str, came: OutcomeCounts) -> str:
    return _status((name, came.cases), is_known=True)


def _listed(name: str, came: OutcomeCounts) -> str:
    told = "never"
    if came.cases:
        refused = f", {came.refused} refused" if came.refused else ""
        told = f"{came.cases} times, {came.accepted} accepted{refused}"
    kind = "met" if came.accepted else "odd" if came.cases else "missed"
    return f'<span class="answer {kind}" title="{told}">{plain(name)}{"" if came.cases else " -"}</span>'


def course(report: Report, context: ReportContext) -> Iterator[str]:
    """Phases, and how failures were discovered over time."""
    if not report.phases:
        return
    yield '<section aria-labelledby="course">\n<h2 id="course">Phases and discovery</h2>\n'
    rows = (
        f'<tr><th scope="row">{plain(phase.title)}</th><td>{plain(phase.note or phase.icon)}</td>'
        f"<td>{phase.tally.passed}</td><td>{phase.tally.failed}</td><td>{phase.tally.known}</td><td>{phase.tally.errored}</td>"
        f"<td>{phase.tally.skipped}</td><td>{span(phase.began_s, phase.elapsed_s, report.elapsed_s, '5xx' if phase.tally.failed else '2xx')}</td></tr>\n"
        for phase in report.phases
    )
    heads = ("Phase", "Result", "Passed", "Failed", "Known", "Errors", "Skipped", "When")
    yield from table(heads, rows, "Operations by phase")
    at = sorted(max(0.0, one.at - context.started_at) for one in report.findings)
    if at and context.started_at:
        label = f"{len(at)} failures, the last one after {at[-1]:.1f} s"
        yield f"<p>{plain(label)}</p>\n{steps(at, report.elapsed_s, label)}"
    yield "</section>\n"
