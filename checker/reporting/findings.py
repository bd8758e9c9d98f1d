"""Findings and errors as blocks of text, grouped by operation and by cause, and on one line."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.custom import CustomFailure
from checker.checks.server_error import UNAVAILABLE, ServerError
from checker.core import curl
from checker.core.blocks import (
    Answer,
    FailedCase,
    Truncation,
    block_heading,
    failure_block,
    hidden_paragraphs,
    indented,
    marked,
    reproduction_paragraphs,
)
from checker.core.graphs import grouped
from checker.core.media_types import media_type_of
from checker.core.meta import ANYTHING, Binding, outside_name
from checker.core.request import Location
from checker.core.resources import SAFE
from checker.core.response import codings_of, readable
from checker.core.scenarios import Scenario
from checker.core.templates import telling_text
from checker.core.terminal import one_line
from checker.corpus.known import MAX_RESPONSE_TIME, is_intermittent
from checker.corpus.needs import is_of_method_alone, is_surely_needed
from checker.corpus.records import WHOLE_TASK, Exchange, Finding, OperationError, Quarantined, ResourceMade
from checker.reporting.masking import Parts, Shown, ShownCommand, unmasked
from checker.reporting.text import MOST_PLACES, counted, cut_list, walled
from checker.values.harvest import NAME_MARK
from checker.values.locations import URL_MARK

_SEVERITIES = ("critical", "high", "medium", "low")
_GRAVE = _SEVERITIES.index("high")


def severity_rank(severity: str) -> int:
    """Return the rank of a severity: 0 is the worst, unknown words come last."""
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)


MOST_IN_FULL = 2
"""Places of a cause that are printed in full. If a cause has more, one place is printed and the others are listed."""
_UNDOCUMENTED_STATUS = "ST103"
"""Kinds of failures whose groups come last. Undocumented statuses are most findings of a first run, and rarely defects."""


class Cause(Struct, frozen=True):
    """One defect of the target, with all its places."""

    fingerprint: str
    places: tuple[Finding, ...]  # Its findings, at least one, by label.

    @property
    def worst(self) -> Finding:
        """Return the place that represents the cause: among the most severe ones, the easiest to reproduce."""
        return min(
            self.places,
            key=lambda finding: (
                severity_rank(finding.severity),
                not (
                    finding.investigation.reproduced is True
                    and finding.investigation.hits >= finding.investigation.tries
                ),
                len(finding.steps),
                finding.label,
            ),
        )

    @property
    def rank(self) -> tuple[int, int]:
        worst = self.worst
        return int(self.is_group and worst.code == _UNDOCUMENTED_STATUS), severity_rank(worst.severity)

    @property
    def is_bug(self) -> bool:
        """Whether the cause is worse than a deviation from the description: a grave failure, or a failure of a user's check."""
        return severity_rank(self.worst.severity) <= _GRAVE or self.worst.code in ("", CustomFailure.code)

    @property
    def is_group(self) -> bool:
        return len(self.labels) > MOST_IN_FULL

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(sorted({one.label for one in self.places}))


def cause_of(finding: Finding) -> str:
    """Return the fingerprint of a finding's cause. A finding that was recorded without a cause is its own cause."""
    return finding.cause or finding.fingerprint


def causes_of(findings: Iterable[Finding]) -> list[Cause]:
    """Return the causes of findings, worst first, then by title and first place."""
    by_cause = grouped((cause_of(finding), finding) for finding in findings)
    causes = [
        Cause(name, tuple(sorted(places, key=lambda one: (one.label, one.fingerprint))))
        for name, places in by_cause.items()
    ]
    return sorted(causes, key=lambda one: (one.rank, one.worst.code, one.worst.title, one.worst.label))


def place_lines(cause: Cause, most: int) -> Iterator[str]:
    """Yield `In 12 operations:` and a line for each place with its test case, at most `most` places."""
    yield f"In {counted(len(cause.labels), 'operation')}:"
    places = []
    for one in cause.places:
        sent = one.interactions[-1].exchange if one.interactions else None
        method, space, _ = one.label.partition(" ")
        status = ""
        if sent is not None and sent.status is not None:
            is_other = bool(space) and sent.method != method
            status = f"{sent.method} {sent.status}" if is_other else str(sent.status)
        evidence = ", ".join(part for part in (status, f"test case {one.case}") if part)
        places.append(f"- {one_line(one.label)} ({evidence})")
    yield from cut_list(places, most, advice=": a report such as `--report json` lists all of them")


UNSHOWN = "The rest cannot be shown: {why}. This is a bug in checker."
INTERMITTENT, _TEMPORARY = "intermittent", "temporary by its status"
_NOT_TRIED, _SPENT = "not tried again", "needs a fresh server"
SEQUENCE, DEPENDENT = "needs its sequence", "dependent on earlier requests"
MARKS = {
    INTERMITTENT: (INTERMITTENT, INTERMITTENT),
    _TEMPORARY: (_TEMPORARY, "temporary by their status"),
    _NOT_TRIED: ("was not retried", "were not retried"),
    _SPENT: ("needs a fresh server", "need a fresh server"),
    DEPENDENT: ("depends on earlier requests", "depend on earlier requests"),
    SEQUENCE: ("needs a sequence", "need a sequence"),
}
"""Reason why the commands of a finding may not reproduce it, worst first -> words for one finding, and for several."""
_ID_CHARACTERS = 8  # Characters of a fingerprint that are shown; enough for thousands of findings.
_IN_REQUEST = re.compile(r"request:|\$request\.(?P<location>[a-z]+)[.#]?")
"""The start of a pointer into a request, as written by the pool of values or as a runtime expression."""
_NOT_THERE: Final = frozenset((404, 410))
_SIMPLEST = "0"  # The value of the simplest case. It needs no earlier response, even if one contained it.


Printed = Callable[[Finding], ShownCommand | None]
"""Returns the bash lines that send the requests of a finding on a fresh server; None if its recorded commands are enough."""


def as_recorded(_: Finding) -> None:
    """Return None, so that the recorded commands are printed."""


def failures_by_label(
    findings: Iterable[Finding], truncation: Truncation, shown: Shown = unmasked, printed: Printed = as_recorded
) -> Iterator[tuple[str, str]]:
    """Yield (label, numbered blocks), operations by their worst failure, then by label. Within an operation the worst case comes first.

    Findings of one case share a block. `shown` masks a recorded command.
    """
    for label, cases in _cases_by_label(findings):
        yield label, _blocks(cases, truncation, shown, printed, set())


def _cases_by_label(findings: Iterable[Finding]) -> Iterator[tuple[str, list[list[Finding]]]]:
    """Yield (label, findings of each of its cases), worst first."""
    by_label: dict[str, dict[tuple[str, str], list[Finding]]] = {}
    for finding in sorted(findings, key=lambda f: (f.index, _request_of(f))):
        by_label.setdefault(finding.label, {}).setdefault(_request_of(finding), []).append(finding)
    worst = {label: min(map(_rank, cases.values())) for label, cases in by_label.items()}
    for label in sorted(by_label, key=lambda label: (worst[label], label)):
        # The sort is stable: cases of equal severity stay in order.
        yield label, sorted(by_label[label].values(), key=_rank)


def failures_by_cause(
    findings: Iterable[Finding], truncation: Truncation, shown: Shown = unmasked, printed: Printed = as_recorded
) -> Iterator[tuple[str, str]]:
    """Yield (heading, numbered blocks), worst first: operations with their own failures, and causes of many operations.

    A cause of more than `MOST_IN_FULL` operations is one block: the place that is easiest to reproduce, with a list of all
    places. The heading is a label, or a label `and N more operations`.
    """
    causes = causes_of(findings)
    groups = [cause for cause in causes if cause.is_group]
    alone = [one for cause in causes if not cause.is_group for one in cause.places]
    by_label = grouped((finding.label, finding) for finding in alone)
    parts: list[tuple[tuple[int, int], str, list[list[Finding]]]] = [
        ((0, _rank(by_label[label])), label, cases) for label, cases in _cases_by_label(alone)
    ]
    # Groups whose representatives have the same request share a block.
    for together in grouped(((one.worst.label, _request_of(one.worst)), one) for one in groups).values():
        first = together[0]
        # The message of each cause's representative contains the list of all places.
        shown_places = []
        for one in together:
            listed = "\n".join(place_lines(one, MOST_PLACES))
            shown_places.append(replace(one.worst, message=f"{one.worst.message}\n\n{listed}".strip()))
        heading = f"{shown_places[0].label} and {len(first.labels) - 1} more operations"
        parts.append((first.rank, heading, [shown_places]))
    hidden: set[str] = set()
    for _, heading, cases in sorted(parts, key=lambda part: part[:2]):
        yield heading, _blocks(cases, truncation, shown, printed, hidden)


def _rank(findings: Iterable[Finding]) -> int:
    return min(severity_rank(finding.severity) for finding in findings)


def kinds_of(finding: Finding) -> tuple[str, ...]:
    """Return the `MARKS` of a finding: the reasons why one command may not reproduce it.

    Empty for a stable finding, and if no request can be retried.
    """
    if not finding.case and finding.investigation.reproduced is None:
        return ()
    is_alone = len(finding.steps) <= 1
    status = finding.interactions[-1].exchange.status if finding.interactions else None
    was_repeated = finding.investigation.reproduced is not None or finding.investigation.spent
    # The resource does not exist on a fresh server either. A refusal that was not tried again may precede the lookup of
    # the resource.
    may_stand_alone = status in _NOT_THERE or (
        finding.investigation.reproduced is None and status is not None and 400 <= status < 500
    )
    found = {
        INTERMITTENT: is_intermittent(finding.investigation),
        # The server says that the error is temporary (RFC 9110, 15.6.4). Even if it was seen each time, a lock may
        # outlast all repetitions.
        _TEMPORARY: status == UNAVAILABLE
        and finding.code == ServerError.code
        and was_repeated
        and not is_intermittent(finding.investigation),
        _NOT_TRIED: finding.investigation.reproduced is None and not finding.investigation.spent,
        _SPENT: finding.investigation.spent,
        SEQUENCE: not is_alone,
        # A server error may have created the resource, because no other request of the run did.
        DEPENDENT: finding.investigation.takes_filled
        or any(is_surely_needed(finding, one) or one.status // 100 == 5 for one in finding.needs)
        or (
            not (finding.investigation.is_anew or may_stand_alone)
            # A value in a path that a `GET` returned, and that no known request created, existed before the run.
            and any(
                one is None and not (of.location is Location.PATH and of.producer.partition(" ")[0] in SAFE)
                for _, of, one in _origins(finding)
            )
        ),
    }
    return tuple(mark for mark in MARKS if found[mark])


def marks_of(finding: Finding) -> tuple[str, ...]:
    """Return the marks of a finding as text: `intermittent (2 of 8)`, `needs its sequence`."""
    counts = f" ({finding.investigation.hits} of {finding.investigation.tries})" if finding.investigation.tries else ""
    return tuple(f"{mark}{counts}" if mark == INTERMITTENT else mark for mark in kinds_of(finding))


def _origins(finding: Finding) -> Iterator[tuple[int, Binding, int | None]]:
    """Yield (index of a request, binding to a value of an earlier response, index of the request with that response).

    The last index is None if a request outside the sequence returned the value.
    """
    if is_of_method_alone(finding):
        return
    labels = [step.label for step in finding.steps]
    for number in range(len(labels)):
        for one in _taken(finding, number):
            earlier = [at for at in range(number) if labels[at] == one.producer]
            if one.stands_alone:
                continue
            # Cases without a known value send `0` as well. If the run created a resource `0`, it is in `needs`.
            if earlier or str(one.literal) != _SIMPLEST:
                yield number, one, earlier[-1] if earlier else None


def _taken(finding: Finding, number: int) -> Iterator[Binding]:
    """Yield the bindings of a request whose values it still contains: shrinking may have removed some."""
    step, after = finding.steps[number], len(finding.steps) - number
    has_record = len(finding.interactions) >= after
    parts = finding.interactions[-after].components if has_record else ()
    outside = {part.location: part.outside for part in parts}
    # If several bindings have the same place, the last one is sent.
    for binding in {(one.location, one.name): one for one in step.bindings}.values():
        if not {outside_name(binding), ANYTHING}.isdisjoint(outside.get(binding.location, (ANYTHING,))):
            yield binding


def sources_of(finding: Finding, *, with_sequence: bool = True) -> tuple[str, ...]:
    """Return the origins of values from other requests: `path id of request 2: /id of the response to request 1`.

    Values of the finding's own requests are included only `with_sequence`.
    """
    found: dict[str, str] = {}
    is_alone = len(finding.steps) == 1
    for number, one, earlier in _origins(finding):
        if earlier is not None and not with_sequence:
            continue
        of = "" if is_alone else f" of request {number + 1}"
        owner = one.producer if earlier is None else f"request {earlier + 1}"
        found[f"{one.location.value} {one.name}{of}"] = _origin_text(one.pointer, owner)
    return tuple(f"{place}: {origin}" for place, origin in found.items())


def _origin_text(pointer: str, owner: str) -> str:
    """Return the origin of a value: `/id of the response to POST /things`, `/name of the body of request 1`."""
    place, is_url, located = pointer.partition(URL_MARK)
    if is_url:
        variable, at = located.rpartition("#")[2], place.replace(":", " ") or "the top"
        return f"{variable} in the URL at {at} of the response to {owner}"
    if pointer.endswith(NAME_MARK):
        return f"a name at {pointer.removesuffix(f'/{NAME_MARK}') or 'the top'} of the response to {owner}"
    found = _IN_REQUEST.match(pointer)
    if found is None:
        return f"{pointer} of the response to {owner}" if pointer else f"the response to {owner}"
    part = pointer[found.end() :]
    at = found["location"] or ("body" if part.startswith("/") else "path")
    return f"{part} of the {at} of {owner}" if part else f"the {at} of {owner}"


def _request_of(finding: Finding) -> tuple[str, str]:
    """Return the key of a case. Candidates of a shrink have the same id and no command yet, so their steps are the key."""
    return finding.case, finding.investigation.reproduction or repr(finding.steps)


def _blocks(
    cases: Iterable[list[Finding]], truncation: Truncation, shown: Shown, printed: Printed, hidden: set[str]
) -> str:
    """Return numbered blocks. `hidden` collects the places whose masking was already mentioned, so that each is mentioned once."""
    numbered = enumerate(cases, 1)
    return "\n\n".join(_block(number, case, truncation, shown, printed, hidden) for number, case in numbered)


def _block(
    number: int, findings: list[Finding], truncation: Truncation, shown: Shown, printed: Printed, hidden: set[str]
) -> str:
    def block() -> str:
        case = failed_case(findings, shown, printed)
        if hidden.issuperset(case.hidden):
            case = replace(case, hidden=())
        hidden.update(case.hidden)
        return failure_block(number, case, truncation)

    return walled(
        block,
        lambda why: "\n\n".join(
            [
                block_heading(number, findings[0].case),
                *(f"- {marked(finding.title, marks_of(finding))}" for finding in findings),
                UNSHOWN.format(why=why),
            ]
        ),
    )


def failed_case(findings: list[Finding], shown: Shown = unmasked, printed: Printed = as_recorded) -> FailedCase:
    """Return the block of the findings of one case."""
    worst = sorted(findings, key=lambda f: (severity_rank(f.severity), f.title, f.unique_key))
    first = worst[0]
    tried = {finding.investigation.reproduced for finding in findings}
    marks = [marks_of(finding) for finding in worst]
    common = tuple(mark for mark in marks[0] if all(mark in one for one in marks))
    titles = [
        marked(finding.title, [mark for mark in of_one if mark not in common])
        for finding, of_one in zip(worst, marks, strict=True)
    ]
    lines = printed(first)
    command = lines or shown(first.investigation.reproduction, [one.components for one in first.sent])
    needed = [shown(made.command, [made.components]) for made in first.needs]
    return FailedCase(
        case_id=first.case,
        failures=tuple(
            (title, prose(_message_of(finding), shown)) for title, finding in zip(titles, worst, strict=True)
        ),
        answer=answer_of(first.interactions[-1].exchange) if first.interactions else None,
        commands=tuple(filter(None, command.text.split("\n"))),
        reproduced=False if False in tried else True if tried == {True} else None,
        hidden=tuple(dict.fromkeys(place for one in (*needed, command) for place in one.hidden)),
        stopped=next((finding.investigation.stopped for finding in worst if finding.investigation.stopped), ""),
        needs_state=any(finding.investigation.needs_state for finding in worst),
        marks=common,
        sources=() if lines and first.needs else sources_of(first, with_sequence=not lines),
        ids=tuple(finding.fingerprint[:_ID_CHARACTERS] for finding in worst if is_replayable(finding)),
        needs=()
        if lines
        else tuple((maker_line(first, made), one.text) for made, one in zip(first.needs, needed, strict=True)),
    )


def _message_of(finding: Finding) -> str:
    """Return the message of a failure, with the method if the description does not declare it."""
    if not finding.interactions:
        return finding.message
    last = finding.interactions[-1]
    method, scenario = last.exchange.method, dict(last.phase_data).get("scenario")
    if scenario != Scenario.UNSPECIFIED_METHOD or f"method {method}" in finding.message:
        return finding.message
    return f"Sent with the method {method}, which is not described for this path\n{finding.message}"


def maker_line(finding: Finding, made: ResourceMade) -> str:
    """Return the line about a resource that an earlier request created: `/users/1`."""
    if is_surely_needed(finding, made):
        return made.path
    if made.status >= 400:
        return (
            f"{made.path}: perhaps created by a request that returned {made.status}; without it the status may differ"
        )
    if made.label.startswith("GET "):
        return f"{made.path}: shown by a request that may have created it"
    if finding.investigation.reproduced is None and made.label != finding.label:
        return f"{made.path}: perhaps not needed, because the refusal was not tried again"
    return f"{made.path}: already existed; if it is missing, the status is that of a created resource"


def is_replayable(finding: Finding) -> bool:
    """Whether `checker replay` can reproduce the finding: the printed command failed again, and not because of its response time."""
    is_settled = finding.investigation.stage == "minimised" and finding.investigation.reproduced is True
    return bool(finding.case) and is_settled and finding.check != MAX_RESPONSE_TIME


def prose(text: str, shown: Shown) -> str:
    """Return a recorded text with secrets masked."""
    return shown(text, ()).text if "secret" in text else text


def has_response(exchange: Exchange) -> bool:
    """Whether there is a complete response."""
    return exchange.status is not None and exchange.failure is None


def readable_body(exchange: Exchange) -> bytes:
    """Return the body of a response, decoded from the known content codings."""
    return answer_of(exchange).body


def answer_of(exchange: Exchange) -> Answer:
    """Return the recorded response in the form that text blocks show."""
    received, codings = exchange.response_body, codings_of(exchange.response_headers)
    body = readable(received, codings, is_cut=exchange.response_size > len(received))
    return Answer(
        status=exchange.status if exchange.failure is None else None,
        reason=exchange.reason,
        body=body.content,
        is_cut=body.is_cut,
        charset=charset_of(exchange),
        failure=exchange.failure or "",
    )


def charset_of(exchange: Exchange) -> str | None:
    """Return the charset in the `Content-Type` of a response."""
    for name, value in exchange.response_headers:
        if name.lower() == "content-type":
            media_type = media_type_of(value)
            return None if media_type is None else media_type.charset
    return None


_QUARANTINED: Final = "Quarantined case"


def errors_by_label(
    errors: Iterable[OperationError], quarantined: Iterable[Quarantined], shown: Shown = unmasked
) -> Iterator[tuple[str, str]]:
    """Yield (label, text) of errors and of cases that ended their worker, sorted by label."""
    parts = [
        (error.label, walled(partial(_error_text, error, shown), partial(_unshown, error.title))) for error in errors
    ]
    alike = grouped(((case.label, case.stage, case.reason), case) for case in quarantined)
    parts += [
        (cases[0].label, walled(partial(_quarantine_text, cases, shown), partial(_unshown, _QUARANTINED)))
        for cases in alike.values()
    ]
    for label, group in groupby(sorted(set(parts)), key=lambda part: part[0]):
        yield label, "\n\n".join(text for _, text in group)


def _unshown(title: str, why: str) -> str:
    return f"{title}\n\n{UNSHOWN.format(why=why)}"


def _error_text(error: OperationError, shown: Shown) -> str:
    parts = [error.title, indented(prose(error.message, shown))]
    if error.trace:
        parts.append(indented(prose(error.trace, shown)))
    parts += _reproduction(error.request, error.components, shown)
    return "\n\n".join(part for part in parts if part)


def _quarantine_text(alike: Sequence[Quarantined], shown: Shown) -> str:
    case, more = alike[0], len(alike) - 1
    times = "once" if case.strikes == 1 else f"{case.strikes} times"
    name = f"case {case.case}" if case.case else f"case {case.index} of task {case.task}"
    sentence = f"{name} ended its worker {times} in stage {case.stage}: {case.reason}"
    if case.index == WHOLE_TASK:
        sentence = f"the remaining cases were given up: {case.reason}"
    if more:
        sentence += f"\n{counted(more, 'more case')} did the same."
    parts = [_QUARANTINED, indented(sentence)]
    return "\n\n".join(parts + _reproduction(case.request, case.components, shown))


def _reproduction(command: str, components: Parts, shown: Shown) -> list[str]:
    if not command:
        return []
    # A case that ended its worker before it was sent has no command, only its choices.
    text = shown(command, [components]) if command.startswith("curl ") else ShownCommand(command)
    return [*reproduction_paragraphs(text.text.split("\n"), reproduced=None), *hidden_paragraphs(text.hidden)]


_SERVER_ERROR: Final = "ST101"
_LONGEST: Final = 160
_LONGEST_INPUT: Final = 60
_INVALID: Final = re.compile(r"Invalid components?:\s+(?:- )?(?P<part>[^\n]*)")
_PAIR: Final = re.compile(
    r"Received: (?P<received>[^\n]*)\n(?:[^\n]*\n)*?(?P<kind>Documented|Expected): (?P<other>[^\n]*)"
)
_PREAMBLE: Final = re.compile(r"\A(?:(?:Valid data should|Sent with the method|Expected: )[^\n]*\n?)+")
_END: Final = "\n"
_LIST: Final = re.compile(r":\n- ")


def fact_of(finding: Finding, case: FailedCase) -> str:
    """Return what is wrong: ``500 on `?sort=-due`: KeyError``, `received 202, documented: 201, 400`. Empty if unknown.

    For a server error, and for an unexplained refusal of valid data, this is the input and the text of the response.
    Otherwise it is the line of the message that names the fault, or the first line.
    """
    message, answer = case.failures[0][1], case.answer
    status = (answer.status or 0) if answer is not None else 0
    told = _PREAMBLE.sub("", message).strip()
    if answer is not None and status and ((finding.code == _SERVER_ERROR and status >= 500) or (message and not told)):
        sent = _input(case.commands[-1], finding.label) if case.commands else ""
        lines = [line.strip() for line in telling_text(answer.body).splitlines() if line.strip()]
        said = next((line for line in lines if " " in line), lines[0] if lines else "")
        fact = f"{answer.status}{f' on `{sent}`' if sent else ''}{f': {said}' if said else ''}"
    elif pair := _PAIR.search(told):
        fact = f"received {pair['received']}, {pair['kind'].lower()}: {pair['other']}"
        if pair["kind"] == "Expected" and pair.start():
            fact = f"{told.partition(_END)[0]}: {fact}"
    elif invalid := _INVALID.search(message):
        fact = f"{status} for {invalid['part']}" if status else invalid["part"]
    else:
        fact = _LIST.sub(": ", told, count=1).partition(_END)[0]
    return _short(fact, _LONGEST)


def cause_line(cause: Cause, shown: Shown) -> str:
    """Return `  critical ST101 GET /a and 2 more operations: Server error: 500 on ...`."""
    worst = cause.worst
    fact, more = fact_of(worst, failed_case([worst], shown)), len(cause.labels) - 1
    others = f" and {counted(more, 'more operation')}" if more else ""
    code = f"{worst.code} " if worst.code else ""
    return one_line(f"  {worst.severity:<8} {code}{worst.label}{others}: {worst.title}{f': {fact}' if fact else ''}")


def _input(command: str, label: str) -> str:
    """Return the query or the body of a command, shortened. Without either, return the path if the label has variables."""
    try:
        request, url = curl.parse(command)
        place = urlsplit(url)
    except ValueError:
        return ""
    text = f"?{place.query}" if place.query else (request.body or b"").decode("utf-8", "replace")
    text = text or (place.path if "{" in label else "")
    return _short(text, _LONGEST_INPUT)


def _short(text: str, most: int) -> str:
    shown = one_line(text)
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."
