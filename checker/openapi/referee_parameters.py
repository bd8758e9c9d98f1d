"""Verdicts on parameters: by style, from the text that was sent."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from checker.core.media_types import is_json
from checker.core.operation import Location, Parameter
from checker.core.verdicts import PartVerdict
from checker.openapi.readings import Reading, Tree, exact_json, readings
from checker.openapi.rulings import Part, Rule, Rules
from checker.openapi.targets import Target, fault_of
from checker.transport.styles import Pairs
from checker.transport.unstyled import (
    Decoded,
    Shape,
    header_value,
    pairs_of,
    path_value,
    query_value,
)

Header = tuple[str, str]
"""Name and value of a header field, decoded byte for byte."""

_PLUS = "servers differ on whether a plus in a query is a space"
_COMMA = "servers differ on whether an encoded delimiter separates"
_SPLIT = "the segment can be split into its variables in two ways"
_REST = "an undeclared pair may belong to the object or to nobody"
_OCTETS = "servers read octets beyond ASCII in a header as Latin-1 or as UTF-8"
_ESCAPES = "servers differ on whether a cookie is percent-encoded"
_DELIMITERS = {
    "spaceDelimited": ("%20", "+"),
    "pipeDelimited": ("%7C", "|"),
    "tabDelimited": ("%09", "\t"),
}
_COOKIE_FAULT = re.compile(r"[^\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")


def path_verdicts(
    parameters: Iterable[Parameter], target: Target, rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on the variables of a path that fits its template."""
    for parameter in parameters:
        part, rule = Part.of(parameter), rules.of(parameter.schema)
        texts = [split[parameter.name] for split in target.variables if parameter.name in split]
        if not texts:
            continue
        if "" in texts:
            yield from part.broken("required", "its segment is empty", "")
            continue
        fault = next(filter(None, map(fault_of, texts)), None)
        if fault is not None:
            yield from part.broken(*fault, texts[0])
            continue

        def read(text: str, shape: Shape, parameter: Parameter = parameter) -> Decoded:
            style, name = parameter.style, parameter.name
            return path_value(text, style, name, shape, explode=parameter.explode)

        candidates = [_Candidate(text, _SPLIT if len(texts) > 1 else "") for text in texts]
        yield from _judged(part, parameter, rule, candidates, read)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A text as it may have been meant."""

    text: str
    doubt: str = ""


def _judged(
    part: Part,
    parameter: Parameter,
    rule: Rule,
    candidates: list[_Candidate],
    read: Callable[[str, Shape], Decoded],
) -> list[PartVerdict]:
    """Verdict on a parameter that travels as one text."""
    found: list[Reading] = []
    reason = ""
    for candidate in candidates:
        if parameter.media_type is not None:
            try:
                found += _content(unquote(candidate.text), parameter.media_type, rule)
            except ValueError as error:
                reason = str(error)
            continue
        for shape in _shapes(rule):
            for text, doubt in _delimited(candidate, shape, parameter):
                try:
                    tree = read(text, shape)
                except ValueError as error:
                    reason = str(error)
                    continue
                found += _doubted(readings(tree, rule.node, rule.implied), doubt)
    if not found:
        keyword = "syntax" if parameter.media_type is not None else "style"
        return part.broken(keyword, reason, candidates[0].text)
    return part.judged(found, rule)


def _shapes(rule: Rule) -> list[Shape]:
    """What the value may be, the most structured first: its violations say most."""
    types = rule.types
    found = [Shape.OBJECT] if "object" in types else []
    found += [Shape.ARRAY] if "array" in types else []
    return found + ([Shape.SCALAR] if types - {"array", "object"} or not found else [])


def _delimited(candidate: _Candidate, shape: Shape, parameter: Parameter) -> list[tuple[str, str]]:
    """The text as written; and with encoded delimiters as if they separated, where they may."""
    text, doubt = candidate.text, candidate.doubt
    if shape is Shape.SCALAR or parameter.location is Location.HEADER:
        return [(text, doubt)]
    encoded, raw = _DELIMITERS.get(parameter.style, ("", ""))
    if encoded:
        return [(text.replace(raw, encoded), doubt)]
    if "%2C" in text.upper() and not parameter.explode:
        return [(text, doubt or _COMMA), (re.sub("%2[Cc]", ",", text), doubt or _COMMA)]
    return [(text, doubt)]


def _content(text: str, media_type: str, rule: Rule) -> list[Reading]:
    if is_json(media_type):
        return [Reading(exact_json(text))]
    return readings(text, rule.node, rule.implied)


def _doubted(found: list[Reading], doubt: str) -> list[Reading]:
    return [Reading(one.value, doubt or one.doubt) for one in found] if doubt else found


def query_verdicts(
    parameters: Iterable[Parameter], query: str, rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on the parameters of a query, and on the pairs that nobody declares."""
    declared = list(parameters)
    pairs = pairs_of(query)
    owners = _Owners(declared, rules)
    for parameter in declared:
        mine = [pair for pair in pairs if owners.owns(parameter, pair[0])]
        yield from _of_pairs(parameter, mine, owners.rest(parameter, pairs), rules)
    if not any(map(owners.takes_rest, declared)):
        for name in dict.fromkeys(_plain(name) for name, _ in owners.undeclared(pairs)):
            yield from Part(Location.QUERY, name).undeclared("no such parameter is declared")


class _Owners:
    """Which pairs belong to which parameter."""

    def __init__(self, declared: list[Parameter], rules: Rules) -> None:
        self._declared = declared
        self._rules = rules
        self._names = {parameter.name for parameter in declared if not self._is_spread(parameter)}

    def _is_spread(self, parameter: Parameter) -> bool:
        """True for an exploded object: its properties are parameters of their own."""
        types = self._rules.of(parameter.schema).types
        return (
            parameter.explode
            and parameter.style == "form"
            and parameter.media_type is None
            and "object" in types
            and not types & {"string", "array", "number", "integer", "boolean"}
        )

    def owns(self, parameter: Parameter, key: str) -> bool:
        """True when a key can only be of this parameter."""
        name = _plain(key)
        if self._is_spread(parameter):
            rule = self._rules.of(parameter.schema)
            return name in rule.implied.names(rule.node) and name not in self._names
        return name == parameter.name or (
            parameter.style == "deepObject" and name.startswith(f"{parameter.name}[")
        )

    def takes_rest(self, parameter: Parameter) -> bool:
        """True when pairs that nobody declares may be properties of this one."""
        rule = self._rules.of(parameter.schema)
        return self._is_spread(parameter) and not rule.implied.is_closed(rule.node)

    def rest(self, parameter: Parameter, pairs: Pairs) -> Pairs:
        """Pairs that may be properties of this parameter, or nobody's."""
        return self.undeclared(pairs) if self.takes_rest(parameter) else []

    def undeclared(self, pairs: Pairs) -> Pairs:
        """Pairs that no parameter owns."""
        return [
            pair for pair in pairs if not any(self.owns(one, pair[0]) for one in self._declared)
        ]


def _of_pairs(parameter: Parameter, mine: Pairs, rest: Pairs, rules: Rules) -> list[PartVerdict]:
    part = Part.of(parameter)
    if not mine and not rest:
        return _absent(part, parameter)
    for name, value in mine:
        fault = fault_of(name) or fault_of(value)
        if fault is not None:
            return part.broken(*fault, value)
    if parameter.allow_empty and [value for _, value in mine] == [""]:
        return part.valid()
    rule = rules.of(parameter.schema)
    found: list[Reading] = []
    reason = ""
    for pairs, doubt in _variants(mine, rest, is_query=parameter.location is Location.QUERY):
        try:
            found += _doubted(_of_variant(parameter, pairs, rule), doubt)
        except ValueError as error:
            reason = str(error)
    if not found:
        if not mine:
            return part.valid()
        is_twice = len(mine) > 1 and len({name for name, _ in mine}) == 1
        keyword = "duplicate" if is_twice else "style"
        keyword = "syntax" if parameter.media_type is not None and not is_twice else keyword
        return part.broken(keyword, reason, [value for _, value in mine])
    return part.judged(found, rule)


def _variants(mine: Pairs, rest: Pairs, *, is_query: bool) -> Iterator[tuple[Pairs, str]]:
    """Pairs as they may have been meant."""
    for pairs, doubt in [(mine, _REST), (mine + rest, _REST)] if rest else [(mine, "")]:
        if is_query and any("+" in name or "+" in value for name, value in pairs):
            spaced = [(n.replace("+", "%20"), v.replace("+", "%20")) for n, v in pairs]
            literal = [(n.replace("+", "%2B"), v.replace("+", "%2B")) for n, v in pairs]
            yield spaced, doubt or _PLUS
            yield literal, doubt or _PLUS
        else:
            yield pairs, doubt


def _of_variant(parameter: Parameter, pairs: Pairs, rule: Rule) -> list[Reading]:
    """Readings of some pairs. Raises `ValueError` when there is none."""
    name, style = parameter.name, parameter.style
    if parameter.media_type is not None:
        if len(pairs) != 1:
            raise ValueError(f"{name!r} stands {len(pairs)} times")
        return _content(_plain(pairs[0][1]), parameter.media_type, rule)
    if style == "deepObject" and any(_plain(key) != name for key, _ in pairs):
        return readings(_nested(pairs, name), rule.node, rule.implied)
    found: list[Reading] = []
    reason = f"nothing of the style {style}"
    for shape in _shapes(rule):
        for variant, doubt in _pair_delimiters(pairs, shape, parameter):
            try:
                tree = query_value(variant, name, style, shape, explode=parameter.explode)
            except ValueError as error:
                reason = str(error)
                continue
            if tree is not None:
                grouped = _grouped(variant, tree)
                found += _doubted(readings(grouped, rule.node, rule.implied), doubt)
    if not found:
        raise ValueError(reason)
    return found


def _pair_delimiters(
    pairs: Pairs, shape: Shape, parameter: Parameter
) -> Iterator[tuple[Pairs, str]]:
    if len(pairs) != 1 or parameter.explode:
        yield pairs, ""
        return
    ((key, value),) = pairs
    for text, doubt in _delimited(_Candidate(value), shape, parameter):
        yield [(key, text)], doubt


def _grouped(pairs: Pairs, tree: Decoded) -> Tree:
    """Properties of an exploded object that stand several times are lists."""
    if not isinstance(tree, dict):
        return tree
    grouped: dict[str, Tree] = {}
    for key, text in tree.items():
        # Only where each property has a pair of its own.
        several = [_plain(value) for name, value in pairs if _plain(name) == key]
        grouped[key] = several if len(several) > 1 else text
    return grouped


def _nested(pairs: Pairs, name: str) -> Tree:
    """`name[a][b]=c`: objects in objects, lists where a key stands several times or is empty."""
    found: dict[str, Tree] = {}
    for key, value in pairs:
        inner = _plain(key).removeprefix(name)
        tokens = _BRACKET.findall(inner)
        if "".join(f"[{token}]" for token in tokens) != inner or not tokens:
            raise ValueError(f"{_plain(key)!r} is not of the style deepObject")
        _put(found, tokens, _plain(value))
    return found


def _put(found: dict[str, Tree], tokens: list[str], text: str) -> None:
    is_listed = tokens[-1] == "" and len(tokens) > 1
    tokens = tokens[:-1] if is_listed else tokens
    for token in tokens[:-1]:
        inner = found.setdefault(token, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{token!r} is a text and an object at once")
        found = inner
    present = found.get(tokens[-1])
    if isinstance(present, dict):
        raise ValueError(f"{tokens[-1]!r} is a text and an object at once")
    if present is None:
        found[tokens[-1]] = [text] if is_listed else text
    else:
        found[tokens[-1]] = [*(present if isinstance(present, list) else [present]), text]


def _absent(part: Part, parameter: Parameter) -> list[PartVerdict]:
    if parameter.required:
        return part.broken("required", "it is required and not there")
    return part.valid()


def header_verdicts(
    parameters: Iterable[Parameter], headers: list[Header], rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on header parameters. Fields of one name are one list (RFC 9110, 5.3)."""
    for parameter in parameters:
        part = Part.of(parameter)
        values = [value for name, value in headers if name.lower() == parameter.name.lower()]
        if not values:
            yield from _absent(part, parameter)
            continue
        text = ", ".join(value.strip(" \t") for value in values)
        if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", text):
            yield from part.broken("header-octets", "control characters stand in it", text)
            continue

        def read(text: str, shape: Shape, parameter: Parameter = parameter) -> Decoded:
            return header_value(text, shape, explode=parameter.explode)

        yield from _judged(part, parameter, rules.of(parameter.schema), _octets(text), read)


def _octets(text: str) -> list[_Candidate]:
    if text.isascii():
        return [_Candidate(text)]
    try:
        return [
            _Candidate(text.encode("latin-1").decode("utf-8"), _OCTETS),
            _Candidate(text, _OCTETS),
        ]
    except ValueError:
        return [_Candidate(text)]


def cookie_verdicts(
    parameters: Iterable[Parameter], headers: list[Header], rules: Rules
) -> Iterator[PartVerdict]:
    """Verdicts on cookies, read as RFC 6265 (5.4 and 4.1.1) says they are written."""
    pairs = [
        (name.strip(), value.strip())
        for field, text in headers
        if field.lower() == "cookie"
        for name, _, value in (piece.partition("=") for piece in text.split(";"))
    ]
    declared = list(parameters)
    owners = _Owners(declared, rules)
    for parameter in declared:
        mine = [(name, _unquoted(value)) for name, value in pairs if owners.owns(parameter, name)]
        bad = next((value for _, value in mine if _COOKIE_FAULT.search(value)), None)
        if bad is not None:
            yield from Part.of(parameter).broken("cookie-octets", "a cookie cannot hold it", bad)
            continue
        verdicts = [_of_pairs(parameter, variant, [], rules) for variant in _escaped(mine)]
        yield from _agreed(Part.of(parameter), verdicts)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value


def _escaped(pairs: Pairs) -> list[Pairs]:
    """Percent-decoded, and as they stand where that is different."""
    if not any("%" in value for _, value in pairs):
        return [pairs]
    return [pairs, [(name, value.replace("%", "%25")) for name, value in pairs]]


def _agreed(part: Part, verdicts: list[list[PartVerdict]]) -> list[PartVerdict]:
    outcomes = {tuple(verdict.outcome for verdict in one)[:1] for one in verdicts}
    return verdicts[0] if len(outcomes) == 1 else part.ambiguous(_ESCAPES)


def _plain(text: str) -> str:
    return unquote(text, "utf-8", "replace")
