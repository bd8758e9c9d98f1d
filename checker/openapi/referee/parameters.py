"""Verdicts on parameters: from the text that was sent, by the decoders of `checker.transport.wire.decoding`."""

from collections.abc import Iterable, Iterator, Sequence

from checker.core.operation import Location, Parameter
from checker.core.verdicts import Outcome, PartVerdict
from checker.openapi.referee.rulings import Part, Rules
from checker.openapi.referee.targets import RequestTarget
from checker.transport.wire import ambiguity
from checker.transport.wire.decoding import (
    MISSING,
    Malformed,
    Missing,
    decode_header,
    decode_parameter,
    decode_path,
    decode_querystring,
)
from checker.transport.wire.ownership import OwnedPairs, shares
from checker.transport.wire.readings import Reading, doubted
from checker.transport.wire.styles import Pairs
from checker.transport.wire.unstyled import pairs_of, plain

Header = tuple[str, str]
"""Name and value of a header field, each octet a character."""
Decoding = list[Reading] | Missing | Malformed
_PASSED_OVER = frozenset(
    (
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "authorization",
        "if-modified-since",
        "if-unmodified-since",
        "prefer",
        "range",
    )
)
"""Headers whose values servers must or may ignore where they make no sense of them, or whose parameters OpenAPI has them ignore."""
_QUERYSTRING = "querystring"
"""Style of a parameter that is all of the query (OpenAPI 3.2): no other one can stand beside it."""


def path_verdicts(
    parameters: Iterable[Parameter], target: RequestTarget, rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on the variables of a path that fits its template."""
    for parameter in parameters:
        texts = [split[parameter.name] for split in target.variables if parameter.name in split]
        if not texts:
            continue
        outline = rules.of(parameter.schema).outline
        ways = [decode_path(parameter, text, outline) for text in dict.fromkeys(texts)]
        found = _any_of(ways, ambiguity.SPLIT, is_cut=target.is_cut)
        if found is MISSING:
            part = Part.of(parameter)
            yield from part.broken("required", "nothing stands in place of it", texts[0])
        else:
            yield from _verdicts(parameter, found, texts[0], rules)


def _any_of(ways: list[Decoding], doubt: str, *, is_cut: bool) -> Decoding:
    """Readings of all ways to take a text apart; in doubt if there are several, `is_cut` if there are still more."""
    readings = [one for way in ways if isinstance(way, list) for one in way]
    if is_cut:
        return doubted(readings or [Reading(None)], ambiguity.MANY)
    return doubted(readings, doubt if len(ways) > 1 else "") if readings else ways[0]


def query_verdicts(
    parameters: Iterable[Parameter], query: str, rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on the parameters of a query, and on the pairs that nobody declares."""
    declared = [(one, rules.of(one.schema).outline) for one in parameters]
    for parameter, outline in declared:
        if parameter.style == _QUERYSTRING:
            found = decode_querystring(parameter, query, outline)
            yield from _verdicts(parameter, found, query, rules)
            return
    found_shares, nobodys = shares(declared, pairs_of(query))
    for share in found_shares:
        if share.parameter.allow_empty and [value for _, value in share.own] == [""]:
            yield from Part.of(share.parameter).valid()
        else:
            yield from _share_verdicts(share, rules)
    if not any(share.rest for share in found_shares):
        for name in dict.fromkeys(plain(name) for name, _ in nobodys):
            yield from Part(Location.QUERY, name).undeclared("no such parameter is declared")


def cookie_verdicts(
    parameters: Iterable[Parameter], headers: Sequence[Header], rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on cookies (RFC 6265)."""
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
    # All pairs may be nobody's: then it is absent.
    may_be_absent = bool(share.rest) and not share.own
    if may_be_absent and not parameter.required:
        return Part.of(parameter).valid()
    found = decode_parameter(parameter, share.own, share.outline, share.rest)
    verdicts = _verdicts(parameter, found, _shown(share.own), rules)
    if _is_empty(share) and not _is_wrong_in_any_case(share, verdicts):
        return Part.of(parameter).ambiguous(ambiguity.EMPTY, "")
    if may_be_absent and verdicts[0].outcome is Outcome.VALID:
        return Part.of(parameter).ambiguous(ambiguity.REST, _shown(share.rest))
    return verdicts


def _is_empty(share: OwnedPairs) -> bool:
    """Whether all that is sent of a parameter is one empty text."""
    return not share.rest and [value for _, value in share.own] == [""]


def _is_wrong_in_any_case(share: OwnedPairs, verdicts: Sequence[PartVerdict]) -> bool:
    """Whether an empty text is wrong and nothing at all would be, too."""
    is_needed = share.parameter.required and "array" not in share.outline.types
    return is_needed and verdicts[0].outcome is Outcome.INVALID


def header_verdicts(
    parameters: Iterable[Parameter], headers: Sequence[Header], rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on header parameters. Fields of one name are one list (RFC 9110, 5.3)."""
    for parameter in parameters:
        values = [value for name, value in headers if name.lower() == parameter.name.lower()]
        text = ", ".join(value.strip(" \t") for value in values)
        outline = rules.of(parameter.schema).outline
        found = decode_header(parameter, text, outline) if values else MISSING
        verdicts = _verdicts(parameter, found, text, rules)
        is_wrong = bool(values) and verdicts[0].outcome is Outcome.INVALID
        if is_wrong and parameter.name.lower() in _PASSED_OVER:
            yield from Part.of(parameter).ambiguous(ambiguity.PASSED_OVER, text)
        else:
            yield from verdicts


def _verdicts(
    parameter: Parameter, found: Decoding, shown: object, rules: Rules
) -> list[PartVerdict]:
    part = Part.of(parameter)
    if isinstance(found, Malformed):
        return part.broken(found.keyword, found.reason, shown)
    if isinstance(found, Missing):
        if parameter.required:
            return part.broken("required", "it is required and not there")
        return part.valid()
    return part.judged(found, rules.of(parameter.schema))


def _shown(pairs: Pairs) -> object:
    values = [value for _, value in pairs]
    return values[0] if len(values) == 1 else values
