"""`checker explain "POST /x"`: what was tried of one operation, what came back, and what to do where nothing was served."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from checker.core.blocks import answer_paragraphs, indented, standard_reason
from checker.core.constraints import SELDOM
from checker.core.known import failure_id
from checker.core.send import ON_THE_WAY
from checker.core.terminal import one_line
from checker.core.warning_table import warning_rows
from checker.corpus.fold import RunView
from checker.corpus.records import Interaction
from checker.reporting.context import ReportContext
from checker.reporting.findings import answer_of, marks_of
from checker.reporting.report import OperationOutcome, Report
from checker.reporting.severities import severity_rank
from checker.reporting.shown import shown_request
from checker.reporting.text import xml_text

_MOST_DEMANDS = 20
_MOST_FAILURES = 20
_LONGEST_BODY = 300
"""Characters of a body that was sent."""


def samples_by_status(found: Iterable[Interaction], label: str) -> Mapping[int, Interaction]:
    """Status (0: no answer) -> the first request to an operation that was answered like that, a valid one if there was any."""
    first: dict[int, Interaction] = {}
    for one in found:
        if one.label != label or one.purpose in ON_THE_WAY:
            continue
        status = one.exchange.status or 0
        known = first.get(status)
        if known is None or (known.mode == "negative" and one.mode != "negative"):
            first[status] = one
    return dict(sorted(first.items()))


def operation_page(
    label: str,
    view: RunView,
    report: Report,
    samples: Mapping[int, Interaction],
    context: ReportContext,
) -> str:
    """The page of an operation that the run knows. `samples`: status -> an interaction with such an answer."""
    outcome = next((one for one in report.operations if one.label == label), None)
    parts = [
        _lines(_head(label, view, outcome)),
        _lines(_advice(label, report)),
        _lines(_demands(label, view)),
        _lines(_failures(label, report)),
        *(_sample(one, context) for one in samples.values()),
    ]
    return xml_text("\n\n".join(part for part in parts if part))


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(map(one_line, texts))


def _head(label: str, view: RunView, outcome: OperationOutcome | None) -> Iterator[str]:
    yield f"{label}: {_reach(outcome)}"
    for name, cases in _phases(label, view).items():
        yield f"  {name}: {cases:,} cases"
    wrong = view.wrong.get(label, Counter())
    for kind, counts in (("valid", view.positive_statuses(label)), ("wrong on purpose", wrong)):
        if counts:
            yield f"  answers to requests that were {kind}: {_statuses(counts)}"
    if probes := view.probes.get(label):
        yield f"  answers to requests with other methods: {_statuses(probes)}"
    described = view.described.get(label)
    if described is not None:
        yield f"  documented: {', '.join(described.statuses) or 'nothing'}"
        if described.needs_credentials:
            yield "  it asks for credentials"
    for error in view.errors.values():
        if error.label == label:
            yield f"  {error.title}: {error.message}"


def _reach(outcome: OperationOutcome | None) -> str:
    if outcome is None or not outcome.reach:
        return "no case of it was answered"
    if outcome.reach == "2xx":
        return "served (2xx)"
    return "no answer ever came" if outcome.reach == "no answer" else f"at best {outcome.reach}"


def _phases(label: str, view: RunView) -> Counter[str]:
    """Phase -> cases, of the tasks that are about the operation alone."""
    found = Counter[str]()
    for task in view.tasks.values():
        if task.labels == (label,) and task.cases:
            found[task.phase] += task.cases
    return found


def _statuses(counts: Counter[int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{status or 'none'} x {count:,}" for status, count in ordered)


def _advice(label: str, report: Report) -> Iterator[str]:
    """Warnings about the operation, each with what to do."""
    advice = {row.name: row.advice for row in warning_rows()}
    for note in report.notes:
        if note.label == label and note.kind in advice:
            yield f"{note.kind}: {note.text}"
            if advice[note.kind]:
                yield f"  {advice[note.kind]}"


def _demands(label: str, view: RunView) -> Iterator[str]:
    """What its refusals said beyond the description, and whether that held."""
    mine = [one for one in view.demands.values() if one.label == label]
    if mine:
        yield "Refusals demand beyond the description (later requests respect it):"
    for one in sorted(mine, key=lambda one: one.demand)[:_MOST_DEMANDS]:
        demand = one.demand
        place = " ".join(part for part in (demand.location, ".".join(demand.path)) if part)
        held = " (turned out not to hold)" if one.is_refuted else ""
        is_seldom = demand.keyword == SELDOM
        said = "refused with any value" if is_seldom else f"{demand.keyword} {demand.value}"
        yield f"  {place}: {said}{held}"


def _failures(label: str, report: Report) -> Iterator[str]:
    mine = [one for one in report.findings if one.label == label]
    if mine:
        yield "Failures:"
    for one in sorted(mine, key=lambda one: severity_rank(one.severity))[:_MOST_FAILURES]:
        marks = ", ".join(marks_of(one)) or "stable"
        yield f"  {failure_id(one)}  {one.title} ({one.severity}, {marks})"


def _sample(one: Interaction, context: ReportContext) -> str:
    """One request and the answer to it."""
    sent = shown_request(one, context)
    lines = [f"For example {sent.method} {sent.url}"]
    if sent.body:
        body = sent.body[:_LONGEST_BODY].decode("utf-8", "replace")
        more = " ..." if sent.body_size > _LONGEST_BODY else ""
        lines.append(indented(f"`{body}`{more}"))
    answer = answer_of(one.exchange)
    if answer.status is not None and not answer.body:
        reason = answer.reason or standard_reason(answer.status)
        lines.append(f"[{answer.status}] {reason}, without a body")
    else:
        lines += answer_paragraphs(answer, context.truncation)
    return "\n".join(lines)
