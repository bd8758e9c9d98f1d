"""The way back of `checker.transport.wire.styles`: text on the wire to strings, lists of strings, objects of strings.

For the second opinion, which judges what was sent instead of what was meant. Scalars stay text: whether `1` is a number
is the schema's affair. All of it raises `ValueError` for text that is not of the style.
"""

import contextlib
import json
import re
from enum import Enum
from urllib.parse import unquote, unquote_to_bytes

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


def plain(text: str, *, plus: bool = False) -> str:
    """Text without percent-encoding; in forms and queries of others a plus is a space."""
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
    """Value of a path variable."""
    if style == "label":
        if text.startswith("%2E"):
            # All dots: written so lest the segment vanish.
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
    return (
        plain(values[0])
        if shape is DeclaredShape.SCALAR
        else _split(values[0], ",", shape, explode=False)
    )


def header_value(
    text: str, shape: DeclaredShape, style: str = "simple", *, explode: bool, nested: bool = False
) -> Decoded:
    """Value of a header: items are trimmed, nothing is percent-encoded.

    With `nested`, delimiters that stand in JSON do not separate; that makes a difference, or it is a `ValueError`.
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
    """Pieces of a list whose items may be JSON: what separates in these does not separate the items."""
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


def query_value(
    pairs: Pairs, name: str, style: str, shape: DeclaredShape, *, explode: bool
) -> Decoded | None:
    """Value of a parameter among the pairs of a query, or of a cookie header; None when it is absent.

    An exploded object takes every pair: leave out those of other parameters before.
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
    """Names and values of a query string, a form body, or (`"; "`) a cookie header, still encoded."""
    cut = (piece.partition("=") for piece in text.split(separator) if piece)
    return [(name, value) for name, _, value in cut]


def _split(
    text: str, delimiter: str, shape: DeclaredShape, *, explode: bool
) -> list[str] | dict[str, str]:
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
