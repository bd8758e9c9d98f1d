"""The pages of `checker explain`: a failure or a warning, and one operation of a run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from checker.checks.table import BUILT_IN, FAILURES
from checker.core.blocks import answer_paragraphs, indented, standard_reason
from checker.core.constraints import MOSTLY, SELDOM, USUAL
from checker.core.failures import Failure
from checker.core.send import ON_THE_WAY
from checker.core.terminal import one_line
from checker.core.warning_table import WARNINGS
from checker.corpus.fold import RunView
from checker.corpus.known import failure_id
from checker.corpus.records import Interaction
from checker.reporting.findings import answer_of, marks_of, severity_rank
from checker.reporting.report import OperationOutcome, Report
from checker.reporting.shown import ReportContext, shown_request
from checker.reporting.summary import refusal_text
from checker.reporting.text import counted, xml_text


class Explanation(Struct, frozen=True):
    """The text of a page that is not in the tables."""

    what: str  # The observation, and the reason why it is a defect.
    fix: str  # The usual cause, and the remedy.
    setting: str = ""  # Lines of `checker.toml` that change the check; may be empty.


_STATUSES: Final = "[checks.{check}]\nexpected-statuses = [{statuses}]"

PAGES: Final[Mapping[str, Explanation]] = {
    "ST101": Explanation(
        "The server responded with a 5xx status: it failed unexpectedly.",
        "Look for the exception in its log and return a 4xx status if the request is at fault. A 5xx status that is "
        "documented still fails, since no client can do anything about it.",
        _STATUSES.format(check="not_a_server_error", statuses='"2XX", "3XX", "4XX", 503'),
    ),
    "ST103": Explanation(
        "The server responded with a status that the description does not list for this operation.",
        "Document the status, or correct the server. 401 and 403 mostly mean that credentials are missing. A `default` "
        "response silences the failure, but documents nothing for the users of the API.",
    ),
    "ST104": Explanation(
        "The response has no Content-Type header although the description defines its body.",
        "Send the header, or remove `content` from the response if it has no body.",
    ),
    "ST105": Explanation(
        "The response has a media type that the description does not list for its status.",
        "Document it, or correct the server. Error handlers of frameworks often send `application/problem+json` or HTML.",
    ),
    "ST106": Explanation(
        "Content-Type is not of the form `type/subtype`.",
        "Correct the header that the server sends, or the key below `content` in the description.",
    ),
    "ST107": Explanation(
        "The description requires headers of this response that are missing.",
        "Send them, or remove `required: true` from the header.",
    ),
    "ST108": Explanation(
        "A part of the response violates its schema. The message names the keyword and the place.",
        "Correct the server or the schema. Properties that may be missing or null are the usual cause.",
        "[checks.response_schema_conformance]\nvalidate-formats = false",
    ),
    "ST109": Explanation(
        "The response claims to be JSON but is not valid JSON (RFC 8259).",
        "Look at the position in the message: truncated responses, error pages and text around the JSON are the usual causes.",
    ),
    "ST110": Explanation(
        "The body of the response cannot be decoded as its Content-Type.", "Correct the body or the header."
    ),
    "ST112": Explanation(
        "The response took longer than the limit, measured until it was complete.",
        "Make the operation faster, or give it a limit of its own. Such a failure may not reproduce.",
        "[checks]\nmax_response_time = 2.5",
    ),
    "ST113": Explanation(
        "The body reports an internal error of the server, whatever its status.",
        "Look for the exception of the named resolver in the log, and return an error of the schema if the request is at fault.",
    ),
    "ST114": Explanation(
        "A field that the schema declares as non-null is null: the response lists it in `errors` and drops the surrounding object.",
        "Return a value, or remove the `!` from the type.",
    ),
    "ST115": Explanation(
        "The server closed or reset the connection before its response was complete, several times, each on a new connection.",
        "Look for a panic, a crashed worker process or an exception outside the error handler in its log, and return a status.",
    ),
    "ST116": Explanation(
        "The server sent no response within three times the request timeout, while it responded to other requests.",
        "Look for a handler that waits for ever or returns without a response: a lock, a loop, a missing callback or `await`.",
    ),
    "ST201": Explanation(
        "A request that breaks the description was accepted. The message names the part that is wrong.",
        "Validate the part, or state in the schema what the server accepts.",
        _STATUSES.format(check="negative_data_rejection", statuses='"4XX", 200'),
    ),
    "ST202": Explanation(
        "A request that keeps to the description was refused.",
        "State in the schema what the server requires: lengths, patterns, dependencies between properties.",
        _STATUSES.format(check="positive_data_acceptance", statuses='"2XX", 404, 418'),
    ),
    "ST203": Explanation(
        "A request without a required header was accepted.",
        "Refuse it, or remove `required: true` from the header.",
        _STATUSES.format(check="missing_required_header", statuses="400, 401, 422"),
    ),
    "ST204": Explanation(
        "The response to a method that the description does not have was not 405 with an Allow header (RFC 9110, 15.5.6).",
        "Return 405, or document the method. Gateways and CORS handlers often handle OPTIONS themselves.",
        "[phases.coverage]\nunexpected-methods = []",
    ),
    "ST205": Explanation(
        "The Allow header does not name the methods that the description has for the path.",
        "Correct either of them. Gateways and CORS handlers often write their own.",
    ),
    "ST301": Explanation(
        "A resource is still there after a DELETE of it succeeded.",
        "Return 404 or 410, also if it is only marked as deleted. Look for caches.",
    ),
    "ST302": Explanation(
        "A resource that was just created is not found under the id in the response.",
        "Look for writes that are not visible at once, for ids in another form, and for links that name another field.",
    ),
    "ST303": Explanation(
        "A write was accepted, but a later read shows another value than the one that was sent.",
        "Store the value, refuse the write, or mark the property as `readOnly`. Look for caches and for rounding.",
    ),
    "ST304": Explanation(
        "A filter has no effect: two values return the same items, some of which have the wrong value.",
        "Look for a parameter that the handler does not read, or reads under another name.",
    ),
    "ST305": Explanation(
        "A collection returns more items than the limit in the request.",
        "Apply the limit, or describe its minimum if the server has one.",
    ),
    "ST306": Explanation(
        "A collection returns its items in another order than the request asks for.",
        "Apply the order to the whole collection, before it is divided into pages.",
    ),
    "ST307": Explanation(
        "An item is on two pages of a collection.",
        "Sort by a unique key, and look for an offset that is counted from 1 in one place and from 0 in another.",
    ),
    "ST308": Explanation(
        "A read shows a value of a write that the server refused.",
        "Validate before anything is stored, or roll the transaction back.",
    ),
    "ST309": Explanation(
        "The `Location` header of a response with 201 leads to 404 or 410.",
        "Look for a missing prefix, and for an identifier in another form.",
    ),
    "ST310": Explanation(
        "Two equal requests that were sent at the same time were both accepted. If they are sent one after the other, "
        "the second one is refused, returns the resource of the first one, or is charged separately.",
        "Check and act in one step: with a unique index, a conditional UPDATE, or a lock around both.",
    ),
    "ST311": Explanation(
        "The total of a collection is larger than the number of items on its pages.",
        "Count with the conditions of the query that reads the items: deleted and hidden ones are often counted.",
    ),
    "ST312": Explanation(
        "GET returns a resource, but HEAD fails or reports that there is none.",
        "Route HEAD to the handler of GET, or refuse it with 405.",
    ),
    "ST313": Explanation(
        "Each GET of a resource changes its version, or a counter that only writes should change.",
        "Load the resource without storing it: caches, crawlers and retries send GET at any time (RFC 9110, 9.2.1).",
    ),
    "ST314": Explanation(
        "A second equal PUT adds its items to a list once more.",
        "Replace the list. A client that repeats a PUT after a lost response must not change anything (RFC 9110, 9.2.2).",
    ),
    "ST315": Explanation(
        "A PUT omits a property. Its response shows the resource without the property, but a read still shows the old value.",
        "Remove the property when a PUT omits it, or return what is stored.",
    ),
    "ST316": Explanation(
        "A request with the entity tag of an old version is served as if the version were the current one.",
        "Compare `If-Match` and `If-None-Match` with the tag of the current version: updates get lost otherwise (RFC 9110, 13.1).",
    ),
    "ST317": Explanation(
        "Two requests with the same Idempotency-Key create two resources.",
        "Store the key with the resource in one step, and return the resource of the first request.",
    ),
    "ST318": Explanation(
        "Pages leave out items that a larger page shows.",
        "Begin a page with the first item after the cursor, and sort by a unique key.",
    ),
    "ST319": Explanation(
        "A PATCH sets a number to zero that it does not contain, although all values that it contains are stored already.",
        "Change the fields that the request has: defaults of the others must not be written (RFC 5789, 2; RFC 7396, 1).",
    ),
    "ST401": Explanation(
        "An operation whose description requires credentials succeeds without credentials, or with wrong ones.",
        "Check them on the server, or say `security: []` for an operation that is public.",
    ),
    "ST402": Explanation(
        "A user reads a resource of another user. The resource is neither public nor in the list that this user gets.",
        "On the server, compare the owner of the resource with the caller in every operation that reaches it.",
    ),
    "ST403": Explanation(
        "An error response holds a stack trace, an error of the database, a path of the server or a secret, which "
        "helps an attacker.",
        "Turn the debug mode off, write the details to the log, and return a message of your own.",
    ),
    "ST404": Explanation(
        "A write sets a field that the description marks as `readOnly`: the response and a read show the value that was sent.",
        "Copy only the fields that a client may set, or remove `readOnly` from the description.",
    ),
    "ST405": Explanation(
        "A value of a request is evaluated as a template, opened as a path, fetched as an address, or written into a header or a statement.",
        "Pass values as parameters of a statement or template, compare paths and addresses with a list, and refuse line breaks in headers.",
    ),
    "ST406": Explanation(
        "A user changes or removes a resource of another user, and the owner then reads the change.",
        "On the server, compare the owner of the resource with the caller in every operation that reaches it.",
    ),
    "ST407": Explanation(
        "A token is still accepted after a successful logout with the same token.",
        "Remove the session, or list its token as revoked until it expires.",
    ),
    "ST901": Explanation("A check of your own failed: its message is the text of the assertion.", "Look at the check."),
}


def pages_for(name: str) -> list[str] | None:
    """Return the pages about a code (`ST101`, `101`, any case), a check or a warning; None for an unknown name."""
    wanted = name.strip()
    code = wanted.upper() if wanted.upper().startswith("ST") else f"ST{wanted}"
    kinds = [kind for kind in FAILURES.values() if kind.code == code]
    if kinds or code in PAGES:
        return [_failure_page(code, kinds)]
    check = BUILT_IN.get(wanted.lower())
    if check is not None:
        codes = dict.fromkeys(kind.code for kind in check.failures if kind.code)
        return [_failure_page(one, [k for k in FAILURES.values() if k.code == one]) for one in codes]
    row = WARNINGS.get(wanted.lower())
    if row is None:
        return None
    lines = [f"{row.name}: {row.title}"]
    if row.advice:
        lines += ["", row.advice]
    lines += [
        "",
        "In checker.toml:",
        "    [warnings]",
        f'    fail-on = ["{row.name}"]',
        "",
        f'To turn it off: --warnings off, or --warnings with the names of all others. To fail on it: fail-on = ["{row.name}"].',
    ]
    return ["\n".join(lines)]


def known_names() -> Iterator[str]:
    """Yield all names with a page: codes, checks, warnings."""
    yield from sorted({*PAGES, *(kind.code for kind in FAILURES.values() if kind.code)})
    yield from (name for name, check in BUILT_IN.items() if check.failures)
    yield from WARNINGS


def title_of_name(name: str) -> str:
    """Return the title of a name, on one line."""
    for kind in FAILURES.values():
        if kind.code == name:
            return kind.title
    if name in BUILT_IN:
        codes = dict.fromkeys(kind.code for kind in BUILT_IN[name].failures if kind.code)
        return f"check: {', '.join(codes)}" if codes else "check"
    return WARNINGS[name].title if name in WARNINGS else "Custom check failed"


def _failure_page(code: str, kinds: list[type[Failure]]) -> str:
    page = PAGES.get(code)
    titles = " / ".join(dict.fromkeys(kind.title for kind in kinds)) or "Custom check failed"
    checks = [name for name, check in BUILT_IN.items() if any(kind in check.failures for kind in kinds)]
    lines = [f"{code} {titles}"]
    if kinds:
        lines += [f"Severity: {kinds[0].severity.value}", f"Checks: {', '.join(checks)}"]
    if page is not None:
        lines += ["", page.what, "", page.fix]
    if page is not None and page.setting:
        lines += ["", "In checker.toml:", *(f"    {line}" for line in page.setting.splitlines())]
    for check in checks:
        others = {kind.code for kind in BUILT_IN[check].failures if kind.code} - {code}
        beside = f", which leaves out {', '.join(sorted(others))}, too" if others else ""
        lines += ["", f"To turn it off: --exclude-checks {check}{beside}."]
    return "\n".join(lines)


_MOST_DEMANDS = 20
_MOST_ALIKE = 10
_MOST_FAILURES = 20
_LONGEST_BODY = 300  # Characters of a request body that are printed.


def samples_by_status(found: Iterable[Interaction], label: str) -> Mapping[int, Interaction]:
    """Return status (0: no response) -> the first interaction of an operation with this status, preferably a valid one."""
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
    label: str, view: RunView, report: Report, samples: Mapping[int, Interaction], context: ReportContext
) -> str:
    """Return the page of an operation of a run. `samples`: status -> an interaction with it."""
    outcome = next((one for one in report.operations if one.label == label), None)
    texts = (
        _head(label, view, outcome),
        _refusal(outcome, report),
        _advice(label, report),
        _demands(label, view),
        _failures(label, report),
    )
    parts = ["\n".join(map(one_line, lines)) for lines in texts]
    parts += [_sample(one, context) for one in samples.values()]
    return xml_text("\n\n".join(part for part in parts if part))


def _head(label: str, view: RunView, outcome: OperationOutcome | None) -> Iterator[str]:
    if outcome is None or not outcome.reach:
        reach = "none of its cases got a response"
    elif outcome.reach == "2xx":
        reach = "served (2xx)"
    else:
        reach = "no response ever came" if outcome.reach == "no answer" else f"at best {outcome.reach}"
    yield f"{label}: {reach}"
    found = Counter[str]()
    for task in view.tasks.values():
        if task.labels == (label,) and task.cases:
            found[task.phase] += task.cases
    for name, cases in found.items():
        yield f"  {name}: {counted(cases, 'case')}"
    seen = view.of(label)
    for kind, counts in (("valid", seen.positive_statuses), ("wrong on purpose", seen.wrong)):
        if counts:
            yield f"  responses to requests that were {kind}: {_statuses(counts)}"
    if seen.probes:
        yield f"  responses to requests with other methods: {_statuses(seen.probes)}"
    if (described := seen.described) is not None:
        yield f"  documented: {', '.join(described.statuses) or 'nothing'}"
        if described.needs_credentials:
            yield "  requires credentials"
    for error in view.errors.values():
        if error.label == label:
            yield f"  {error.title}: {error.message}"


def _refusal(outcome: OperationOutcome | None, report: Report) -> Iterator[str]:
    text = "" if outcome is None else refusal_text(outcome)
    if outcome is not None and text:
        yield f"Never reached. Most common refusal: {text}"
        others = [one.label for one in report.operations if one is not outcome and refusal_text(one) == text]
        if others:
            yield f"  The same for {', '.join(others[:_MOST_ALIKE])}{' and others' * (len(others) > _MOST_ALIKE)}"


def _statuses(counts: Counter[int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{status or 'none'} x {count:,}" for status, count in ordered)


def _advice(label: str, report: Report) -> Iterator[str]:
    for note in report.notes:
        if note.label == label and note.kind in WARNINGS:
            yield f"{note.kind}: {note.text}"
            if advice := WARNINGS[note.kind].advice:
                yield f"  {advice}"


def _demands(label: str, view: RunView) -> Iterator[str]:
    """Yield the target's demands beyond the description, and whether they held."""
    mine = [one for one in view.demands.values() if one.label == label and one.demand.keyword != USUAL]
    if mine:
        yield "Rules learned from refused requests, which later requests follow:"
    for one in sorted(mine, key=lambda one: one.demand)[:_MOST_DEMANDS]:
        demand = one.demand
        place = " ".join(part for part in (demand.location, ".".join(demand.path)) if part)
        held = " (refuted later)" if one.is_refuted else ""
        of_parts = {SELDOM: "refused with any value", MOSTLY: "refused without it"}
        text = of_parts.get(demand.keyword, f"{demand.keyword} {demand.value}")
        yield f"  {place}: {text}{held}"


def _failures(label: str, report: Report) -> Iterator[str]:
    mine = [one for one in report.findings if one.label == label]
    if mine:
        yield "Failures:"
    for one in sorted(mine, key=lambda one: severity_rank(one.severity))[:_MOST_FAILURES]:
        marks = ", ".join(marks_of(one)) or "stable"
        yield f"  {failure_id(one)}  {one.title} ({one.severity}, {marks})"


def _sample(one: Interaction, context: ReportContext) -> str:
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
