"""An independent judge of requests: from the bytes on the wire and the declared operation to a verdict on every part.

It shares the tables of styles and the decoders with the code that generates invalid requests, and nothing with the code that writes them. Beside the keywords of JSON Schema, `keyword`
of a verdict is one of: `method`, `path` (the template does not match), `required` (missing), `style`, `duplicate`,
`percent-encoding`, `utf-8`, `header-octets`, `cookie-octets`, `content-type`, `syntax`.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from checker.core.contract import Outcome, PartVerdict, RequestVerdict
from checker.core.operation import Location, Operation, Parameter
from checker.core.request import WireRequest
from checker.openapi.referee.bodies import body_verdicts
from checker.openapi.referee.rulings import Part, Rules
from checker.openapi.routes import PathTemplate, RequestTarget, has_dot_segment
from checker.transport.wire import ambiguity
from checker.transport.wire.decoding import (
    Decoding,
    Malformed,
    OwnedPairs,
    decode_header,
    decode_parameter,
    decode_path,
    decode_querystring,
    pairs_of,
    plain,
    shares,
)
from checker.transport.wire.readings import Reading, doubted
from checker.transport.wire.styles import Pairs

Header = tuple[str, str]
"""Name and value of a header field, each octet a character."""
_PASSED_OVER = frozenset(
    ["accept-charset", "accept-encoding", "accept-language", "authorization", "if-modified-since", "if-unmodified-since",
     "prefer", "range"]
)  # fmt: skip
"""Headers whose values servers may ignore if they do not understand them, or whose parameters OpenAPI ignores."""
_QUERYSTRING = "querystring"
"""Style of a parameter that is the whole query (OpenAPI 3.2): no other parameter may stand beside it."""


def path_verdicts(parameters: Iterable[Parameter], target: RequestTarget, rules: Rules) -> Iterator[PartVerdict]:
    """Yield the verdicts on the variables of a path that matches its template."""
    for parameter in parameters:
        texts = [split[parameter.name] for split in target.variables if parameter.name in split]
        if not texts:
            continue
        outline = rules.of(parameter.schema).outline
        ways = [decode_path(parameter, text, outline) for text in dict.fromkeys(texts)]
        found = _any_of(ways, ambiguity.SPLIT, is_cut=target.is_cut)
        if found is None and not parameter.doubt:
            part = Part.of(parameter)
            yield from part.broken("required", "the variable is empty", texts[0])
        else:
            yield from _verdicts(parameter, found, texts[0], rules)


def _any_of(ways: list[Decoding], doubt: str, *, is_cut: bool) -> Decoding:
    """Return the readings of all ways to split a text; in doubt if there are several, `is_cut` if there are even more."""
    readings = [one for way in ways if isinstance(way, list) for one in way]
    if is_cut:
        return doubted(readings or [Reading(None)], ambiguity.MANY)
    return doubted(readings, doubt if len(ways) > 1 else "") if readings else ways[0]


def query_verdicts(parameters: Iterable[Parameter], query: str, rules: Rules) -> Iterator[PartVerdict]:
    """Yield the verdicts on the parameters of a query, and on undeclared pairs."""
    declared = [(one, rules.of(one.schema).outline) for one in parameters]
    for parameter, outline in declared:
        if parameter.style == _QUERYSTRING:
            found = decode_querystring(parameter, query, outline)
            yield from _verdicts(parameter, found, query, rules)
            return
    found_shares, undeclared = shares(declared, pairs_of(query))
    for share in found_shares:
        if share.parameter.allow_empty and [value for _, value in share.own] == [""]:
            yield from Part.of(share.parameter).valid()
        else:
            yield from _share_verdicts(share, rules)
    if not any(share.rest for share in found_shares):
        for name in dict.fromkeys(plain(name) for name, _ in undeclared):
            yield from Part(Location.QUERY, name).undeclared("no such parameter is declared")


def cookie_verdicts(parameters: Iterable[Parameter], headers: Sequence[Header], rules: Rules) -> Iterator[PartVerdict]:
    """Yield the verdicts on cookies (RFC 6265)."""
    pairs = [
        (name.strip(), value.strip())
        for field, text in headers
        if field.lower() == "cookie"
        for name, _, value in (piece.partition("=") for piece in text.split(";"))
    ]
    declared = [(one, rules.of(one.schema).outline) for one in parameters]
    for share in shares(declared, pairs)[0]:
        yield from _share_verdicts(share, rules)


def _share_verdicts(share: OwnedPairs, rules: Rules) -> list[PartVerdict]:
    parameter = share.parameter
    if share.is_contested:
        return Part.of(parameter).ambiguous(ambiguity.SHARED, _shown(share.own))
    # If all pairs may be undeclared, the parameter may be absent.
    may_be_absent = bool(share.rest) and not share.own
    if may_be_absent and not parameter.required:
        return Part.of(parameter).valid()
    found = decode_parameter(parameter, share.own, share.outline, share.rest)
    verdicts = _verdicts(parameter, found, _shown(share.own), rules)
    # An empty text is certainly wrong only if an absent parameter would be wrong too.
    is_needed = parameter.required and "array" not in share.outline.types
    is_wrong = is_needed and verdicts[0].outcome is Outcome.INVALID
    is_empty = not share.rest and [value for _, value in share.own] == [""]
    if is_empty and not is_wrong:
        return Part.of(parameter).ambiguous(ambiguity.EMPTY, "")
    if may_be_absent and verdicts[0].outcome is Outcome.VALID:
        return Part.of(parameter).ambiguous(ambiguity.REST, _shown(share.rest))
    return verdicts


def header_verdicts(parameters: Iterable[Parameter], headers: Sequence[Header], rules: Rules) -> Iterator[PartVerdict]:
    """Yield the verdicts on header parameters. Fields of one name are one list (RFC 9110, 5.3)."""
    for parameter in parameters:
        values = [value for name, value in headers if name.lower() == parameter.name.lower()]
        text = ", ".join(value.strip(" \t") for value in values)
        outline = rules.of(parameter.schema).outline
        found = decode_header(parameter, text, outline) if values else None
        verdicts = _verdicts(parameter, found, text, rules)
        is_wrong = bool(values) and verdicts[0].outcome is Outcome.INVALID
        if is_wrong and parameter.name.lower() in _PASSED_OVER:
            yield from Part.of(parameter).ambiguous(ambiguity.PASSED_OVER, text)
        else:
            yield from verdicts


def _verdicts(parameter: Parameter, found: Decoding, shown: object, rules: Rules) -> list[PartVerdict]:
    part = Part.of(parameter)
    if found is None and not parameter.required:
        return part.valid()
    if parameter.doubt:
        return part.ambiguous(parameter.doubt, shown)
    if isinstance(found, Malformed):
        return part.broken(found.keyword, found.reason, shown)
    if found is None:
        return part.broken("required", "it is required and not there")
    return part.judged(found, rules.of(parameter.schema))


def _shown(pairs: Pairs) -> object:
    values = [value for _, value in pairs]
    return values[0] if len(values) == 1 else values


_KEPT: Final = 64
"""Parts of requests whose verdicts are kept."""
_LONGEST: Final = 4096
"""Longest of these parts, in octets."""


class RequestReferee:
    """Judges the requests to one operation."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._template = PathTemplate(operation.path)
        self._rules = Rules()
        # Requests that test one parameter share all their other parts.
        self._kept_target = lru_cache(_KEPT)(self._target_verdicts)
        self._kept_body = lru_cache(_KEPT)(self._body_verdicts)
        self._parameters: dict[Location, list[Parameter]] = {place: [] for place in Location}
        for parameter in operation.parameters:
            self._parameters[parameter.location].append(parameter)

    def judge(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        """Return the verdicts on all parts; `base_path` is the path before every operation path."""
        return RequestVerdict(tuple(self._verdicts(request, base_path)))

    def _verdicts(self, request: WireRequest, base_path: str) -> Iterator[PartVerdict]:
        target = request.target.decode("latin-1")
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
        content_type = request.header(b"content-type")
        said = None if content_type is None else content_type.decode("latin-1")
        body, rules = request.body, self._rules
        # Long targets hardly repeat: keeping them would only fill the memory.
        is_short = len(target) + len(base_path) <= _LONGEST
        if self._operation.method not in (request.method, request.method.upper()):
            whole = Part(Location.PATH, "")
            yield from whole.broken("method", "it is another operation's", request.method)
        yield from (self._kept_target if is_short else self._target_verdicts)(target, base_path)
        declared = self._parameters[Location.HEADER]
        yield from header_verdicts(declared, headers, rules)
        yield from cookie_verdicts(self._parameters[Location.COOKIE], headers, rules)
        is_short = len(body or b"") + len(said or "") <= _LONGEST
        yield from (self._kept_body if is_short else self._body_verdicts)(body, said)

    def _body_verdicts(self, content: bytes | None, said: str | None) -> list[PartVerdict]:
        return body_verdicts(self._operation, content, said, self._rules)

    def _target_verdicts(self, text: str, base_path: str) -> list[PartVerdict]:
        whole = Part(Location.PATH, "")
        target = self._template.split(text, base_path)
        path = text.partition("?")[0]
        if not target.variables:
            found = whole.broken("path", f"it is not of {self._operation.path}", path)
        elif has_dot_segment(path):
            found = whole.ambiguous(ambiguity.DOTS, path)
        else:
            found = list(path_verdicts(self._parameters[Location.PATH], target, self._rules))
        return [*found, *query_verdicts(self._parameters[Location.QUERY], target.query, self._rules)]
