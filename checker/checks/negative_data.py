"""Checks that invalid data is refused."""

import json
import re
from typing import Final

from checker.checks.check import Config
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import (
    NAMED_SCHEMA,
    denies_condition,
    listed_parts,
    matches_status,
    number_format,
    path_of,
    place_of,
    verdict_of,
)
from checker.checks.undescribed import empty_values
from checker.core.case import with_fresh_key
from checker.core.contract import Outcome, PartVerdict, RequestVerdict, ResponsePlan
from checker.core.failures import Failure
from checker.core.operation import Location
from checker.core.response import Response
from checker.core.scenarios import Scenario
from checker.core.send import Exchanging

_UNCHANGED = 304
_COERCION = "type coercion"
_SYNTAX: Final = "syntax"  # The keyword of a body that does not have its media type.
_REPEATED = "it is refused with a fresh idempotency key, so that the response was that to an earlier request"
EXPECTED = (
    "400", "401", "403", "404", "405", "406", "409", "410", "411", "413", "414", "415", "422", "423", "428", "429", "431", "451", "5XX",
)  # fmt: skip
"""Statuses that refuse data, deny access, limit the rate, or report a missing resource."""


class AcceptedNegativeData(Failure, code="ST201", title="API accepted schema-violating request"):
    """A request that breaks the description was not refused."""


def refuses(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether a status refuses data."""
    # A status outside 200 to 599 is not a final status of HTTP, so it accepts nothing.
    return not 200 <= status < 600 or matches_status(status, config["expected-statuses"])


def negative_data_rejection(context: CheckContext) -> Exchanging[Found]:
    """Fail if a request whose final bytes are proved to be invalid is not refused.

    A request with an idempotency key is sent again with a fresh key, because the response may be the stored response to
    an earlier request.
    """
    status = context.response.status_code
    if refuses(status, context.plan, context.config) or denies_condition(context.response):
        return PASSED
    if context.complaint is not None:
        return PASSED
    verdict = verdict_of(context)
    answered = context.response.status_code
    if verdict is not None and context.response.redirects:
        doubt = f"redirected, and the response of the other URL ({answered}) does not judge it"
    else:
        reason = _reason(context, verdict)
        doubt = f"answered with {answered}: {reason}" if reason else ""
    if doubt:
        context.unjudged.append(f"an invalid request was {doubt}")
    if doubt or verdict is None:
        return PASSED
    wrong = [part for part in verdict.invalid if not is_missing_header(part)]
    if not wrong:
        return PASSED
    fresh = with_fresh_key(context.case)
    if fresh is not None:
        again = yield context.make(fresh)
        if not isinstance(again, Response) or refuses(again.status_code, context.plan, context.config):
            context.unjudged.append(f"an invalid request was answered with {status}: {_REPEATED}")
            return PASSED
    expected = ", ".join(context.config["expected-statuses"])
    # A framework that converts types converts them everywhere. One such failure would hide a bound that this operation does
    # not enforce.
    unconverted = [part for part in wrong if not _is_coerced(part)]
    coercion = "" if unconverted else _COERCION
    # The kind of success may depend on the state: a `PUT` first creates, then replaces.
    rule = "2XX" if 200 <= status < 300 else str(status)
    return AcceptedNegativeData(
        f"Invalid data should have been rejected\nExpected: {expected}\n{listed_parts(wrong)}",
        unique_key=f"{rule} {coercion}".strip(),
    ).sharing(coercion or _unchecked_schema(context, unconverted[0]))


def _unchecked_schema(context: CheckContext, part: PartVerdict) -> str:
    """Return the common property of operations that lack the same validation; empty if unknown.

    This is the missing body, a body that does not have its media type, the format of a number, the place of a named schema,
    name and schema of a parameter, or place and schema of a member deep in a value.
    """
    if of_format := number_format(part):
        return of_format
    if part.keyword == _SYNTAX:
        # One parser reads the bodies of a media type in all operations, so it accepts invalid UTF-8 or JSON in all of them.
        return f"{part.location} {_SYNTAX} {context.case.media_type}"
    # Frameworks that read a list as an object read it so in every operation.
    if not part.name and (not part.pointer or (part.keyword == "type" and not part.instance_path)):
        return f"{part.location} {part.keyword}"
    names = [one for one in part.instance_path if isinstance(one, str)]
    is_named = NAMED_SCHEMA.search(part.pointer) is not None
    # Generators of descriptions write the schema of one parameter under several names. At the top of different bodies,
    # equal members are equal by chance.
    is_copied = bool(names) if is_named else len(names) > 1
    if is_copied and is_named == bool(part.name):
        return f"{part.location} {part.name} {'.'.join(names)} {json.dumps(part.schema, sort_keys=True, default=str)}"
    if is_named:
        return part.pointer
    for one in context.case.operation.parameters:
        if (one.location, one.name) == (part.location, part.name):
            return f"{one.location} {one.name} {json.dumps(one.schema.raw, sort_keys=True, default=str)}"
    return ""


_NUMERIC: Final = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*")
_BOOLEAN: Final = re.compile(r"true|false|yes|no|on|off|t|f|y|n|[01]", re.IGNORECASE)
_OF_TYPE: Final = re.compile(r"not of type (.*)$")


def _is_coerced(part: PartVerdict) -> bool:
    """Whether frameworks convert a value of a wrong type: `"5"` for an integer, `5` for a string, `"true"` for a boolean."""
    wanted = _OF_TYPE.search(part.reason)
    if part.keyword != "type" or wanted is None:
        return False
    value = part.value
    if isinstance(value, str):
        is_number = '"integer"' in wanted[1] or '"number"' in wanted[1]
        return bool(
            (is_number and _NUMERIC.fullmatch(value)) or ('"boolean"' in wanted[1] and _BOOLEAN.fullmatch(value))
        )
    if isinstance(value, bool):
        return any(name in wanted[1] for name in ('"integer"', '"number"', '"string"'))
    is_zero_or_one = value in (0, 1) and '"boolean"' in wanted[1]
    return isinstance(value, int | float) and (is_zero_or_one or '"string"' in wanted[1])


def is_missing_header(part: PartVerdict) -> bool:
    """Whether the only fault of a part is a missing required header, which `missing_required_header` judges."""
    is_missing = part.keyword == "required" and not part.instance_path
    return is_missing and part.location is Location.HEADER


def _reason(context: CheckContext, verdict: RequestVerdict | None) -> str:
    if verdict is None:
        return "the sent request is unknown"
    status = context.response.status_code
    if status == _UNCHANGED:
        return "304 neither accepts nor refuses it"
    if 300 <= status < 400:
        return "a redirect neither accepts nor refuses it"
    if any(part.outcome is Outcome.UNDECLARED for part in verdict.parts):
        has_undeclared = True
    else:
        # Undeclared headers and cookies prove nothing, because clients add some to every request.
        data = {} if context.case.meta is None else context.case.meta.phase.data
        has_undeclared = (
            data.get("scenario") == Scenario.UNEXPECTED_PROPERTIES and data.get("parameter_location") != Location.BODY
        )
    match verdict.outcome:
        case Outcome.INVALID:
            return _doubt_about_path(context, verdict) or _doubt_about_emptiness(context, verdict)
        case Outcome.AMBIGUOUS:
            part = verdict.ambiguous[0]
            return f"the validity of {place_of(part)} is undecidable ({part.reason})"
        case _ if has_undeclared:
            # Servers may ignore unknown parameters, so accepting one needs no further proof.
            return ""
        case _:
            return "it became valid when it was serialised"


def _doubt_about_emptiness(context: CheckContext, verdict: RequestVerdict) -> str:
    """Return why servers may ignore the invalid parts, which are all empty strings; empty if there is no reason."""
    empty = set(empty_values(context.case))
    is_empty = all(
        (part.location, part.name or "".join(map(str, part.instance_path))) in empty for part in verdict.invalid
    )
    return "an empty value may mean a missing one" if is_empty else ""


def _doubt_about_path(context: CheckContext, verdict: RequestVerdict) -> str:
    """Return why another operation may have answered; empty if this operation answered."""
    wrong = [part for part in verdict.invalid if part.location is Location.PATH]
    if not wrong:
        return ""
    if any(part.keyword in ("path", "required") for part in wrong):
        return "its path is a different one as sent"
    request = context.response.request
    assert request is not None
    if len(context.case.operation.methods_at(path_of(context, request))) > 1:
        return "its path matches several operations"
    return ""
