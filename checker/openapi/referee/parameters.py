"""Verdicts on parameters: from the text that was sent, by the decoders of `checker.transport.wire.decoding`."""

from collections.abc import Iterable, Iterator, Sequence

from checker.core.operation import Location, Parameter
from checker.core.verdicts import PartVerdict
from checker.openapi.referee.rulings import Part, Rules
from checker.openapi.referee.targets import Target
from checker.transport.wire import ambiguity
from checker.transport.wire.decoding import (
    MISSING,
    Malformed,
    Missing,
    decode_cookie,
    decode_header,
    decode_path,
    decode_query,
    decode_querystring,
)
from checker.transport.wire.outline import Outline
from checker.transport.wire.readings import Reading, doubted
from checker.transport.wire.styles import Pairs
from checker.transport.wire.unstyled import pairs_of, plain

Header = tuple[str, str]
"""Name and value of a header field, each octet a character."""
Decoding = list[Reading] | Missing | Malformed
_QUERYSTRING = "querystring"
"""Style of a parameter that is all of the query (OpenAPI 3.2): no other one can stand beside it."""
_SCALARS = frozenset({"string", "array", "number", "integer", "boolean"})


def path_verdicts(
    parameters: Iterable[Parameter], target: Target, rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on the variables of a path that fits its template."""
    for parameter in parameters:
        texts = [split[parameter.name] for split in target.variables if parameter.name in split]
        if not texts:
            continue
        outline = rules.of(parameter.schema).outline
        ways = [decode_path(parameter, text, outline) for text in dict.fromkeys(texts)]
        found = _any_of(ways, ambiguity.SPLIT)
        if found is MISSING:
            part = Part.of(parameter)
            yield from part.broken("required", "nothing stands in place of it", texts[0])
        else:
            yield from _verdicts(parameter, found, texts[0], rules)


def _any_of(ways: list[Decoding], doubt: str) -> Decoding:
    """Readings of all ways to take a text apart; in doubt if there are several."""
    readings = [way for way in ways if isinstance(way, list)]
    if not readings:
        return ways[0]
    return [one for way in readings for one in doubted(way, doubt if len(ways) > 1 else "")]


def query_verdicts(
    parameters: Iterable[Parameter], query: str, rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on the parameters of a query, and on the pairs that nobody declares."""
    owners = _Owners(list(parameters), rules)
    pairs = pairs_of(query)
    for parameter in owners.declared:
        if parameter.style == _QUERYSTRING:
            outline = rules.of(parameter.schema).outline
            found = decode_querystring(parameter, query, outline)
            yield from _verdicts(parameter, found, query, rules)
            return
        mine = [pair for pair in pairs if owners.owns(parameter, pair[0])]
        if parameter.allow_empty and [value for _, value in mine] == [""]:
            yield from Part.of(parameter).valid()
            continue
        rest = owners.rest(parameter, pairs)
        outline = rules.of(parameter.schema).outline
        found = decode_query(parameter, mine, outline, rest)
        if rest and not mine and not parameter.required:
            # The pairs may be nobody's: then it is absent, which is allowed.
            yield from Part.of(parameter).valid()
            continue
        yield from _verdicts(parameter, found, _shown(mine), rules)
    if not owners.take_rest:
        for name in dict.fromkeys(plain(name) for name, _ in owners.undeclared(pairs)):
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
    owners = _Owners(list(parameters), rules)
    for parameter in owners.declared:
        mine = [pair for pair in pairs if owners.owns(parameter, pair[0])]
        found = decode_cookie(parameter, mine, rules.of(parameter.schema).outline)
        yield from _verdicts(parameter, found, _shown(mine), rules)


def header_verdicts(
    parameters: Iterable[Parameter], headers: Sequence[Header], rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on header parameters. Fields of one name are one list (RFC 9110, 5.3)."""
    for parameter in parameters:
        values = [value for name, value in headers if name.lower() == parameter.name.lower()]
        text = ", ".join(value.strip(" \t") for value in values)
        outline = rules.of(parameter.schema).outline
        found = decode_header(parameter, text, outline) if values else MISSING
        yield from _verdicts(parameter, found, text, rules)


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


class _Owners:
    """Which pairs belong to which parameter."""

    def __init__(self, declared: list[Parameter], rules: Rules) -> None:
        self.declared = declared
        self._rules = rules
        self._spread = [parameter for parameter in declared if self._is_spread(parameter)]
        self._names = {one.name for one in declared if one not in self._spread}
        self.take_rest = any(not self._outline(one).is_closed for one in self._spread)
        """True when pairs that nobody declares may be properties of an object."""

    def _outline(self, parameter: Parameter) -> Outline:
        return self._rules.of(parameter.schema).outline

    def _is_spread(self, parameter: Parameter) -> bool:
        """True for an exploded object: its properties are parameters of their own."""
        types = self._outline(parameter).types
        has_pairs = parameter.explode and parameter.style not in ("deepObject", _QUERYSTRING)
        is_object = "object" in types and not types & _SCALARS
        return has_pairs and is_object and parameter.media_type is None

    def owns(self, parameter: Parameter, key: str) -> bool:
        """True when a key can only be of this parameter."""
        name = plain(key)
        if parameter in self._spread:
            return name in self._outline(parameter).names and name not in self._names
        return name == parameter.name or (
            parameter.style == "deepObject" and name.startswith(f"{parameter.name}[")
        )

    def rest(self, parameter: Parameter, pairs: Pairs) -> Pairs:
        """Pairs that may be properties of this parameter, or nobody's."""
        is_open = parameter in self._spread and not self._outline(parameter).is_closed
        return self.undeclared(pairs) if is_open else []

    def undeclared(self, pairs: Pairs) -> Pairs:
        """Pairs that no parameter owns."""
        return [pair for pair in pairs if not any(self.owns(one, pair[0]) for one in self.declared)]
