"""The lines of `SUMMARY`. Pure: a report in, lines out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from checker.core.blocks import marked, standard_reason
from checker.core.graphs import grouped
from checker.core.reports import REPORT_FORMATS
from checker.core.terminal import one_line
from checker.core.warning_table import WARNINGS
from checker.corpus.known import KnownStatus
from checker.corpus.records import UNBROKEN, Finding, Note
from checker.health import HEALTH_CHECK, NO_OPERATIONS
from checker.health import KIND as FIRST_ANSWERS
from checker.reporting.baselines import baseline_lines
from checker.reporting.described import words
from checker.reporting.findings import MARKS, SEQUENCE, causes_of, kinds_of, severity_rank
from checker.reporting.report import ENDLESS, OperationOutcome, PhaseTally, Report
from checker.reporting.text import counted, cut_list, walled
from checker.reporting.warnings import is_tip, warning_groups

_REASONS: Final = {
    "completed": "Completed",
    "time limit": "Time limit reached",
    "saturated": "No operation shows new behaviour any more",
    "failure limit": "Failure limit reached",
    "first failure": "First failure",
    "target unavailable": "The API could not be reached",
    "interrupted": "Interrupted",
    "error": "Error",
}
_NEXT_STEPS: Final = {
    "interrupted": "The same command starts with the saved failures and sequences of this run.",
    "first failure": "With `--max-time SECONDS` or `--continue-on-failure` the run continues after failures.",
}


def stop_reason(outcome: str) -> str:
    """Return the outcome of a run for display."""
    return _REASONS.get(outcome, outcome)


Glyph = Callable[[str], str]  # Return the glyph of a name, as the stream can show it.

STAGES = ("make", "wait", "judge", "record", "idle")
NOTE_TITLES = {
    "opaque": ("schema node", "not understood; generated values may not match"),
    "disagreement": ("disagreement", "between validators, not reported as failures"),
    "unjudged": ("response", "could not be judged"),
    "alone": ("check", "limiting the run to one worker, because it needs all cases"),
    UNBROKEN: ("operation", "skipped: no invalid request is possible"),
    "unproved": ("failure", "that did not reproduce"),
    FIRST_ANSWERS: ("problem", "in the first responses"),
    "stalled": ("period", "of 30 s or more without a request of a worker"),
    "held_back": ("operation", "held back, because it may revoke the credentials of the run"),
    "saturated": ("operation", "without new behaviour in the last 1,000 cases"),
    "untried": ("operation", "with cases that were not sent before the time limit"),
}
"""Kind of a note -> (noun to count, rest of the heading)."""
UNREACHED = "no operation returned 2xx"
STABLE = "stable"  # The mark of failures that their commands always reproduce.
_CUT_SHORT = {
    "interrupted": ", interrupted after",
    "error": ", ended by an error after",
    ENDLESS: ", not finished after",
}
_CUT_REASONS = {
    outcome: f" ({stop_reason(outcome).lower()} before)"
    for outcome in ("interrupted", "time limit", "failure limit", "first failure", ENDLESS)
}
_SHOWN_PER_KIND = 10
_NOTICEABLE_S = 5.0  # Working time from which an operation that takes most of a run is named, in seconds.


def summary_lines(
    report: Report, glyph: Glyph, added: Sequence[str] = (), written: Sequence[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield all lines of the section between its ruled lines. If a part raises an exception, a sentence replaces it.

    `added`: lines of hooks; `written`: (format, path) of the written files.
    """
    parts: tuple[Callable[[], Iterable[str]], ...] = (
        partial(_change_lines, report),
        partial(_operation_lines, report),
        partial(_coverage_lines, report),
        partial(_phase_lines, report, glyph),
        partial(_title_counts, report, glyph),
        partial(baseline_lines, report),
        partial(warning_lines, report),
        partial(_authentication_lines, report),
        partial(note_lines, report),
        partial(_case_lines, report),
        partial(ledger_lines, report),
        partial(_end_lines, report, added, written),
    )
    for part in parts:
        yield from walled(lambda part=part: list(part()), _unshown)  # type: ignore[misc]


def total_line(report: Report) -> str:
    """Return the text of the last ruled line: `2 bugs, 7 contract deviations (43 places), 1 error in 1.00s`."""
    if not report.counts.selected and not report.error_count and report.outcome not in _CUT_SHORT:
        since = one_line(report.unchanged_since)
        return f"No selected operation has changed since {since}" if since else "Empty test suite"
    how = _CUT_SHORT.get(report.outcome, " in")
    # The last record of a killed run may be older than the time of its workers.
    spent_s = report.time.wall_s if report.outcome == ENDLESS else report.time.elapsed_s
    when = f"{how} {spent_s:.2f}s"
    parts = []
    failing = report.failing
    if failing:
        counts = _stability(failing)
        # A sequence creates all resources that it needs.
        stable = counts[STABLE] + counts[SEQUENCE]
        causes = causes_of(failing)
        bugs = sum(one.is_bug for one in causes)
        found = [counted(bugs, "bug")] if bugs else []
        found += [counted(len(causes) - bugs, "contract deviation")] if bugs < len(causes) else []
        notes = [counted(len(failing), "place")] if len(causes) < len(failing) else []
        notes += [f"{stable} stable"] if stable < len(failing) else []
        parts.append(marked(", ".join(found), notes))
    if report.error_count:
        parts.append(counted(report.error_count, "error"))
    if not report.counts.cases and not report.findings:
        return f"{', '.join(['Nothing was tested', *parts])}{when}"
    is_reached = bool(report.succeeded or not report.counts.selected)
    if not parts and not is_reached:
        # This comes first, because "no issues found" would mislead if there was no 2xx response.
        parts = [f"N{UNREACHED[1:]}"]
        is_reached = True
    known = len(report.findings) - len(failing)
    unchecked = "Nothing was sent" if report.is_dry else "No checks ran"
    nothing = unchecked if report.is_unchecked else "No issues found"
    parts = parts or ["No new issues found" if known else nothing]
    return f"{', '.join([*parts, *_provisos(report, is_reached=is_reached)])}{when}"


def _provisos(report: Report, *, is_reached: bool) -> Iterator[str]:
    recorded, allowed = map(report.compared.count, (KnownStatus.RECORDED, KnownStatus.ALLOWED))
    if known := len(report.findings) - len(report.failing) - recorded - allowed:
        yield f"{known} known"
    if allowed:
        yield f"{allowed} allowed"
    if recorded:
        yield f"{recorded} recorded as known"
    if warnings := sum(group.size for group in warning_groups(report.notes)):
        yield counted(warnings, "warning")
    if not is_reached:
        yield UNREACHED
    if report.coverage.shortfalls:
        yield "too little is covered"
    if report.failing_warnings:
        yield f"warnings fail the run ({', '.join(report.failing_warnings)})"


def _stability(findings: Iterable[Finding]) -> Counter[str]:
    """Count stable findings, and other findings by their worst reason."""
    return Counter((*kinds_of(finding), STABLE)[0] for finding in findings)


def tally_parts(tally: PhaseTally, glyph: Glyph) -> list[str]:
    """Return the non-zero parts of a tally: `3 passed`, `2 failed`, `1 error`."""
    parts = (
        ("success", tally.passed, f"{tally.passed} passed"),
        ("failure", tally.failed, f"{tally.failed} failed"),
        ("known", tally.known, f"{tally.known} known"),
        ("skip", tally.unchecked, f"{tally.unchecked} without checks"),
        ("error", tally.errored, counted(tally.errored, "error")),
        ("skip", tally.skipped, f"{tally.skipped} skipped"),
    )
    return [f"{glyph(name)} {text}" for name, count, text in parts if count]


def _unshown(why: str) -> list[str]:
    return [f"A part of the summary cannot be shown: {why}. This is a bug in checker.", ""]


def _change_lines(report: Report) -> Iterator[str]:
    if sentence := report.changes.sentence:
        yield f"{sentence}."
        yield from cut_list([f"  - {one_line(text)}" for text in report.changes.ended], _SHOWN_PER_KIND, "  ")
        yield ""


def _operation_lines(report: Report) -> Iterator[str]:
    yield "API Operations:"
    yield f"  Selected: {report.counts.selected}/{report.counts.total}"
    yield f"  Tested: {report.tested}"
    left_out = [one.label for one in report.operations if not (one.is_tested or one.label in NO_OPERATIONS)]
    if left_out and report.tested:
        yield f"  Not tested: {len(left_out)}{_CUT_REASONS.get(report.outcome, '')}"
        yield from cut_list([f"    - {label}" for label in left_out], _SHOWN_PER_KIND, "    ")
    if not report.is_dry:
        yield f"  With a 2xx response: {report.succeeded}"
        unreached = [one for one in report.operations if one.cases and one.reach != "2xx"]
        causes = grouped((refusal_text(one), f"    - {one.label}: {_reach_text(one)}") for one in unreached)
        for cause, lines in sorted(causes.items(), key=lambda pair: -len(pair[1])):
            yield from [f"    {cause}"] if cause else ()
            yield from cut_list(lines, _SHOWN_PER_KIND, "    ")
    yield ""


def _coverage_lines(report: Report) -> Iterator[str]:
    shares = [
        f"{share.met}/{share.total} {words(name)}"
        for name, share in report.coverage.shares.items()
        if share.total and name != "operations"
    ]
    if report.is_dry or not (shares or report.coverage.shortfalls):
        return
    yield f"Covered: {', '.join(shares)}"
    yield from (f"  Too little: {sentence}" for sentence in report.coverage.shortfalls)
    yield ""


_REMEDIES: Final = (
    ((401, 403), "give credentials with `-H` or `--auth`, or values of the caller's own in [parameters]"),
    ((404, 410), "give values that exist in [parameters], or a link or hook that finds them"),
    ((405, 501), "correct the base URL or the method"),
    ((409, 412, 423, 428), "bring the service into the required state with a hook or a link"),
    ((429,), "send fewer requests with `--rate-limit`"),
)


def refusal_text(operation: OperationOutcome) -> str:
    """Return the most frequent refusal of an operation that never returned 2xx, and a remedy; empty without a refusal."""
    status, text = operation.refusal
    if not status or operation.reach == "2xx":
        return ""
    usual = (
        "the server fails: see its log"
        if status >= 500
        else "give values that the service accepts in [parameters], or a hook"
    )
    remedy = next((advice for statuses, advice in _REMEDIES if status in statuses), usual)
    return one_line(f"{status} {text or standard_reason(status)}: {remedy}")


def _reach_text(operation: OperationOutcome) -> str:
    if not operation.statuses:
        return "only tested with other methods"
    if operation.reach == "no answer":
        return "no response"
    status, count = max(operation.statuses, key=lambda pair: (pair[1], -pair[0]))
    return f"no 2xx: {status or 'no response'} in {count} of {operation.own_cases} cases"


def _end_lines(report: Report, added: Sequence[str], written: Sequence[tuple[str, str]]) -> Iterator[str]:
    if report.outcome == ENDLESS:
        yield "The run was killed or is still running. These are the results recorded so far."
        yield ""
    if lines := report.discovery.lines:
        yield from (*lines, "")
    if report.settings.kind == "fuzz":
        yield f"Stop reason: {stop_reason(report.outcome)}"
        if report.outcome in _NEXT_STEPS:
            yield f"  {_NEXT_STEPS[report.outcome]}"
        yield ""
    if added:
        yield from added
        yield ""
    if written:
        yield "Reports:"
        for name, path in written:
            row = REPORT_FORMATS.get(name)
            yield f"  - {row.title if row else name}: {path}"
        yield ""
    for one in report.runs:
        what = f"{one.cases:,} cases, {counted(one.failures, 'failure')}"
        yield f"Run {one.name}: {what}, {one.outcome}, seed {one.seed}"
    if not report.runs:
        yield f"Seed: {report.seed}"
    yield ""


def _phase_lines(report: Report, glyph: Glyph) -> Iterator[str]:
    yield "Test Phases:"
    for phase in report.phases:
        note = f" ({phase.note})" if phase.note else ""
        yield f"  {glyph(phase.icon)} {phase.title}{note}"
    yield ""


def _title_counts(report: Report, glyph: Glyph) -> Iterator[str]:
    by_title = grouped((f"{finding.code} {finding.title}".lstrip(), finding) for finding in report.findings)
    if by_title:
        yield "Failures:"
        worst = {title: min(severity_rank(one.severity) for one in found) for title, found in by_title.items()}
        for title in sorted(by_title, key=lambda t: (worst[t], by_title[t][0].title, t)):
            found = by_title[title]
            failing = sum(report.compared.fails(one.fingerprint) for one in found)
            known = [f"{len(found) - failing} known"] if failing < len(found) else []
            text = f"{glyph('failure' if failing else 'known')} {title}: {len(found)}"
            yield f"  {marked(text, [*known, *_reasons(_stability(found))])}"
        if codes := sorted({one.code for one in report.failing if one.code}):
            yield f"  `checker explain {codes[0]}` explains this failure."
        yield ""
    errors = Counter(error.title for error in report.joined_errors)
    errors.update("Quarantined case" for _ in report.quarantined)
    if errors:
        yield "Errors:"
        yield from (f"  {glyph('error')} {title}: {errors[title]}" for title in sorted(errors))
        yield ""


def _reasons(known: Counter[str]) -> list[str]:
    return [f"{known[mark]} {MARKS[mark][known[mark] > 1]}" for mark in MARKS if known[mark]]


def warning_lines(report: Report) -> Iterator[str]:
    """Yield the warnings by kind, with advice: problems that prevented a part of the tests."""
    groups = [group for group in warning_groups(report.notes) if group.kind != "missing_auth"]
    if not groups:
        return
    yield "Warnings:"
    for group in groups:
        yield f"  {group.title}: {group.size}"
        lines = []
        # For each sentence: its first place, the labels of all places, and the number of further places.
        alike = grouped(
            (text.replace(pointer, "") if pointer else text, ((pointer, text), costs))
            for (pointer, text), costs in group.places
        )
        for (pointer, text), labels, others in [
            (found[0][0], set[str]().union(*(costs for _, costs in found)), len(found) - 1) for found in alike.values()
        ]:
            place = "" if not pointer or pointer in text else f"{pointer}: "
            # The operations of the warning, in brackets; empty for a warning without an operation.
            where = f"in {len(labels)} operations" if len(labels) > 1 else min(labels)
            more = f", and in {others} more places" if others > 1 else ", and in one more place"
            where = f" ({where}{more if others else ''})" if where else ""
            lines.append(f"    - {place}{text}{where}")
        yield from cut_list(lines, _SHOWN_PER_KIND, "    ")
        if group.advice:
            yield f"    {group.advice}"
    yield ""


def _authentication_lines(report: Report) -> Iterator[str]:
    if not report.unauthorized:
        return
    closed = counted(sum(len(labels) for labels in report.unauthorized.values()), "operation")
    yield f"Authentication failed: {closed} returned authentication errors"
    for status, labels in report.unauthorized.items():
        yield f"  {status} {standard_reason(status)}: {counted(len(labels), 'operation')}"
        yield from cut_list([f"    - {label}" for label in labels], _SHOWN_PER_KIND, "    ")
    if 401 in report.unauthorized:
        yield f"  Give credentials with {report.ways_in}."
    else:
        yield f"  Known but not allowed: try other credentials with {report.ways_in}."
    for note in report.notes:
        if is_tip(note):
            yield f"  Or {note.text}"
    yield ""


def note_lines(report: Report) -> Iterator[str]:
    """Yield the notes about skipped and uncertain parts, by kind, with their places."""
    order = list(NOTE_TITLES)
    notes = [note for note in report.notes if note.kind not in WARNINGS]
    kinds = {note.kind for note in notes}
    for kind in sorted(kinds, key=lambda k: (order.index(k) if k in order else len(order), k)):
        places = Counter(_note_text(note) for note in notes if note.kind == kind)
        if kind in NOTE_TITLES:
            noun, rest = NOTE_TITLES[kind]
            yield f"{counted(len(places), noun)} {rest}"
        else:
            yield f"{kind.replace('_', ' ').capitalize()}: {len(places)}"
        lines = [
            f"  - {place}" + (f" (in {count} operations)" if count > 1 else "") for place, count in places.most_common()
        ]
        yield from cut_list(lines, _SHOWN_PER_KIND, "  ")
        yield ""


def _note_text(note: Note) -> str:
    # An opaque node is a schema of the document, which several operations may share, so its pointer names it.
    place = note.pointer if note.kind == "opaque" else f"{note.label} {note.pointer}".strip()
    return ": ".join(part for part in (place, note.text) if part)


def _case_lines(report: Report) -> Iterator[str]:
    yield "Test cases:"
    if report.findings:
        found = counted(len(report.findings), "unique failure")
        if report.counts.failed_cases:
            finders = f"{report.counts.failed_cases} found "
        else:
            # Examples of earlier runs are sent again, but this run did not generate them.
            finders = "earlier examples found " if any(one.check != HEALTH_CHECK for one in report.findings) else ""
        yield f"  {report.counts.cases} generated, {finders}{found}"
        known = _stability(report.findings)
        if reasons := _reasons(known):
            stable = known[STABLE]
            text = f"{stable} reproduce{'s' * (stable == 1)} with one request"
            yield f"  {', '.join([text, *reasons])}"
        causes = len(causes_of(report.findings))
        if causes < len(report.findings):
            yield f"  {counted(causes, 'distinct cause')}"
    elif report.errors and report.counts.cases:
        # After network errors, it would be wrong to say that cases have passed.
        yield f"  {report.counts.cases} generated, no failure found"
    elif report.counts.cases:
        unchecked = "none sent" if report.is_dry else "no checks ran"
        passed = unchecked if report.is_unchecked else f"{report.counts.cases} passed"
        yield f"  {report.counts.cases} generated, {passed}"
    else:
        yield "  None"
    if report.counts.requests and not report.is_dry:
        into = f", {report.counts.inquiries:,} of them to look into failures" if report.counts.inquiries else ""
        yield f"  {counted(report.counts.requests, 'request')}{into}"
    yield ""


def ledger_lines(report: Report) -> Iterator[str]:
    """Yield the time of all workers by activity. The unaccounted rest is one more line."""
    if not report.counts.cases or report.time.wall_s <= 0:
        return
    whole = report.time.wall_s * report.time.workers
    yield f"Time: {report.time.wall_s:.2f}s x {counted(report.time.workers, 'worker')}"
    rows = list(zip(STAGES, report.time.ledger, strict=True))
    rest = whole - sum(report.time.ledger)
    if rest > 0.05 * whole:
        # Starting and ending worker processes, which takes much of a short run.
        rows.append(("other", rest))
    for name, seconds in rows:
        yield f"  {name:<7}{seconds:>10.2f}s {seconds / whole:>5.0%}"
    worked_s = sum(report.time.ledger[:4])
    slowest = max(report.operations, key=lambda one: one.seconds, default=None)
    if slowest is not None and len(report.operations) > 1 and slowest.seconds > max(worked_s / 2, _NOTICEABLE_S):
        yield f"  {slowest.seconds / worked_s:.0%} of the work was for {slowest.label}"
    requests_rate, cases_rate = report.counts.requests / report.time.wall_s, report.counts.cases / report.time.wall_s
    sent = "" if report.is_dry else f"{requests_rate:,.0f} requests/s, "
    yield f"  {sent}{cases_rate:,.0f} cases/s"
    yield ""
