"""Decoding of parameters: from text or pairs to all values that they can mean.

The inverse of `checker.transport.wire.bodies`, for the referee, which judges the sent bytes instead of the intended
values. If the text does not determine the value, every candidate is a doubtful reading with a reason from `checker.transport.wire.ambiguity`.
"""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import Enum
from itertools import islice, product
from typing import Final
from urllib.parse import unquote, unquote_to_bytes

from msgspec import Struct

from checker.core.media_types import is_form, is_json
from checker.core.operation import Location, Parameter
from checker.schema.views import Outline
from checker.transport.wire import ambiguity
from checker.transport.wire.readings import Reading, Repeated, Tree, doubted, exact_json, readings
from checker.transport.wire.styles import DELIMITERS, HEADER_DELIMITERS, Pairs, escape

Decoded = str | list[str] | dict[str, str]


class DeclaredShape(Enum):
    """The shape of a value that a schema declares."""

    SCALAR = "scalar"
    ARRAY = "array"
    OBJECT = "object"


_ENCODED = re.compile(r"%(?![0-9A-Fa-f]{2})")
_OUTSIDE = re.compile(r"[^\x21-\x7e]")
_JSON = json.JSONDecoder()
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


def plain(text: str) -> str:
    """Return text without percent-encoding."""
    return unquote(text, "utf-8", "surrogatepass")


def encoding_fault(text: str) -> tuple[str, str] | None:
    """Return the fault of text that should be percent-encoded UTF-8: (keyword, reason). RFC 3986, 2."""
    if text.isalnum() and text.isascii():
        return None
    bad = _OUTSIDE.search(text)
    if bad is not None:
        return "percent-encoding", f"{bad[0]!r} must be percent-encoded"
    if "%" not in text:
        return None
    if _ENCODED.search(text):
        return "percent-encoding", "a percent sign is not followed by two hexadecimal digits"
    try:
        unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        return "utf-8", "the percent-encoded octets are not UTF-8"
    return None


def path_value(text: str, style: str, name: str, shape: DeclaredShape, *, explode: bool) -> Decoded:
    """Return the value of a path variable."""
    if style == "label":
        if text.startswith("%2E"):
            # All dots: encoded on writing, so that the segment does not vanish.
            text = text.replace("%2E", ".")
        if not text.startswith("."):
            raise ValueError(f"{text!r} does not start with the dot of the style label")
        if shape is DeclaredShape.SCALAR:
            return plain(text[1:])
        return _split(text[1:], "." if explode else ",", shape, explode=explode)
    if style == "matrix":
        return _matrix_value(text, escape(name), shape, explode=explode)
    if shape is DeclaredShape.SCALAR:
        return plain(text)
    return _split(text, DELIMITERS.get(style, ","), shape, explode=explode)


def _matrix_value(text: str, name: str, shape: DeclaredShape, *, explode: bool) -> Decoded:
    if shape is DeclaredShape.OBJECT and explode:
        # Nothing follows a name without an equals sign (RFC 6570, 3.2.7).
        cut = (piece.partition("=") for piece in text.removeprefix(";").split(";")) if text else ()
        return {plain(key): plain(value) for key, _, value in cut}
    values: list[str] = []
    for piece in text.removeprefix(";").split(";") if text else ():
        key, _, value = piece.partition("=")
        if key != name:
            raise ValueError(f"{text!r} has {key!r} where the style matrix has {name!r}")
        values.append(value)
    if shape is DeclaredShape.ARRAY and explode:
        return [plain(value) for value in values]
    if len(values) != 1:
        raise ValueError(f"{text!r} has not one value for {name!r}")
    return plain(values[0]) if shape is DeclaredShape.SCALAR else _split(values[0], ",", shape, explode=False)


def header_value(
    text: str, shape: DeclaredShape, style: str = "simple", *, explode: bool, nested: bool = False
) -> Decoded:
    """Return the value of a header: items are trimmed, nothing is percent-encoded.

    With `nested`, delimiters inside JSON do not separate. Raises `ValueError` if that makes no difference.
    """
    if shape is DeclaredShape.SCALAR:
        return text
    delimiter = HEADER_DELIMITERS.get(style, ",")
    pieces = text.split(delimiter)
    if nested:
        around = pieces_around_json(text, delimiter)
        if around == pieces:
            raise ValueError("it has no list and no object")
        pieces = around
    items = [item.strip() for item in pieces] if text else []
    return items if shape is DeclaredShape.ARRAY else _object(items, explode=explode)


def pieces_around_json(text: str, delimiter: str) -> list[str]:
    """Return the pieces of a list whose items may be JSON: delimiters inside JSON do not separate."""
    pieces, begin, at = [], 0, 0
    while at < len(text):
        if text[at] in "[{" and (not text[begin:at].strip() or text[at - 1] == "="):
            with contextlib.suppress(ValueError, RecursionError):
                at = _JSON.raw_decode(text, at)[1]
                continue
        if text[at] == delimiter:
            pieces.append(text[begin:at])
            begin = at + 1
        at += 1
    return [*pieces, text[begin:]]


def query_value(pairs: Pairs, name: str, style: str, shape: DeclaredShape, *, explode: bool) -> Decoded | None:
    """Return the value of a parameter from the pairs of a query or a cookie header; None if it is absent.

    An exploded object takes every pair, so the caller removes the pairs of other parameters.
    """
    if shape is DeclaredShape.OBJECT and style == "deepObject":
        found: dict[str, str] = {}
        for key, value in pairs:
            text = plain(key)
            inner = text.removeprefix(name)
            if inner != text and (brackets := _BRACKETS.fullmatch(inner)):
                found[brackets[1]] = plain(value)
        return found or None
    if shape is DeclaredShape.OBJECT and explode:
        return {plain(key): plain(value) for key, value in pairs} or None
    values = [value for key, value in pairs if plain(key) == name]
    if not values:
        return None
    if shape is DeclaredShape.ARRAY and (explode or style == "deepObject"):
        return [plain(value) for value in values]
    if len(values) > 1:
        raise ValueError(f"{name!r} stands {len(values)} times")
    if shape is DeclaredShape.SCALAR:
        return plain(values[0])
    return _split(values[0], DELIMITERS.get(style, ","), shape, explode=False)


def pairs_of(text: str, separator: str = "&") -> Pairs:
    """Return names and values of a query string, a form body, or (`"; "`) a cookie header, still encoded."""
    cut = (piece.partition("=") for piece in text.split(separator) if piece)
    return [(name, value) for name, _, value in cut]


def _split(text: str, delimiter: str, shape: DeclaredShape, *, explode: bool) -> list[str] | dict[str, str]:
    pieces = text.split(delimiter) if text else []
    if shape is DeclaredShape.ARRAY:
        return [plain(piece) for piece in pieces]
    return {plain(key): plain(value) for key, value in _object(pieces, explode=explode).items()}


def _object(pieces: list[str], *, explode: bool) -> dict[str, str]:
    if explode:
        found = {}
        for piece in pieces:
            key, equals, value = piece.partition("=")
            if not equals:
                raise ValueError(f"{piece!r} is not a pair of name and value")
            found[key] = value
        return found
    if len(pieces) % 2:
        raise ValueError("an odd number of pieces cannot be pairs of name and value")
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


non_cookie_octet: Final = re.compile(r"[^\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]").search
"""First octet that a cookie cannot hold (RFC 6265, 4.1.1)."""
control_character: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search


def delimiters(style: str, shape: DeclaredShape, *, explode: bool) -> str:
    """Return the characters that separate inside the text of an array or an object, unencoded."""
    if style == "label" and explode:
        return ".=" if shape is DeclaredShape.OBJECT else "."
    if style == "matrix":
        return (";=" if shape is DeclaredShape.OBJECT else ";") if explode else ";,"
    if style in ("form", "deepObject", "cookie") and explode:
        return ""
    return ",=" if shape is DeclaredShape.OBJECT and explode else ","


Declared = Sequence[tuple[Parameter, Outline]]
_NAMED = frozenset({"deepObject", "querystring"})  # Styles whose objects do not spread into pairs of other names.


class OwnedPairs(Struct, frozen=True):
    """The pairs that belong to one parameter."""

    parameter: Parameter
    outline: Outline
    own: Pairs  # Pairs that can only belong to the parameter.
    rest: Pairs  # Undeclared pairs: properties of the object, or of no parameter.
    is_contested: bool = False  # Whether its pairs may also belong to another parameter, so that its value is unknown.


def shares(declared: Declared, pairs: Pairs) -> tuple[list[OwnedPairs], Pairs]:
    """Return the pairs of each parameter of a location, and the undeclared pairs."""
    # An exploded object owns the pairs of its properties, but a parameter that has the same name owns its pair first.
    names = {parameter.name for parameter, outline in declared if not _is_spread(parameter, outline)}
    own = [[pair for pair in pairs if _owns(*one, plain(pair[0]), names)] for one in declared]
    owners = Counter(pair for mine in own for pair in set(mine))
    undeclared = [pair for pair in pairs if not owners[pair]]
    found = [
        OwnedPairs(
            *one,
            mine,
            undeclared if _takes_rest(*one, mine) else [],
            is_contested=any(owners[pair] > 1 for pair in mine),
        )
        for one, mine in zip(declared, own, strict=True)
    ]
    return found, undeclared


def may_spread(parameter: Parameter, outline: Outline) -> bool:
    """Whether the value may be an exploded object."""
    is_exploded = parameter.explode and parameter.style not in _NAMED
    return is_exploded and parameter.media_type is None and "object" in outline.types


def _is_spread(parameter: Parameter, outline: Outline) -> bool:
    """Whether the value is always an exploded object, so that the parameter's own name is never sent."""
    return may_spread(parameter, outline) and outline.types <= {"object", "null"}


def _owns(parameter: Parameter, outline: Outline, name: str, names: set[str]) -> bool:
    if _is_spread(parameter, outline):
        return name not in names and outline.declares(name)
    return name == parameter.name or (parameter.style == "deepObject" and name.startswith(f"{parameter.name}["))


def _takes_rest(parameter: Parameter, outline: Outline, own: Pairs) -> bool:
    if _is_spread(parameter, outline):
        return not outline.is_closed
    return not own and may_spread(parameter, outline)


_JOINED = 6  # Texts of a list that are tried together: each doubles the number of ways.


def delimited_readings(tree: Tree, style: str, outline: Outline) -> list[Reading]:
    """Return the readings of a tree.

    If listed texts contain the delimiter of their style, there are further readings that do not split these texts.
    """
    delimiter = plain(DELIMITERS.get(style, ""))
    if not delimiter or not isinstance(tree, list):
        return readings(tree, outline)
    item = outline.item(0)
    # Lists in the list are JSON, which does not escape the delimiter either.
    enums = (
        part.raw.get("enum") for one in (item, item.item(0)) for part in one.facets() if isinstance(part.raw, dict)
    )
    listed = (text for texts in enums for text in (texts if isinstance(texts, list) else ()))
    if any(isinstance(text, str) and delimiter in text for text in listed):
        return joined_readings(tree, style, outline)
    return readings(tree, outline)


def parted_inside(tree: Tree, delimiters: Sequence[str]) -> Tree:
    """Return a list whose texts are split into lists by the delimiters, outermost delimiter first; any other value unchanged."""
    if not delimiters or not isinstance(tree, list):
        return tree
    return [parted_inside(one.split(delimiters[0]), delimiters[1:]) if isinstance(one, str) else one for one in tree]


def joined_readings(tree: Tree, style: str, outline: Outline) -> list[Reading]:
    """Return the readings of a list, and doubtful ones in which some delimiters belong to its texts."""
    found = readings(tree, outline)
    delimiter = plain(DELIMITERS.get(style, ""))
    texts = [one for one in tree if isinstance(one, str)] if isinstance(tree, list) else []
    if not delimiter or len(texts) > _JOINED:
        return [*found, Reading(texts, ambiguity.MANY)] if delimiter else found
    for cuts in islice(product((True, False), repeat=max(len(texts) - 1, 0)), 1, None):
        joined = texts[:1]
        for text, is_cut in zip(texts[1:], cuts, strict=True):
            if is_cut:
                joined.append(text)
            else:
                joined[-1] += delimiter + text
        found += doubted(readings(joined, outline), ambiguity.DELIMITER)
    return found


def deep_tree(pairs: Pairs, name: str) -> Tree:
    """Return the tree of `name[a][b]=c`: objects in objects; a repeated or empty key makes a list. Raises `ValueError` if it is not of the style."""
    found: dict[str, Tree] = {}
    for key, value in pairs:
        inner = plain(key).removeprefix(name)
        tokens = _BRACKETS.findall(inner)
        if "".join(f"[{token}]" for token in tokens) != inner or not tokens:
            raise ValueError(f"{plain(key)!r} is not of the style deepObject")
        # `a[]=1` is a list under `a`, as PHP and Rails write it.
        *above, last = tokens[:-1] if tokens[-1] == "" and len(tokens) > 1 else tokens
        holder = found
        for token in above:
            below = holder.setdefault(token, {})
            if not isinstance(below, dict):
                raise ValueError(f"{token!r} is a text and an object at once")
            holder = below
        present = holder.get(last, Repeated(()))
        if not isinstance(present, Repeated):
            raise ValueError(f"{last!r} is a text and an object at once")
        holder[last] = Repeated((*present.texts, plain(value)))
    return found


_COMPOUND = frozenset({"array", "object"})
_ITEMS = 4  # First items of a list that are checked for lists and objects.
_STYLE_DELIMITERS = {
    "spaceDelimited": (re.compile(r"%20|\+| "), "%20"),
    "pipeDelimited": (re.compile(r"%7[Cc]|\|"), "%7C"),
    "tabDelimited": (re.compile(r"%09|\t"), "%09"),
}


class Malformed(Struct, frozen=True):
    """Text that does not conform to its style or its media type."""

    keyword: str  # `style`, `syntax`, `duplicate`, `percent-encoding`, `utf-8`, `header-octets` or `cookie-octets`.
    reason: str


Decoding = list[Reading] | Malformed | None
"""The possible values of a parameter, most likely first; None if it is absent."""


def decode_parameter(
    parameter: Parameter, parts: str | Pairs, outline: Outline, rest: Sequence[tuple[str, str]] = ()
) -> Decoding:
    """Return the possible values of a parameter as readings, most likely first.

    `parts` is the text in place of a path variable, the value of a header (fields of one name joined by commas), or
    the pairs of a query or of `Cookie` headers that belong to the parameter, percent-encoded. `querystring` is text.
    Pairs of the `rest` may be properties of the value, or belong to no parameter.
    """
    location = parameter.location
    if isinstance(parts, str):
        if location is Location.PATH:
            return decode_path(parameter, parts, outline)
        if location is Location.HEADER:
            return decode_header(parameter, parts, outline)
        return decode_querystring(parameter, parts, outline)
    if location is Location.COOKIE:
        return decode_cookie(parameter, parts, outline, rest)
    return _of_pairs(parameter, parts, list(rest), outline)


def decode_path(parameter: Parameter, text: str, outline: Outline) -> Decoding:
    """Return the values of a path variable."""
    if not text:
        return None
    fault = encoding_fault(text)
    if fault is not None:
        return Malformed(*fault)
    if parameter.media_type is not None:
        return _content(plain(text), parameter.media_type, outline)
    style = parameter.style
    # All shapes and variants are read: a value is proved wrong only if the schema rejects every reading.
    found: list[Reading] = []
    reason = ""
    for shape in shapes(outline):
        for variant, doubt in _variants(text, shape, parameter):
            try:
                whole = path_value(variant, style, parameter.name, shape, explode=parameter.explode)
                tree = parted_inside(whole, parameter.inner)
                doubt = doubt or _inner_doubt(parameter, tree)
                found += doubted(delimited_readings(tree, style, outline), doubt)
            except ValueError as error:
                reason = str(error)
    return found or Malformed("style", reason)


def decode_header(parameter: Parameter, text: str, outline: Outline) -> Decoding:
    """Return the values of a header."""
    text = text.strip(" \t")
    if control_character(text):
        return Malformed("header-octets", "it has control characters")
    found: list[Reading] = []
    reason: Malformed | None = None
    # The text of the octets in the encodings that a server may assume.
    variants = [(text, "")]
    if not text.isascii():
        with suppress(ValueError):
            variants = [(text.encode("latin-1").decode("utf-8"), ambiguity.OCTETS), (text, ambiguity.OCTETS)]
    for variant, doubt in variants:
        if parameter.media_type is not None:
            content = _content(variant, parameter.media_type, outline)
            if isinstance(content, Malformed):
                reason = content
            else:
                found += doubted(content, doubt)
            continue
        # The delimiters may stand in JSON, because HTTP has no escape for delimiters.
        has_json = "[" in variant or "{" in variant
        ways = [
            (shape, nested)
            for shape in shapes(outline)
            for nested in (False, True)
            if not nested or (has_json and _may_nest(outline, shape))
        ]
        for shape, nested in ways:
            try:
                tree = header_value(variant, shape, parameter.style, explode=parameter.explode, nested=nested)
            except ValueError as error:
                reason = reason or Malformed("style", str(error))
                continue
            parted = parted_inside(tree, parameter.inner)
            doubt = doubt or _inner_doubt(parameter, parted)
            found += doubted(readings(parted, outline), ambiguity.NESTED if nested else doubt)
    return found or reason or Malformed("style", "nothing of the style simple")


def _may_nest(outline: Outline, shape: DeclaredShape) -> bool:
    """Whether there may be lists and objects in a list or an object."""
    if shape is DeclaredShape.ARRAY:
        return any(outline.item(index).types & _COMPOUND for index in range(_ITEMS))
    names = (*outline.names, "") if shape is DeclaredShape.OBJECT else ()
    return any(outline.property(name).types & _COMPOUND for name in names)


def decode_cookie(
    parameter: Parameter, mine: Pairs, outline: Outline, rest: Sequence[tuple[str, str]] = ()
) -> Decoding:
    """Return the values of a cookie by RFC 6265 (5.4 and 4.1.1); `rest` as in a query."""
    mine = [(name, _unquoted(value)) for name, value in mine]
    more = [(name, _unquoted(value)) for name, value in rest]
    bad = next((value for _, value in mine if non_cookie_octet(value)), None)
    is_list = parameter.style == "cookie" and not parameter.explode
    if bad is not None and not (is_list and not non_cookie_octet(bad.replace(",", ""))):
        return Malformed("cookie-octets", f"a cookie cannot hold {bad!r}")
    # RFC 6265 has no escapes, but most libraries decode percent signs, so both readings are tried.
    literal, literal_rest = _unescaped(mine), _unescaped(more)
    decoded = _of_pairs(parameter, mine, more, outline)
    if (literal, literal_rest) == (mine, more):
        return decoded
    other = _of_pairs(parameter, literal, literal_rest, outline)
    if not isinstance(decoded, list) or not isinstance(other, list):
        return decoded if isinstance(decoded, list) else other
    if parameter.style == "cookie":
        # The style has no escapes, but quotes of JSON cannot be sent without them.
        may_nest = any(_may_nest(outline, shape) for shape in shapes(outline))
        return other + (doubted(decoded, ambiguity.NESTED) if may_nest else [])
    return doubted(decoded + other, ambiguity.ESCAPES)


def _unescaped(pairs: Pairs) -> Pairs:
    """Return the pairs with percent signs taken literally."""
    return [(name, value.replace("%", "%25")) for name, value in pairs]


def decode_querystring(parameter: Parameter, query: str, outline: Outline) -> Decoding:
    """Return the values of a whole query as one value: `in: querystring` of OpenAPI 3.2."""
    if not query:
        return None
    fault = encoding_fault(query)
    if fault is not None:
        return Malformed(*fault)
    if parameter.media_type is None or not is_form(parameter.media_type):
        return _content(plain(query), parameter.media_type or "text/plain", outline)
    return readings(grouped(plus_replaced(pairs_of(query), "%20")), outline)


def _of_pairs(parameter: Parameter, mine: Pairs, rest: Pairs, outline: Outline) -> Decoding:
    if not mine and not rest:
        return None
    fault = next(filter(None, (encoding_fault(text) for pair in mine for text in pair)), None)
    if fault is not None:
        return Malformed(*fault)
    found: list[Reading] = []
    reason = ""
    # Undeclared pairs may be properties of this parameter or belong to none, so both are tried.
    wholes = [(mine, ambiguity.REST), (mine + rest, ambiguity.REST)] if rest else [(mine, "")]
    variants: list[tuple[Pairs, str]] = []
    for pairs, doubt in wholes:
        if parameter.location is Location.QUERY and any("+" in name or "+" in value for name, value in pairs):
            variants += [(plus_replaced(pairs, one), doubt or ambiguity.PLUS) for one in ("%20", "%2B")]
        else:
            variants.append((pairs, doubt))
    for pairs, doubt in variants:
        try:
            found += doubted(_of_variant(parameter, pairs, outline), doubt)
        except ValueError as error:
            reason = str(error)
    if found:
        return found
    if not mine:
        return None
    if len(mine) > 1 and len({name for name, _ in mine}) == 1:
        return Malformed("duplicate", reason)
    return Malformed("style" if parameter.media_type is None else "syntax", reason)


def plus_replaced(pairs: Pairs, plus: str) -> Pairs:
    """Return pairs with every plus sign replaced."""
    return [(name.replace("+", plus), value.replace("+", plus)) for name, value in pairs]


def _of_variant(parameter: Parameter, pairs: Pairs, outline: Outline) -> list[Reading]:
    """Return the readings of pairs. Raises `ValueError` if there is none."""
    name, style = parameter.name, parameter.style
    if parameter.media_type is not None:
        if len(pairs) != 1:
            raise ValueError(f"{name!r} stands {len(pairs)} times")
        content = _content(plain(pairs[0][1]), parameter.media_type, outline)
        if isinstance(content, Malformed):
            raise ValueError(content.reason)
        return content
    if style == "deepObject" and any(plain(key) != name for key, _ in pairs):
        return readings(deep_tree(pairs, name), outline)
    found: list[Reading] = []
    reason = f"nothing of the style {style}"
    for shape in shapes(outline):
        for variant, doubt in _delimited(pairs, shape, parameter, outline):
            try:
                tree = query_value(variant, name, style, shape, explode=parameter.explode)
            except ValueError as error:
                reason = str(error)
                continue
            if tree is not None:
                # Properties of an exploded object that occur several times are lists.
                whole = grouped(variant) if isinstance(tree, dict) and parameter.explode else tree
                parted = parted_inside(whole, parameter.inner)
                doubt = doubt or _inner_doubt(parameter, parted)
                joined = "" if parameter.explode else style
                found += doubted(delimited_readings(parted, joined, outline), doubt)
    if not found:
        raise ValueError(reason)
    return found


def _inner_doubt(parameter: Parameter, tree: Tree) -> str:
    """Return the doubt about lists in lists: no escape protects delimiters in their texts."""
    return ambiguity.NESTED if parameter.inner and isinstance(tree, list) else ""


def _delimited(
    pairs: Pairs, shape: DeclaredShape, parameter: Parameter, outline: Outline
) -> Iterator[tuple[Pairs, str]]:
    if len(pairs) != 1 or parameter.explode:
        yield pairs, ""
        return
    ((key, value),) = pairs
    for text, doubt in _variants(value, shape, parameter):
        yield [(key, text)], doubt
    if parameter.location is Location.COOKIE and _may_nest(outline, shape):
        # Commas of JSON in the list look like those between its items.
        text = plain(value)
        pieces = pieces_around_json(text, ",")
        if pieces != text.split(","):
            yield [(key, ",".join(map(escape, pieces)))], ambiguity.NESTED


def grouped(pairs: Pairs) -> dict[str, Repeated]:
    """Return the decoded texts of pairs by name."""
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(plain(name), []).append(plain(value))
    return {name: Repeated(tuple(texts)) for name, texts in found.items()}


def shapes(outline: Outline) -> list[DeclaredShape]:
    """Return the possible shapes of a value, the most structured first, because its violations are the most precise."""
    types = outline.types
    found = [DeclaredShape.OBJECT] if "object" in types else []
    found += [DeclaredShape.ARRAY] if "array" in types else []
    return found + ([DeclaredShape.SCALAR] if types - {"array", "object"} or not found else [])


def _variants(text: str, shape: DeclaredShape, parameter: Parameter) -> Iterator[tuple[str, str]]:
    """Yield the text as written, and with encoded delimiters as separators if a server may read these as separators."""
    if shape is DeclaredShape.SCALAR:
        yield text, ""
        return
    if parameter.style in _STYLE_DELIMITERS:
        pattern, delimiter = _STYLE_DELIMITERS[parameter.style]
        yield pattern.sub(delimiter, text), ""
        return
    loose = text
    for delimiter in delimiters(parameter.style, shape, explode=parameter.explode):
        loose = re.sub(f"%{ord(delimiter):02X}", delimiter, loose, flags=re.IGNORECASE)
    if loose == text:
        yield text, ""
    elif parameter.location is Location.COOKIE:
        # A cookie cannot hold a comma, so an encoded one is the delimiter.
        yield loose, ambiguity.COMMA
        yield text, ambiguity.COMMA
    else:
        yield text, ambiguity.COMMA
        yield loose, ambiguity.COMMA


def _content(text: str, media_type: str, outline: Outline) -> list[Reading] | Malformed:
    if not is_json(media_type):
        return readings(text, outline)
    try:
        return [Reading(exact_json(text))]
    except ValueError as error:
        return Malformed("syntax", str(error))


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
