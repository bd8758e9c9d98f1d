"""What `checker explain` knows of failures and warnings: what it means, where it comes from, what to do."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from checker.checks.table import BUILT_IN, FAILURES
from checker.core.failures import Failure
from checker.core.warning_table import WarningRow, warning_rows


class Explanation(Struct, frozen=True):
    """What stands on a page beside what the tables say."""

    what: str
    """What was seen, and why it is wrong."""
    fix: str
    """Where it mostly comes from, and what to do."""
    setting: str = ""
    """Lines of `checker.toml` that change it, if any do."""


_STATUSES: Final = "[checks.{check}]\nexpected-statuses = [{statuses}]"

PAGES: Final[Mapping[str, Explanation]] = {
    "ST101": Explanation(
        "The server answered with a 5xx status: it met something that it did not expect.",
        "Look for the exception in its log and answer with a 4xx status if the request is at fault. A 5xx status that is "
        "documented still fails, since no client can do anything about it.",
        _STATUSES.format(check="not_a_server_error", statuses='"2XX", "3XX", "4XX", 503'),
    ),
    "ST103": Explanation(
        "The server answered with a status that the description does not have for this operation.",
        "Document the status, or correct the server. 401 and 403 mostly mean that credentials are missing. A `default` "
        "response silences it, and says nothing to the users of the API.",
    ),
    "ST104": Explanation(
        "The answer has no Content-Type header although the description says what its body is.",
        "Send the header, or remove `content` from the response if it has no body.",
    ),
    "ST105": Explanation(
        "The answer is of a media type that the description does not have for its status.",
        "Document it, or correct the server. Error handlers of frameworks often send `application/problem+json` or HTML.",
    ),
    "ST106": Explanation(
        "Content-Type is not of the form `type/subtype`.",
        "Correct the header that the server sends, or the key below `content` in the description.",
    ),
    "ST107": Explanation(
        "The description requires headers of this response that the answer does not have.",
        "Send them, or remove `required: true` from the header.",
    ),
    "ST108": Explanation(
        "A part of the answer is not as its schema says. The message names the keyword that it breaks, and where.",
        "Correct the server or the schema. Properties that may be missing or null are the usual cause.",
        "[checks.response_schema_conformance]\nvalidate-formats = false",
    ),
    "ST109": Explanation(
        "The answer says that it is JSON, and cannot be read as JSON (RFC 8259).",
        "Look at the position in the message: answers that are cut, error pages and text beside the JSON are the usual causes.",
    ),
    "ST110": Explanation(
        "The body of the answer cannot be read as what its Content-Type says.",
        "Correct the body or the header.",
    ),
    "ST112": Explanation(
        "The answer took longer than the limit. It is measured until the answer is complete.",
        "Make the operation faster, or give it a limit of its own. Such a failure may not show again.",
        "[checks]\nmax_response_time = 2.5",
    ),
    "ST115": Explanation(
        "The server closed or reset the connection before its response was complete, several times, each on a new connection.",
        "Look for a panic, a crashed worker process or an exception outside the error handler in its log, and answer with a status.",
    ),
    "ST201": Explanation(
        "A request that breaks the description was accepted. The message names the part that is wrong.",
        "Validate the part, or make the schema say what is really accepted.",
        _STATUSES.format(check="negative_data_rejection", statuses='"4XX", 200'),
    ),
    "ST202": Explanation(
        "A request that keeps to the description was refused.",
        "Make the schema say what the server asks for: lengths, patterns, what depends on what.",
        _STATUSES.format(check="positive_data_acceptance", statuses='"2XX", 404, 418'),
    ),
    "ST203": Explanation(
        "A request without a required header was accepted.",
        "Refuse it, or remove `required: true` from the header.",
        _STATUSES.format(check="missing_required_header", statuses="400, 401, 422"),
    ),
    "ST204": Explanation(
        "A method that the description does not have was not answered with 405 and an Allow header (RFC 9110, 15.5.6).",
        "Answer with 405, or document the method. Gateways and CORS handlers often answer OPTIONS themselves.",
        "[phases.coverage]\nunexpected-methods = []",
    ),
    "ST205": Explanation(
        "The Allow header does not name the methods that the description has for the path.",
        "Correct either of them. Gateways and CORS handlers often write their own.",
    ),
    "ST301": Explanation(
        "A resource is still there after a DELETE of it succeeded.",
        "Answer with 404 or 410, also if it is only marked as deleted. Look for caches.",
    ),
    "ST302": Explanation(
        "A resource that was just created is not found under the id that the answer gave.",
        "Look for writes that are not visible at once, for ids in another form, and for links that name another field.",
    ),
    "ST401": Explanation(
        "An operation whose description asks for credentials answers without them, or with wrong ones.",
        "Check them on the server, or say `security: []` for an operation that is public.",
    ),
    "ST402": Explanation(
        "A user reads what another user made: it is neither public nor in the list that this user gets.",
        "Compare the owner of the thing with who is calling, on the server, for every way that leads to it.",
    ),
    "ST901": Explanation(
        "A check of your own failed: its message is the text of the assertion.",
        "Look at the check.",
    ),
}
"""By code."""


def pages_for(name: str) -> list[str] | None:
    """Pages on a code (`ST101`, `101`, any case), a check or a warning; None when nobody knows the name."""
    wanted = name.strip()
    code = wanted.upper() if wanted.upper().startswith("ST") else f"ST{wanted}"
    kinds = [kind for kind in FAILURES.values() if kind.code == code]
    if kinds:
        return [_failure_page(code, kinds)]
    if code in PAGES:
        return [_failure_page(code, [])]
    check = BUILT_IN.get(wanted.lower())
    if check is not None:
        codes = dict.fromkeys(kind.code for kind in check.failures if kind.code)
        return [
            _failure_page(one, [k for k in FAILURES.values() if k.code == one]) for one in codes
        ]
    rows = [row for row in warning_rows() if row.name == wanted.lower()]
    return [_warning_page(row) for row in rows] or None


def nearest(name: str) -> str | None:
    """The name that somebody may have meant."""
    found = get_close_matches(name, list(known_names()), n=1, cutoff=0.5)
    return found[0] if found else None


def known_names() -> Iterator[str]:
    """Everything that can be explained: codes, checks, warnings."""
    yield from sorted({*PAGES, *(kind.code for kind in FAILURES.values() if kind.code)})
    yield from (name for name, check in BUILT_IN.items() if check.failures)
    yield from (str(row.name) for row in warning_rows())


def title_of_name(name: str) -> str:
    """What a name stands for, on one line."""
    for kind in FAILURES.values():
        if kind.code == name:
            return kind.title
    if name in BUILT_IN:
        codes = dict.fromkeys(kind.code for kind in BUILT_IN[name].failures if kind.code)
        return f"check: {', '.join(codes)}" if codes else "check"
    return next((row.title for row in warning_rows() if row.name == name), "Custom check failed")


def _failure_page(code: str, kinds: list[type[Failure]]) -> str:
    page = PAGES.get(code)
    titles = " / ".join(dict.fromkeys(kind.title for kind in kinds)) or "Custom check failed"
    checks = [
        name for name, check in BUILT_IN.items() if any(kind in check.failures for kind in kinds)
    ]
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
        lines += ["", f"Not to see it: --exclude-checks {check}{beside}."]
    return "\n".join(lines)


def _warning_page(row: WarningRow) -> str:
    lines = [f"{row.name}: {row.title}"]
    if row.advice:
        lines += ["", row.advice]
    lines += [
        "",
        "In checker.toml:",
        "    [warnings]",
        f'    fail-on = ["{row.name}"]',
        "",
        f'Not to see it: --warnings with the names of all others, or off; to fail for it: fail-on = ["{row.name}"].',
    ]
    return "\n".join(lines)
