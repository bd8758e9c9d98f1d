"""The verdict on a replayed finding: whether the last response shows the symptom, and whether its situation was reached."""

import json
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.rules import says_taken
from checker.checks.server_error import DROPPED, UNANSWERED, ReportedServerError
from checker.core import curl
from checker.core.case import is_idempotency_key
from checker.core.media_types import media_type_of
from checker.core.redact import Redaction
from checker.core.resources import REMOVING
from checker.core.schema import pointer_child
from checker.core.security import UNAUTHORIZED
from checker.corpus.records import Exchange, Finding
from checker.reporting.calls import NO_JSON, TRANSIENT, Call, Path, at, parsed
from checker.reporting.findings import DEPENDENT, has_response, kinds_of, readable_body

_PLACE = re.compile(r"body((?:\.[^.:\[\]\s]+|\[\d+\])*): ")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_MISSING = re.compile(r'body[^:]*: ("(?:[^"\\]|\\.)*") is a required property')
_EXTRA = re.compile(r"\"(.+?)\" is not a declared property|Unevaluated properties are not allowed \('(.+?)'(?:,| was)")
_QUOTED = re.compile(r"\nSchema at [^\n]*:\n\n((?: {4}[^\n]*\n)+)")
_NOT_ALONE = re.compile(r'"\$|nullable"|"exclusiveM\w+": (?:true|false)')
_EXTRAS: Final = ("additionalProperties", "unevaluatedProperties")
_NEEDS_OTHERS: Final = (*_EXTRAS, "unevaluatedItems", "additionalItems", "type")
_ANY_VALUE: Final = (*_EXTRAS, "format")
"""Keywords whose failure may recur with another value, such as an undeclared property, a time or an id."""
_COUNTED: Final = ("contains", "minContains", "maxContains")
_ITEMS: Final = ("prefixItems", "items")
_TOGETHER: Final = {keyword: group for group in (_COUNTED, _ITEMS) for keyword in group}
"""Keyword -> the group of keywords that only have a meaning together."""


_IN_BODY: Final = "response_schema_conformance"
_SHOWN_BY_STATUS: Final = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", _IN_BODY, "negative_data_rejection",
    "positive_data_acceptance", "missing_required_header", "unsupported_method", "use_after_free",
    "ensure_resource_availability", "ignored_auth", "object_level_authorization", "object_level_writes", "session_ends",
)  # fmt: skip
"""Checks whose failure shows in the status of the last response, or in symptoms of its body.

The status may stay the same when a failure of another check is fixed.
"""


class Symptom(Struct, frozen=True):
    """A condition on a response that is true while the defect exists."""

    kind: str  # `dropped`, `status`, `media_type`, `undecodable`, `type`, `equals`, `has`, `lacks`.
    value: Any = None  # The status, the media type, the value at the place, the name of a missing member.
    path: Path = ()  # Path of a value in a JSON body.
    schema: dict[str, Any] | None = None
    """The broken keyword as a schema, if it can be separated from the others. Programs without a validator ignore it."""

    def holds(self, status: int, content_type: str, body: bytes) -> bool:
        """Whether a complete response satisfies the condition; `body` is decoded."""
        match self.kind:
            case "dropped":
                return False
            case "status":
                return bool(status == self.value)
            case "media_type":
                return bool(bare_media_type(content_type) == self.value)
            case "undecodable":
                return parsed(body) is NO_JSON
            case _:
                try:
                    found = at(parsed(body), self.path)
                except (LookupError, TypeError):
                    return False
                if self.kind == "has":
                    return True
                if self.kind == "lacks":
                    return isinstance(found, dict) and self.value not in found
                return type(found) is type(self.value) if self.kind == "type" else bool(found == self.value)


def is_at_once(finding: Finding) -> bool:
    """Whether the failure shows only if the last command sends two requests at once."""
    command = finding.investigation.reproduction.rpartition("\n")[2]
    if curl.AT_ONCE[0] not in command or finding.further:
        return False
    try:
        request, _ = curl.parse(command)
    except ValueError:
        return False
    return request.is_twice


def unproved(finding: Finding) -> str:
    """Return why programs cannot judge the last response of a finding without symptoms."""
    if finding.further:
        return "the check compares the responses to several requests: use checker replay"
    if is_at_once(finding):
        return "it needs two requests at the same time: use checker replay"
    if has_response(finding.interactions[-1].exchange):
        return "only its check can judge the response: use checker replay"
    return "the request got no response, and no test can prove that"


def symptoms_of(finding: Finding) -> Iterator[Symptom]:
    """Yield the symptoms of a finding; none for a truncated response, or if only the check can recognise the failure in the responses."""
    exchange = finding.interactions[-1].exchange
    if finding.further or is_at_once(finding) or finding.check not in _SHOWN_BY_STATUS:
        return
    if not has_response(exchange):
        if finding.unique_key in (DROPPED, UNANSWERED):
            yield Symptom("dropped")
        return
    in_body = list(_in_body(finding, exchange))
    if in_body or not (finding.check == _IN_BODY or finding.code == ReportedServerError.code):
        yield Symptom("status", exchange.status)
        yield from in_body


def _in_body(finding: Finding, exchange: Exchange) -> Iterator[Symptom]:
    if finding.check == "content_type_conformance":
        declared = {name.lower(): value for name, value in exchange.response_headers}
        yield Symptom("media_type", bare_media_type(declared.get("content-type", "")))
    elif finding.unique_key == "undecodable":
        yield Symptom("undecodable")
    elif finding.check == _IN_BODY and (found := _PLACE.match(finding.message)):
        path = tuple(int(index) if index else name for name, index in _PART.findall(found[1]))
        keyword = finding.unique_key.rpartition("/")[2]
        if keyword == "required" and (missing := _MISSING.match(finding.message)):
            yield Symptom("lacks", json.loads(missing[1]), path)
        else:
            if extra := _EXTRA.match(finding.message, found.end()):
                path += (extra[1] or extra[2],)
            schema = _schema_of(keyword, finding.message)
            yield from (
                replace(one, schema=schema) for one in _at_place(path, keyword, parsed(readable_body(exchange)))
            )


def _at_place(path: Path, keyword: str, document: Any) -> Iterator[Symptom]:
    try:
        value = at(document, path)
    except (LookupError, TypeError):
        return
    # Programs cannot compare NaN.
    is_number = isinstance(value, int | float) and isfinite(value)
    if keyword == "type" or (isinstance(value, float) and not is_number):
        yield Symptom("type", value, path)
    elif keyword not in _ANY_VALUE and (is_number or isinstance(value, str | None)):
        yield Symptom("equals", value, path)
    elif path:
        yield Symptom("has", None, path)


def _schema_of(keyword: str, message: str) -> dict[str, Any] | None:
    """Return the broken keyword with the keywords on which its meaning depends, from the schema in a message.

    None if the schema is truncated in the message, or if the meaning also depends on other keywords or other parts of
    the description.
    """
    quoted = _QUOTED.search(message)
    if keyword in _NEEDS_OTHERS or quoted is None or _NOT_ALONE.search(quoted[1]):
        return None
    found = parsed(quoted[1].encode())
    if not isinstance(found, dict) or keyword not in found:
        return None
    return {name: found[name] for name in _TOGETHER.get(keyword, (keyword,)) if name in found}


def item_of(finding: Finding) -> Path:
    """Return the path of the list item that contains an invalid value; empty if the value is in no list. A response without that item proves nothing.

    If the value itself must not exist, its own item does not count, because a fix removes that item.
    """
    symptom = next((one for one in symptoms_of(finding) if one.path), None)
    path = () if symptom is None else symptom.path[:-1] if symptom.kind == "has" else symptom.path
    last = max((number for number, part in enumerate(path) if isinstance(part, int)), default=-1)
    return path[: last + 1]


def bare_media_type(content_type: str) -> str:
    """Return a media type without parameters, in lower case; empty for a malformed one."""
    return "" if media_type_of(content_type) is None else content_type.partition(";")[0].strip().lower()


CONFLICT: Final = 409
_FAILED: Final = 500
ABSENT: Final = (404, 410, 412)
"""Statuses for a resource that does not exist or is not in the expected state."""
_UNAUTHORIZED: Final = UNAUTHORIZED | {302, 303, 307}
"""Statuses for a request without access: some services redirect it to their login page."""
_REASONS: Final = (
    (_UNAUTHORIZED, "perhaps because of its credentials: give others with `-a` or `-H`"),
    (TRANSIENT, "which may be temporary: try again later"),
    ((_FAILED,), "which is another failure"),
    (ABSENT, "for a resource that other requests of the run created"),
)
_TRY_FRESH: Final = "perhaps because of existing resources: try it on a fresh target"
_OF_USERS: Final = ("object_level_authorization", "object_level_writes")
"""Checks whose last request comes from another user than the requests before."""
_WITHOUT_CREDENTIALS: Final = ("ignored_auth", "missing_required_header", *_OF_USERS)
"""Checks whose failure counts as fixed if the request is refused because of its credentials."""
_WRONG_PARAMETER = re.compile(r"parameter `(.+?)` in (?:header|cookie) - ")


def unproving_statuses(finding: Finding, calls: Sequence[Call]) -> frozenset[int]:
    """Return the statuses of the last response that prove nothing about a finding, although its situation was prepared.

    The finding's own status may be among them, so callers compare with it first. With each of these statuses the
    request was refused before it was handled, because of its credentials, the load of the server, or a resource that
    exists or is missing, or the server failed in another way. A removed resource may be missing.
    """
    # A conflict refuses an invalid request, too, but a service that still accepts it answers so if the run has created
    # the resource.
    found = {*TRANSIENT, CONFLICT, _FAILED}
    *earlier, last = calls
    removes = any(one.request.method == REMOVING for one in earlier)
    lacks = DEPENDENT in kinds_of(finding) and len(finding.needs) != sum(one.made is not None for one in earlier)
    # For another user, the server may pretend that a resource does not exist, although its owner has just created it.
    is_hidden = finding.check in _OF_USERS
    if (
        (last.sources and not removes and not is_hidden)
        or lacks
        or (DEPENDENT in kinds_of(finding) and not finding.needs)
    ):
        found.update(ABSENT)
    if finding.check not in _WITHOUT_CREDENTIALS and not _has_wrong_credential(finding):
        found |= _UNAUTHORIZED
    if any(
        one.made is None
        and (one.label, one.request.method, one.request.body) == (last.label, last.request.method, last.request.body)
        for one in earlier
    ):
        # The sequence itself causes the conflict.
        found.discard(CONFLICT)
    return frozenset(found)


def _has_wrong_credential(finding: Finding) -> bool:
    """Whether a request is invalid because of a header or cookie named like credentials. Such a request must be answered with 401."""
    names = _WRONG_PARAMETER.findall(finding.message) if finding.check == "negative_data_rejection" else ()
    return any(Redaction().is_sensitive(name) and not is_idempotency_key(name) for name in names)


def not_prepared(call: Call, number: int, status: int) -> str:
    """Return why the response to request `number` does not lead to the situation of a finding; empty if the response leads to it."""
    if call.accepts(status):
        return ""
    return f"{subject_of(call, number)} returned {status} (in the run: {call.status})"


def subject_of(call: Call, number: int) -> str:
    """Return the name of a request in a reproduction, for sentences."""
    if call.made is None:
        return f"request {number}"
    return f"the request that {'removes' if call.made.is_gone else 'creates'} {call.made.path}"


def not_reached(finding: Finding, calls: Sequence[Call], status: int, body: bytes) -> str:
    """Return why a replay whose last response does not show the finding proves nothing; empty if the finding is fixed.

    Each earlier request must have had the response of the original run.
    """
    then = finding.interactions[-1].exchange.status or 0
    unproving = unproving_statuses(finding, calls)
    is_taken = CONFLICT in unproving and 400 <= status < 500 and says_taken(body)
    item = item_of(finding)
    lacks_item = bool(item) and not Symptom("has", None, item).holds(status, "", body)
    if not (lacks_item if status == then else status in unproving or is_taken):
        return ""
    of = f"request {len(finding.interactions)}" if len(finding.interactions) > 1 else "the request"
    if status == then:
        return f"the response to {of} has no {pointer_child('', *map(str, item))}"
    reason = next((text for statuses, text in _REASONS if status in statuses), _TRY_FRESH)
    return f"{of} returned {status} (in the run: {then}), {reason}"
