"""Checks that valid data is accepted."""

import json
import re
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from itertools import permutations, product
from typing import Any, Final
from urllib.parse import quote

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import (
    LOCKED,
    OF_ANOTHER,
    PRECONDITION_REQUIRED,
    UPGRADE_REQUIRED,
    demand_of_any_text,
    denies_condition,
    denies_state,
    is_beyond_int64,
    is_of_several,
    matches_status,
    place_of,
    requested_status,
    rule_of_status,
    values_of,
    verdict_of,
)
from checker.checks.undescribed import empty_values, named_in, names_of_body, undescribed_reason
from checker.core.case import NOT_SET, Case, with_fresh_key
from checker.core.constraints import comparison
from checker.core.contract import Blame, ResponsePlan
from checker.core.failures import Failure
from checker.core.request import CONDITIONS, Location
from checker.core.resource_names import differing_words, is_ordered, marks_among
from checker.core.response import Response
from checker.core.scenarios import Scenario
from checker.core.send import Exchanging
from checker.core.system import later_pattern
from checker.core.templates import sent_texts
from checker.refusals.reading import is_bare_refusal, odd_characters
from checker.schema.views import outline_of

_DISTINCT: Final = frozenset(
    product(("from", "source", "sender", "old"), ("to", "target", "destination", "recipient", "receiver", "new"))
)
_MOMENT: Final = later_pattern(r"\d{4}-\d\d-\d\d([Tt ])\d\d:\d\d:(\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_ENDS_OF_TIME: Final = frozenset(("0001-01-01", "9999-12-31"))
_MANY: Final = 1_000  # Items of a list above which a service may have an undescribed limit.
_NESTED: Final = 32  # Levels of nesting above which parsers may have a limit.
_POISON: Final = "__proto__"  # A name that JavaScript parsers reject, so that no object inherits from request data.
_MOST: Final = 50  # Members of an object that are compared.
_ODD: Final[Mapping[str | None, str]] = {
    Scenario.SIGNS: "the description does not say whether such characters are accepted, for example in a search or a name",
    Scenario.UNUSUAL: "many services refuse such values although they are valid",
}
"""Unusual scenario -> why a server may refuse it."""
_JSON_PATCH: Final = "application/json-patch+json"


def may_break_one(case: Case) -> str:
    """Return the common unwritten rule that a request may break; empty if it breaks none.

    The rules are about characters with a meaning in other languages, page cursors that the server did not issue, periods
    that end before they begin, transfers from a resource to itself, bodies and paths that name different resources, integers
    beyond 64 bits, times that many calendars lack, very long lists and deep nesting, properties that change JavaScript
    prototypes, and changes to members that may not exist.
    """
    scenario = None if case.meta is None else case.meta.phase.data.get("scenario")
    if scenario in _ODD:
        return _ODD[scenario]
    mark = _unknown_mark(case)
    if mark:
        return f"only the service can issue a valid {mark}"
    for name, value in case.path_parameters.items():
        named = case.body.get(name, value) if isinstance(case.body, dict) else value
        if str(named) != str(value):
            return f"{name} of the body is not {name} of the path"
    if case.media_type == _JSON_PATCH:
        return "the target of a JSON Patch operation has to exist (RFC 6902)"
    unusual = _unusual(case)
    if unusual:
        return f"many services refuse {unusual}"
    for members in (one for one in values_of(case) if isinstance(one, dict)):
        if _POISON in members:
            return f"many services refuse objects with a property `{_POISON}`"
        for first, last in _pairs(members):
            return f"{first} may have to be less than {last}, or different from it"
    return ""


def _unknown_mark(case: Case) -> str:
    """Return the place of a page cursor that did not come from the server; empty if there is none."""
    given = () if case.meta is None else case.meta.bindings
    bound = {(one.location, one.name) for one in given}
    for location in (Location.QUERY, Location.HEADER):
        declared = {one.name for one in case.operation.parameters if one.location is location}
        marks = marks_among({*declared, *getattr(case, location.container)})
        for name in getattr(case, location.container):
            if name in marks and (location, name) not in bound:
                return f"{location} {name}"
    return ""


def _unusual(case: Case) -> str:
    """Return the kind of a valid value that services often refuse; empty if the request contains none."""
    for value in (*case.path_parameters.values(), *values_of(case)):
        if isinstance(value, int | float) and is_beyond_int64(value):
            return "numbers beyond those of 64 bits"
        if isinstance(value, str):
            found = _MOMENT.fullmatch(value)
            if found is None:
                is_odd = False
            else:
                is_at_end = value[:10] in _ENDS_OF_TIME and found[3] not in ("Z", "z")
                is_odd = found[1] != "T" or found[2] == "60" or found[3] == "z" or is_at_end
            if is_odd:
                return "leap seconds, small letters in times, or moments before the year 1 or after 9999 in UTC"
        if isinstance(value, list) and len(value) > _MANY:
            return f"more than {_MANY} items"
    level, depth = [case.body], 0
    while level:
        below: list[object] = []
        for one in level:
            if isinstance(one, dict):
                below += one.values()
            elif isinstance(one, list):
                below += one
        level, depth = below, depth + 1
    return "values that are nested so deep" if depth - 1 > _NESTED else ""


def _pairs(members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield pairs of member names whose values should be ordered or different, but are not."""
    for first, last in permutations(list(members)[:_MOST], 2):
        one, two = members[first], members[last]
        if (is_ordered(first, last) and comparison(one, two) in (0, 1)) or (
            differing_words(first, last) in _DISTINCT and one == two
        ):
            yield first, last


_NAMED = 3


def declared_body_alone(case: Case) -> tuple[Case, str] | None:
    """Return (the case without undeclared properties at the top of its body, up to three of their names); None if it has none."""
    body = case.body
    schema = next((one.schema for one in case.operation.bodies if one.media_type == case.media_type), None)
    if not isinstance(body, dict) or schema is None:
        return None
    outline = outline_of(schema)
    raws = [one.raw for one in outline.parts() if isinstance(one.raw, dict)]
    if any("patternProperties" in raw or isinstance(raw.get("additionalProperties"), dict) for raw in raws):
        declared = None
    else:
        declared = outline.names
    extra = [] if declared is None else [name for name in body if name not in declared]
    if not extra:
        return None
    kept = copy(case)
    kept.body = {name: value for name, value in body.items() if name not in extra}
    return kept, ", ".join(f"`{name}`" for name in extra[:_NAMED])


_NOWHERE: Final = "/checker-probe"
_OF_BODIES: Final = (b"content-type", b"content-length", b"content-encoding")


def is_path_refused(context: CheckContext) -> Exchanging[bool]:
    """Whether a bare 400 comes from a filter in front of the application. Such a filter also refuses the odd characters in an unknown path.

    The same unknown path without these characters must not be refused. Sends at most two requests, and none if the path has
    no odd character.
    """
    texts = (one for one in context.case.path_parameters.values() if isinstance(one, str))
    odd = odd_characters("".join(texts))
    if not odd or not is_bare_refusal(context.response):
        return False
    refused = yield from _answer_at(context, f"{_NOWHERE}{odd}")
    if refused is None or not is_bare_refusal(refused):
        return False
    plain = yield from _answer_at(context, _NOWHERE)
    return plain is not None and not is_bare_refusal(plain)


def _answer_at(context: CheckContext, path: str) -> Exchanging[Response | None]:
    made = context.make(context.case)
    base = "" if context.tools is None else context.tools.maker.base_path_of(context.case.operation)
    headers = [one for one in made.headers if one[0].lower() not in _OF_BODIES]
    target = f"{base}{quote(path, errors='surrogatepass')}".encode()
    answer = yield replace(made, method="GET", target=target, headers=headers, body=None)
    return answer if isinstance(answer, Response) else None


EXPECTED = ("2XX", "3XX", "401", "403", "404", "409", "410", "429", "5XX")
"""All statuses that do not refuse data: denied access, rate limits and missing resources say nothing about data."""

_OF_A_MOMENT: Final = frozenset((408, 412, 421, 424, 425))
"""Statuses about a state, a connection or a moment (RFC 9110, 4918 and 8470). A refusal of data with such a status recurs each time."""

_LIMIT = later_pattern(
    r"[A-Za-z] \d+(?:-\d+)? [A-Za-z]|(?:[<>=]|\b(?:than(?: or equal to)?|at (?:least|most)|between|(?:max|min)(?:imum)?|exceeds?|up to|limit)\b(?: (?:of|is))?)[^\w-]*-?\d",
    re.IGNORECASE,
)
"""`at least 3 characters`, `must be <= 200.`, `must be less than or equal to 200.`"""
_BOUND = later_pattern(
    r"[<>]=?|\b(?:(?:less|fewer|smaller|lower|greater|more|larger|higher) than(?: or equal to)?|at (?:least|most)|(?:max|min)(?:imum)?)\b",
    re.IGNORECASE,
)
"""The direction of a limit. A description that lacks one bound of a value often lacks the other as well."""
_CONDITION = later_pattern("|".join(sorted(CONDITIONS)).replace("-", "[-_ ]"), re.IGNORECASE)
"""Names of the headers that one part of a server reads (RFC 9110, 13.1)."""
_VARYING = later_pattern(r"(?<![\w-])[\w-]*\d[\w-]*")  # Numbers and identifiers.
_TOKEN = later_pattern(r"[^\W\d_]+|[<>=]+")
_SEPARATORS = later_pattern(r"[\W_]+")
_LONGEST = 64 * 1024
_LONGEST_REASON = 2048  # Characters of a reason, without the sent values that it repeats.
_SHORTEST_WORD = 3
_LONGEST_SAID = 100
_REFUSED_ANYWHERE = "the target refuses such characters in any path, also in unknown ones"
_CREDENTIALS_REFUSED = (400, 422)
_UNDECLARED = "undeclared properties of the body"
"""The cause of unexplained refusals of properties that are neither declared nor forbidden. A server refuses all such properties or none."""
_CONTAINERS = (("query", Location.QUERY), ("headers", Location.HEADER), ("cookies", Location.COOKIE))


class RejectedPositiveData(Failure, code="ST202", title="API rejected schema-compliant request"):
    """A request that conforms to the description was refused."""


def accepts(status: int, plan: ResponsePlan, config: Config) -> QuickLook | bool:
    """Return the quick test for a body without errors, if bodies can report errors; otherwise whether the status refuses no data."""
    return _accepts(status, config) if plan.answers is None else plan.answers.is_fine


def _accepts(status: int, config: Config) -> bool:
    # A status outside 200 to 599 is not a final status of HTTP, so it refuses nothing.
    return not 200 <= status < 600 or matches_status(status, config["expected-statuses"])


def positive_data_acceptance(context: CheckContext) -> Exchanging[Found]:
    """Fail on a refusal of a request whose final bytes are proved to be valid.

    Undeclared parameters are neither valid nor invalid, so a refused request is sent again without them. A request with an
    idempotency key is sent again with another key, because servers refuse a known key with a different body.
    """
    status, said = context.response.status_code, context.complaint
    # `not_a_server_error` reports errors of the server. Schemas cannot express rules of resolvers.
    if said is not None and (said.blame is not Blame.REFUSED or status >= 500 or not said.is_of_schema):
        return PASSED
    if said is None and (_accepts(status, context.config) or denies_condition(context.response)):
        return PASSED
    if status in _CREDENTIALS_REFUSED and context.case.operation.grants_credentials:
        # Correct user names and passwords cannot be generated.
        return PASSED
    doubt = _doubt(context)
    if doubt:
        context.unjudged.append(f"a request was refused with {status}, and {doubt}")
        return PASSED
    if (yield from is_path_refused(context)):
        context.unjudged.append(f"a request was refused with {status}, and {_REFUSED_ANYWHERE}")
        return PASSED
    # Without undeclared parameters, and with a fresh idempotency key.
    declared = _declared_alone(context.case)
    plainer = with_fresh_key(declared or context.case) or declared
    if plainer is not None:
        again = yield context.make(plainer)
        if not isinstance(again, Response) or _accepts(again.status_code, context.config):
            return PASSED
    if said is not None:
        return RejectedPositiveData(f"Valid data should have been accepted\n{said.message}", unique_key=said.place)
    expected = ", ".join(context.config["expected-statuses"])
    hint = yield from _hint(context)
    # Generators of descriptions omit `required` for all bodies or for none.
    bodiless = "without a body" if context.case.body is NOT_SET and context.case.operation.bodies else ""
    reason = requested_status(context) or _reason(context) or bodiless or (_UNDECLARED if hint else "")
    failure = RejectedPositiveData(
        f"Valid data should have been accepted\nExpected: {expected}{hint}", unique_key=rule_of_status(status)
    )
    # Another request of the run may remove the resource while this one is handled.
    failure.needs_repetition = status in _OF_A_MOMENT
    return failure.sharing(reason)


def _reason(context: CheckContext) -> str:
    """Return the words of a refusal; empty if the refusal names neither a parameter nor two properties nor a limit.

    A demand that frameworks make on every string is one reason, whichever property it names. Numbers, identifiers and sent
    values are removed, because many servers repeat the refused value.
    """
    demanded = demand_of_any_text(context.response)
    if demanded:
        return demanded
    said = context.response.readable.content[:_LONGEST].decode("utf-8", "replace")
    # The value of a path variable may be quoted in the text: `cannot parse '5'`.
    text = said
    for name, value in context.case.path_parameters.items():
        for mark in "'\"`":
            text = text.replace(f"{mark}{value}{mark}", f"{mark}{{{name}}}{mark}")
    # A message may spell `dataset_id` as `Dataset ID`, and header names in capitals.
    names, plain = [one.name for one in context.case.operation.parameters], _plain(text)
    is_named = text != said or any(
        _plain(name) in plain
        if len(_plain(name)) >= _SHORTEST_WORD
        else re.search(f'"{re.escape(name)}"(?!\\s*:)', said) is not None
        for name in names
    )
    inner = [name for value in values_of(context.case) if isinstance(value, dict) for name in value]
    inner += names_of_body(context.case)
    # Different objects may have a property with the same name: `the name is required`.
    if not is_named and len(named_in(text, inner)) < 2 and not _LIMIT.search(text):
        return ""
    text = _CONDITION.sub("condition", text)
    for sent in sorted(sent_texts(context.case), key=len, reverse=True):
        if len(sent) >= _SHORTEST_WORD:
            for form in (sent, _escaped(sent), _escaped(sent, is_ascii=True)):
                text = text.replace(form, "")
    text = _VARYING.sub(" ", _BOUND.sub("<", text[:_LONGEST_REASON]))
    # A sent value of two letters may also be a word of the message: `received z, expected 'x.y.z'`.
    short = {one for one in map(_plain, (*names, *inner)) if len(one) < _SHORTEST_WORD}
    sent_words = set(sent_texts(context.case))

    def is_kept(found: re.Match[str]) -> bool:
        word, around = found[0], text[max(found.start() - 1, 0) : found.end() + 1]
        is_place = around == f'"{word}"' and word not in sent_words
        return len(word) >= _SHORTEST_WORD or is_place or word.lower() in short or not word.isalpha()

    return " ".join((str(context.response.status_code), *(one[0] for one in filter(is_kept, _TOKEN.finditer(text)))))


def _escaped(text: str, *, is_ascii: bool = False) -> str:
    """Return a text as JSON spells it."""
    return json.dumps(text, ensure_ascii=is_ascii)[1:-1]


def _plain(name: str) -> str:
    """Return a text in lower case without separators between words."""
    return _SEPARATORS.sub("", name).lower()


def _hint(context: CheckContext) -> Exchanging[str]:
    """Return a line about undeclared properties that cause the refusal; empty if the request is also refused without them."""
    less = declared_body_alone(context.case)
    if less is None:
        return ""
    case, names = less
    again = yield context.make(case)
    if not isinstance(again, Response) or not 200 <= again.status_code < 300:
        return ""
    return (
        f"\nHint: the request is accepted without {names}, which the description neither declares nor forbids; "
        "`additionalProperties: false` would forbid it"
    )


def _doubt(context: CheckContext) -> str:
    """Return why a request may be invalid; empty if it is proved to be valid."""
    verdict = verdict_of(context)
    if verdict is None:
        return "the sent request is unknown"
    for part in verdict.invalid:
        return f"{place_of(part)} is not valid as sent ({part.keyword})"
    # The refusal shows whether an empty value is the reason.
    empty = set(empty_values(context.case)) if verdict.ambiguous else ()
    for part in verdict.ambiguous:
        if (part.location, part.name) not in empty:
            return f"the validity of {place_of(part)} is undecidable ({part.reason})"
    if is_of_several(context):
        return OF_ANOTHER
    if context.response.status_code == PRECONDITION_REQUIRED:
        return "the server wants a condition (If-Match), not other data"
    if context.response.status_code == LOCKED:
        return "the resource is locked (RFC 4918, 11.3)"
    if context.response.status_code == UPGRADE_REQUIRED:
        return "the server wants another protocol, not other data"
    said = denies_state(context.response)
    if said:
        shown = said if len(said) <= _LONGEST_SAID else f"{said[:_LONGEST_SAID]}..."
        return f"the response is about the state of resources or of the service ({shown})"
    return may_break_one(context.case) or undescribed_reason(context)


def _declared_alone(case: Case) -> Case | None:
    """Return the case without undeclared parameters; None if it has none."""
    operation = case.operation
    places = [(one.location, one.name) for one in operation.parameters]
    places += [one.place for needed in operation.security for one in needed.schemes]
    declared = {(location, location.key(name)) for location, name in places}
    kept = copy(case)
    for container, location in _CONTAINERS:
        values = getattr(case, container)
        left = {name: value for name, value in values.items() if (location, location.key(name)) in declared}
        setattr(kept, container, left)
    is_less = any(len(getattr(kept, name)) < len(getattr(case, name)) for name, _ in _CONTAINERS)
    return kept if is_less else None
