"""Rules that several checks share: status patterns, invalid parts of requests, excerpts of schemas, refusals about state."""

import html
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from http import HTTPStatus
from itertools import islice
from typing import Any, Final

from checker.checks.context import CheckContext
from checker.core.blocks import Truncation, excerpt, indented
from checker.core.case import Case
from checker.core.contract import PartVerdict, RequestVerdict, SchemaViolation
from checker.core.meta import ANYTHING
from checker.core.operation import Location
from checker.core.request import CONDITIONS, WireRequest
from checker.core.resource_names import normalised, words
from checker.core.response import Response
from checker.core.system import later_pattern
from checker.refusals.sentences import demands_of
from checker.refusals.state import is_missing, is_of_configuration, is_of_state, is_taken

_PRECONDITION_FAILED = 412
METHOD_NOT_ALLOWED: Final = 405
OF_ANOTHER: Final = "its path matches several operations, so that another one may have responded"
"""The reason why nothing is judged if `is_of_several`."""
PRECONDITION_REQUIRED: Final = 428
"""The server requires a conditional request (RFC 6585, 3), so it neither refuses nor accepts the data."""
LOCKED: Final = 423  # The server refuses because of the resource's state (RFC 4918, 11.3).
UPGRADE_REQUIRED: Final = 426  # The server requires another protocol, such as WebSocket (RFC 9110, 15.5.22).
_REGISTERED: Final = frozenset(map(int, HTTPStatus))
_LAST_CLASS: Final = 5
_OF_STATUSES: Final = frozenset(("code", "codes", "status", "statuses"))
"""Last words of the names of parameters that request a status."""


def rule_of_status(status: int) -> str:
    """Return the part of the status code that goes into the fingerprint: `404`, or `5XX` for a code that IANA does not register.

    A code outside 100 to 599 counts as a server error (RFC 9110, 15).
    """
    return str(status) if status in _REGISTERED else f"{min(status // 100, _LAST_CLASS)}XX"


def requested_status(context: CheckContext) -> str:
    """Return path and name of the parameter that requests the received status, such as `/status/{code}`; empty if none does.

    Such an operation sends any status, and all its undocumented statuses count as one deviation from the description.
    """
    status = context.response.status_code
    for name, value in {**context.case.query, **context.case.path_parameters}.items():
        if value in (status, str(status)) and not _OF_STATUSES.isdisjoint(words(name)[-1:]):
            return f"{context.case.operation.path} {name} asks for a status"
    return ""


def matches_status(status: int, patterns: Iterable[str]) -> bool:
    """Whether a status matches one of the patterns. `X` stands for any digit, in upper or lower case."""
    return _matches(status, tuple(patterns))


@lru_cache(maxsize=1024)
def _matches(status: int, patterns: tuple[str, ...]) -> bool:
    # Cached, because each response calls this with few different statuses and lists.
    digits = f"{status:03d}"
    return any(
        len(pattern) == 3 and all(p in "xX" or p == d for p, d in zip(pattern, digits, strict=False))
        for pattern in patterns
    )


def denies_condition(response: Response) -> bool:
    """Whether a condition of the request failed (RFC 9110, 15.5.13).

    This depends on the state of the resource, so the data is neither refused nor accepted.
    """
    sent = response.request
    return (
        response.status_code == _PRECONDITION_FAILED
        and sent is not None
        and any(sent.header(name.encode()) is not None for name in CONDITIONS)
    )


def excerpts(violation: SchemaViolation, truncation: Truncation) -> str:
    """Return the violated schema with its place, and the value, both shortened."""
    lines = [
        f"Schema at {violation.schema_pointer}:",
        "",
        indented(excerpt(violation.schema, truncation)),
        "",
        "Value:",
        "",
        indented(excerpt(violation.value, truncation)),
    ]
    return "\n".join(lines)


NAMED_SCHEMA = later_pattern(r"(?:^|[/#])(?:components/schemas|definitions)/")
"""The start of a JSON pointer into a schema that operations share."""


def number_format(violation: PartVerdict | SchemaViolation) -> str:
    """Return the number format that a value violates, such as `format int32`; empty for other violations.

    If a server's integers are larger than described, the fault is one described type or one missing validation,
    although every property shows it.
    """
    schema = violation.schema
    is_of_number = violation.keyword == "format" and isinstance(violation.value, int | float)
    return f"format {schema.get('format')}" if is_of_number and isinstance(schema, dict) else ""


_DEEP: Final = 4


def values_of(case: Case) -> Iterator[Any]:
    """Yield the query, the body, and the values inside them down to four levels."""
    waiting: list[tuple[Any, int]] = [({**case.query}, 0), (case.body, 0)]
    while waiting:
        value, depth = waiting.pop()
        yield value
        below: Iterable[Any] = ()
        if isinstance(value, dict):
            below = value.values()
        elif isinstance(value, list):
            below = value
        if depth < _DEEP:
            waiting += [(one, depth + 1) for one in below]


def is_beyond_int64(number: float) -> bool:
    """Whether a number does not fit into the 64 bits of a signed integer."""
    return not -(2**63) <= number < 2**63


_MOST_SHOWN = 3


def verdict_of(context: CheckContext) -> RequestVerdict | None:
    """Return the referee's verdict on the request of a response; None if the request is unknown."""
    request = context.response.request
    if request is None or context.tools is None:
        return None
    return context.tools.judge_request(context.case.operation, request)


def place_of(part: PartVerdict) -> str:
    """Return the place of a part in a request: `query limit`, `body`."""
    return f"{part.location.value} {part.name}".rstrip()


def path_of(context: CheckContext, request: WireRequest) -> str:
    """Return the sent path of a request, encoded, without base path and query."""
    path = request.path.decode("latin-1")
    if context.tools is None:
        return path
    return path.removeprefix(context.tools.maker.base_path_of(context.case.operation))


def is_of_several(context: CheckContext) -> bool:
    """Whether another operation may have answered, because the sent path matches it as well: routers choose in different ways.

    Only a path without variables has a defined precedence (OpenAPI, "Path Templating Matching"). Status 405 may be the
    answer of a path that does not support the method.
    """
    request = context.response.request
    if request is None or "{" not in context.case.operation.path:
        return False
    having = [request.method in one for one in context.case.operation.methods_at(path_of(context, request))]
    return sum(having) > 1 or (context.response.status_code == METHOD_NOT_ALLOWED and any(having) and not all(having))


def listed_parts(parts: Iterable[PartVerdict]) -> str:
    """Return the invalid parts of a request as text: a sentence, or a list of up to three."""
    texts = list(dict.fromkeys(map(_told, parts)))
    if len(texts) == 1:
        return f"Invalid component: {texts[0]}"
    lines = [f"- {text}" for text in texts[:_MOST_SHOWN]]
    if len(texts) > _MOST_SHOWN:
        lines.append(f"- and {len(texts) - _MOST_SHOWN} more")
    return "\n".join(("Invalid components:", *lines))


def _told(part: PartVerdict) -> str:
    if part.location is Location.BODY:
        inside = "/".join(map(str, part.instance_path))
        return f"body{f' at /{inside}' if inside else ''} - {part.reason}"
    if not part.name:
        return f"{part.location.value} - {part.reason}"
    return f"parameter `{part.name}` in {part.location.value} - {part.reason}"


def has_made_up_path(context: CheckContext) -> bool:
    """Whether a path variable is invented, so that the resource need not exist."""
    case = context.case
    if not case.path_parameters:
        return False
    part = None if case.meta is None else case.meta.components.get(Location.PATH)
    pinned = () if part is None or ANYTHING in part.outside else part.outside
    return any(name not in pinned for name in case.path_parameters)


_STATUSES: Final = (400, 406, 422)
_MOST: Final = 200
_MOST_OF_STATE: Final = 20  # Sentences of a refusal about states. A longer response is about something else.
_LONGEST: Final = 64 * 1024
_TITLES: Final = frozenset(
    ["bad request", "invalid input", "invalid request", "one or more validation errors occurred",
     "the given data was invalid", "unprocessable content", "unprocessable entity", "validation error", "validation failed"]
)  # fmt: skip


def denies_state(response: Response) -> str:
    """Return the first sentence of a refusal about resources that exist, do not exist, or are in another state; empty for other reasons."""
    if response.status_code not in _STATUSES:
        return ""
    sentences = _reasons_in(response)
    if not 0 < len(sentences) <= _MOST_OF_STATE or not all(map(_is_of_state, sentences)):
        return ""
    return sentences[0]


_OF_ANY_TEXT: Final = ([("pattern", r"\S")], [("minLength", 1)], [("pattern", r"^[^\u0000]*$")])


def demand_of_any_text(response: Response) -> str:
    """Return the demand in a refusal that frameworks make on every string (not empty, no NUL); empty for other reasons.

    The refusal may also contain sentences about resources.
    """
    demands = [demands_of(one) for one in _reasons_in(response) if not _is_of_state(one)]
    first = demands[0] if demands else []
    return str(first[0]) if first in _OF_ANY_TEXT and all(one == first for one in demands) else ""


def _reasons_in(response: Response) -> list[str]:
    return [one for one in sentences_of(response) if one.lower().strip(" .!") not in _TITLES]


def says_taken(content: bytes) -> bool:
    """Whether a text says that something exists already."""
    return is_taken(content[:_LONGEST].decode("utf-8", "replace"))


def _is_of_state(sentence: str) -> bool:
    return any(reads(sentence) for reads in (is_taken, is_missing, is_of_state, is_of_configuration))


def sentences_of(response: Response) -> Iterator[str]:
    """Yield the texts in a body with more than one word. Names, codes and paths give no reason."""
    for text in islice(_texts(_body_of(response)), _MOST):
        if len(text.split()) > 1:
            yield text.strip()


_PLACES: Final = frozenset(
    ("loc", "field", "fieldname", "path", "propertypath", "instancepath", "datapath", "pointer", "param", "parameter",
     "property", "attribute")
)  # fmt: skip
_HEADLINES: Final = frozenset(("message", "messages", "error", "errors", "detail", "details"))
_LOCATIONS: Final = frozenset(one.value for one in Location)


def places_of(response: Response) -> Iterator[str]:
    """Yield the places to which a body points: `{"loc": ["body", "name"]}`, `{"field": "name"}`, `{"name": ["is too long"]}`.

    The part of the request at the start of a list is omitted.
    """
    waiting = [_body_of(response)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        for name, value in one.items() if isinstance(one, dict) else ():
            steps = value if isinstance(value, list) else [value]
            texts = [step for step in steps if isinstance(step, str)]
            if normalised(name) in _PLACES and texts:
                yield from texts[len(texts) > 1 and texts[0] in _LOCATIONS :]
            elif texts and texts == value and name.lower() not in _HEADLINES:
                yield name
            else:
                waiting.append(value)
                yield from value if name == "errors" and isinstance(value, dict) else ()


def _body_of(response: Response) -> Any:
    """Return the body as JSON if possible, otherwise as text; None if it is empty or too long."""
    content = response.readable.content
    if not content or len(content) > _LONGEST:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        text = content.decode("utf-8", "replace")
    # A page has menus and scripts around its reason, and its heading is only the class of the error.
    reasons = [html.unescape(_TAG.sub(" ", one)).strip() for one in _BELOW_HEADING.findall(text)]
    return reasons or text


_BELOW_HEADING: Final = later_pattern(r"</h[1-6]>\s*<p\b[^>]{0,200}>(.{1,2000}?)</p>", re.IGNORECASE | re.DOTALL)
"""The paragraph below a heading of an HTML page."""
_TAG: Final = later_pattern(r"<[^>]{0,500}>")


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += reversed(one.values())
        elif isinstance(one, list):
            waiting += reversed(one)
