"""The table of ambiguities on the wire: combinations of location, style, explode and type whose text has several meanings.

Decoders return every candidate for such a text with one of these reasons; verdicts never rest on it, and generation
avoids such values (`checker.generation.drawing.places`) if it has others.
"""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final
from urllib.parse import unquote, unquote_to_bytes

from msgspec import Struct

from checker.core.operation import Parameter
from checker.core.request import Location
from checker.schema.views import Outline
from checker.transport.wire.styles import DELIMITERS, HEADER_DELIMITERS, Pairs, escape, text_of

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


def plain(text: str, *, plus: bool = False) -> str:
    """Return text without percent-encoding; in forms and queries of other clients a plus is a space."""
    return unquote(text.replace("+", " ") if plus else text, "utf-8", "surrogatepass")


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
        return "utf-8", "what is percent-encoded is not UTF-8"
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

    With `nested`, delimiters inside JSON do not separate; raises `ValueError` if that makes no difference.
    """
    if shape is DeclaredShape.SCALAR:
        return text
    delimiter = HEADER_DELIMITERS.get(style, ",")
    pieces = text.split(delimiter)
    if nested:
        around = pieces_around_json(text, delimiter)
        if around == pieces:
            raise ValueError("no list and no object stands in it")
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
        return _deep_value(pairs, name)
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


def _deep_value(pairs: Pairs, name: str) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for key, value in pairs:
        text = plain(key)
        inner = text.removeprefix(name)
        if inner != text and (brackets := _BRACKETS.fullmatch(inner)):
            found[brackets[1]] = plain(value)
    return found or None


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
                raise ValueError(f"{piece!r} is not a name and a value")
            found[key] = value
        return found
    if len(pieces) % 2:
        raise ValueError("an odd number of pieces is not names and values")
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


PLUS: Final = "servers differ on whether a plus in a query is a space"
COMMA: Final = "servers differ on whether an encoded delimiter separates"
REST: Final = "an undeclared pair may belong to the object or to nobody"
SHARED: Final = "two parameters have a property of that name"
OCTETS: Final = "servers read octets beyond ASCII in a header as Latin-1 or as UTF-8"
ESCAPES: Final = "servers differ on whether a cookie is percent-encoded"
NULL: Final = "no style says how null is written"
NESTED: Final = "the style does not say how nested values are written"
TYPES: Final = "its types are not told apart by its text"
LOOSE: Final = "some servers read it as a number, a whole number or a boolean"
FRACTION: Final = "some servers read it as a whole number, others as one with a fraction"
UNFIT: Final = "it is text, which is not of its type"
LARGE: Final = "it is larger than most servers can count"
SPLIT: Final = "the segment can be split into its variables in two ways"
MANY: Final = "there are more readings of it than can be tried"
UNWRITTEN: Final = "nothing says how arrays and objects are written as this media type"
DELIMITER: Final = "the delimiter and the same character in a text are written alike"
EMPTY: Final = (
    "sent empty, it is as good as absent for many servers, or a list of nothing (OpenAPI 3.0, `allowEmptyValue`)"
)
PASSED_OVER: Final = "servers pass over what they do not understand there (RFC 9110, 12.5, 13.1 and 14.2; RFC 7240, 2)"
UNKNOWN: Final = frozenset({MANY, UNWRITTEN})
"""Reasons with which further readings may exist."""
KIND: Final = "what it holds is no file of its media type, or of a kind that is not known here"
DOTS: Final = "dot segments may be removed on the way"


Concerned = Callable[[Any, "Wire"], bool]


class Wire(Struct, frozen=True):
    """The serialisation of a value."""

    location: Location
    style: str
    explode: bool


class Cell(Struct, frozen=True):
    """A combination of style and shape in which a text does not determine its value."""

    locations: frozenset[Location]
    styles: frozenset[str]
    shapes: frozenset[DeclaredShape]
    values: str
    """Description of the ambiguous values of the cell."""
    reason: str
    concerns: Concerned | None
    """Whether a value is ambiguous; None if that depends on the schema or on other parts of the request."""
    is_lost: bool = False
    """Whether the value may be missing among the candidates, because its text is that of another value, or of none."""

    def holds(self, value: Any, wire: Wire) -> bool:
        """Whether a value is ambiguous by this cell."""
        return (
            wire.location in self.locations
            and wire.style in self.styles
            and shape_of(value) in self.shapes
            and self.concerns is not None
            and self.concerns(value, wire)
        )


def shape_of(value: Any) -> DeclaredShape:
    """Return the shape of a value for a style."""
    if isinstance(value, list):
        return DeclaredShape.ARRAY
    return DeclaredShape.OBJECT if isinstance(value, dict) else DeclaredShape.SCALAR


def delimiters(style: str, shape: DeclaredShape, *, explode: bool) -> str:
    """Return the characters that separate inside the text of an array or an object, unencoded."""
    if style == "label" and explode:
        return ".=" if shape is DeclaredShape.OBJECT else "."
    if style == "matrix":
        return (";=" if shape is DeclaredShape.OBJECT else ";") if explode else ";,"
    if style in ("form", "deepObject", "cookie") and explode:
        return ""
    return ",=" if shape is DeclaredShape.OBJECT and explode else ","


def _parts(value: Any) -> list[Any]:
    """Return the items of an array, names and values of an object, or the value itself."""
    if isinstance(value, dict):
        return [one for pair in value.items() for one in pair]
    return value if isinstance(value, list) else [value]


def _texts(value: Any) -> list[str]:
    return [text_of(part) for part in _parts(value)]


def _any_text(holds: Callable[[str], object]) -> Concerned:
    return lambda value, wire: any(map(holds, _texts(value)))


def _has_null(value: Any, wire: Wire) -> bool:
    inner = _parts(value) if isinstance(value, list | dict) else []
    return value is None or any(_has_null(part, wire) for part in inner)


def _has_empty(value: Any, wire: Wire) -> bool:
    if isinstance(value, list | dict):
        return not value or any(_has_empty(part, wire) for part in _parts(value))
    return False


def _is_nested(value: Any, wire: Wire) -> bool:
    inner = [part for part in _parts(value) if isinstance(part, list | dict)]
    if wire.style == "deepObject" and isinstance(value, dict):
        # Objects have brackets, and lists in them repeat their name.
        return any(_is_nested(part, wire) for part in inner)
    return bool(inner)


def _holds_delimiter(value: Any, wire: Wire) -> bool:
    found = delimiters(wire.style, shape_of(value), explode=wire.explode)
    return any(set(found) & set(text) for text in _texts(value))


def _holds_own_delimiter(value: Any, wire: Wire) -> bool:
    if wire.explode and wire.location in (Location.QUERY, Location.COOKIE):
        return False
    return any(HEADER_DELIMITERS[wire.style] in text for text in _texts(value))


def _breaks_header(value: Any, wire: Wire) -> bool:
    delimiter = HEADER_DELIMITERS.get(wire.style, ",")
    bad = {delimiter, "="} if wire.explode else {delimiter}
    is_trimmed = delimiter.isspace()
    return any(bad & set(text) or text != text.strip() or (is_trimmed and not text) for text in _texts(value))


def _names_with_brackets(value: Any, wire: Wire) -> bool:
    if not isinstance(value, dict):
        return False
    return any(set("[]") & set(name) or name == "" or _names_with_brackets(item, wire) for name, item in value.items())


def _is_one_empty_text(value: Any, wire: Wire) -> bool:
    is_joined = not wire.explode or wire.location in (Location.PATH, Location.HEADER)
    return bool(value == [""] and is_joined)


def _is_escaped(value: Any, wire: Wire) -> bool:
    if not wire.explode and isinstance(value, list | dict):
        return True
    return any("%" in text or non_cookie_octet(text) for text in _texts(value))


_PATH, _QUERY = frozenset((Location.PATH,)), frozenset((Location.QUERY,))
_HEADER, _COOKIE = frozenset((Location.HEADER,)), frozenset((Location.COOKIE,))
_ALL: Final = _PATH | _QUERY | _HEADER | _COOKIE
_ANY: Final = frozenset(DeclaredShape)
_SCALAR, _ARRAY = frozenset((DeclaredShape.SCALAR,)), frozenset((DeclaredShape.ARRAY,))
_COMPOUND: Final = frozenset((DeclaredShape.ARRAY, DeclaredShape.OBJECT))
_STYLES: Final = frozenset((*HEADER_DELIMITERS, "simple", "label", "matrix", "form", "deepObject", "cookie"))
non_cookie_octet: Final = re.compile(r"[^\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]").search
"""First octet that a cookie cannot hold (RFC 6265, 4.1.1)."""
control_character: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search
_surrogates: Final = re.compile(r"[\ud800-\udfff]").search

CELLS: Final = (
    Cell(_ALL, _STYLES, _ANY, "null", NULL, _has_null),
    Cell(_ALL, _STYLES, _ANY, "of a schema that admits several scalar types", TYPES, None),
    Cell(
        _ALL, _STYLES, _COMPOUND, "arrays and objects in it", NESTED, _is_nested, is_lost=True,
    ),
    Cell(
        _ALL, _STYLES, _COMPOUND, "an empty one, or one in it",
        "nothing is sent for an empty array or object", _has_empty, is_lost=True,
    ),
    Cell(
        _ALL, _STYLES - {"deepObject"}, _ARRAY, "an array of one empty text",
        "it is written like an empty array", _is_one_empty_text, is_lost=True,
    ),
    Cell(
        _PATH, _STYLES - {"label", "matrix"}, _SCALAR, "the empty text",
        "an empty segment is no segment", lambda value, wire: value == "", is_lost=True,
    ),
    Cell(
        _ALL, _STYLES, _ANY, "lone surrogates", "UTF-8 has none", _any_text(_surrogates), is_lost=True,
    ),
    Cell(
        _PATH | _QUERY, frozenset(HEADER_DELIMITERS), _COMPOUND,
        "texts in it that hold the space, bar or tab of the style: it has no raw form in a URL",
        DELIMITER, _holds_own_delimiter,
        is_lost=True,
    ),
    Cell(
        _PATH | _QUERY, frozenset(("simple", "label", "matrix", "form")), _COMPOUND,
        "texts in it that hold the delimiter of the style, which is percent-encoded in them", COMMA,
        _holds_delimiter,
    ),
    Cell(
        _HEADER, _STYLES, _COMPOUND,
        "texts in it that hold the delimiter, an equals sign or a blank at an end",
        "HTTP has no escape for them", _breaks_header, is_lost=True,
    ),
    Cell(
        _HEADER, _STYLES, _SCALAR, "blanks at an end", "HTTP trims header values (RFC 9110, 5.5)",
        _any_text(lambda text: text != text.strip(" \t")), is_lost=True,
    ),
    Cell(
        _HEADER, _STYLES, _ANY, "control characters", "HTTP refuses them (RFC 9110, 5.5)",
        _any_text(control_character), is_lost=True,
    ),
    Cell(
        _HEADER, _STYLES, _ANY, "text beyond ASCII", OCTETS,
        _any_text(lambda text: not text.isascii()), is_lost=True,
    ),
    Cell(
        _COOKIE, frozenset(("form",)), _ANY,
        "octets that a cookie cannot hold, and the percent sign", ESCAPES,
        _is_escaped,
    ),
    Cell(
        _COOKIE, frozenset(("form",)), _COMPOUND,
        "lists that are not exploded: a cookie holds no comma", COMMA,
        lambda value, wire: not wire.explode,
    ),
    Cell(
        _COOKIE, frozenset(("form",)), _COMPOUND, "texts with commas in lists that are not exploded",
        "the delimiter and a comma are written alike",
        lambda value, wire: not wire.explode and any("," in text for text in _texts(value)),
        is_lost=True,
    ),
    Cell(
        _COOKIE, frozenset(("cookie",)), _ANY, "octets that a cookie cannot hold",
        "the style has no escape", _any_text(non_cookie_octet), is_lost=True,
    ),
    Cell(_PATH, _STYLES, _ANY, "what is `.` or `..` in its segment", DOTS, None),
    Cell(_PATH, _STYLES, _ANY, "of two variables in one segment", SPLIT, None),
    Cell(
        _QUERY, frozenset(("deepObject",)), frozenset((DeclaredShape.OBJECT,)),
        "names with brackets, and empty ones", "they are written like brackets of the style",
        _names_with_brackets, is_lost=True,
    ),
    Cell(
        _QUERY | _COOKIE, frozenset(("form", "cookie")), frozenset((DeclaredShape.OBJECT,)),
        "exploded ones that admit undeclared properties", REST, None,
    ),
)  # fmt: skip
"""All ambiguities. Any other value is read back as it was written."""


Declared = Sequence[tuple[Parameter, Outline]]
_NAMED = frozenset({"deepObject", "querystring"})
"""Styles whose objects do not spread into pairs of other names."""


class OwnedPairs(Struct, frozen=True):
    """The pairs that belong to one parameter."""

    parameter: Parameter
    outline: Outline
    own: Pairs
    """Pairs that can only belong to the parameter."""
    rest: Pairs
    """Undeclared pairs: properties of the object, or of no parameter."""
    is_contested: bool = False
    """Whether its pairs may also belong to another parameter, so that its value is unknown."""


def shares(declared: Declared, pairs: Pairs) -> tuple[list[OwnedPairs], Pairs]:
    """Return the pairs of each parameter of a location, and the undeclared pairs."""
    names = {parameter.name for parameter, outline in declared if not _is_spread(parameter, outline)}
    own = [[pair for pair in pairs if _owns(*one, plain(pair[0]), names)] for one in declared]
    owners = Counter(pair for mine in own for pair in set(mine))
    nobodys = [pair for pair in pairs if not owners[pair]]
    found = [
        OwnedPairs(
            *one, mine, nobodys if _takes_rest(*one, mine) else [], is_contested=any(owners[pair] > 1 for pair in mine)
        )
        for one, mine in zip(declared, own, strict=True)
    ]
    return found, nobodys


def may_spread(parameter: Parameter, outline: Outline) -> bool:
    """Whether it may be an exploded object."""
    is_exploded = parameter.explode and parameter.style not in _NAMED
    return is_exploded and parameter.media_type is None and "object" in outline.types


def _is_spread(parameter: Parameter, outline: Outline) -> bool:
    """Whether it is always an exploded object: its own name is never sent."""
    return may_spread(parameter, outline) and outline.types <= {"object", "null"}


def _owns(parameter: Parameter, outline: Outline, name: str, names: set[str]) -> bool:
    if _is_spread(parameter, outline):
        return name not in names and outline.declares(name)
    return name == parameter.name or (parameter.style == "deepObject" and name.startswith(f"{parameter.name}["))


def _takes_rest(parameter: Parameter, outline: Outline, own: Pairs) -> bool:
    if _is_spread(parameter, outline):
        return not outline.is_closed
    return not own and may_spread(parameter, outline)
