"""The table of ambiguities on the wire: combinations of location, style, explode and type whose text has several meanings.

The law of the round trip: any value that is not in the table is read back as it was written.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from checker.core.operation import Location
from checker.transport.wire.ambiguity import COMMA, DELIMITER, DOTS, ESCAPES, NESTED, NULL, OCTETS, REST, SPLIT
from checker.transport.wire.decoding import DeclaredShape, control_character, delimiters, non_cookie_octet
from checker.transport.wire.styles import HEADER_DELIMITERS, text_of

TYPES: Final = "its types are not told apart by its text"
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
