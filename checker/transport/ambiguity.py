"""The one table of what the wire does not say: cells of (location, style, explode, type) whose text has several meanings.

Decoders answer such text with every candidate and one of these reasons; verdicts rest on nothing of it; generation avoids
the values (`checker.generation.places`) wherever there are others to send.
"""

from dataclasses import dataclass
from typing import Final

from checker.core.locations import Location
from checker.transport.unstyled import Shape

PLUS: Final = "servers differ on whether a plus in a query is a space"
COMMA: Final = "servers differ on whether an encoded delimiter separates"
REST: Final = "an undeclared pair may belong to the object or to nobody"
OCTETS: Final = "servers read octets beyond ASCII in a header as Latin-1 or as UTF-8"
ESCAPES: Final = "servers differ on whether a cookie is percent-encoded"
NULL: Final = "no style says how null is written"
NESTED: Final = "the style does not say how nested values are written"
TYPES: Final = "its types are not told apart by its text"
LOOSE: Final = "some servers read it as a number, a whole number or a boolean"
LARGE: Final = "it is larger than most servers can count"
SPLIT: Final = "the segment can be split into its variables in two ways"
DOTS: Final = "dot segments may be removed on the way"


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a text does not determine its value."""

    locations: frozenset[Location]
    styles: frozenset[str]
    shapes: frozenset[Shape]
    values: str
    """Which values of the cell are concerned."""
    reason: str
    is_lost: bool = False
    """True when the value is not even among the candidates: its text is that of another value."""


_PATH, _QUERY = frozenset((Location.PATH,)), frozenset((Location.QUERY,))
_HEADER, _COOKIE = frozenset((Location.HEADER,)), frozenset((Location.COOKIE,))
_ALL: Final = _PATH | _QUERY | _HEADER | _COOKIE
_ANY: Final = frozenset(Shape)
_COMPOUND: Final = frozenset((Shape.ARRAY, Shape.OBJECT))
_DELIMITED: Final = frozenset(("spaceDelimited", "pipeDelimited", "tabDelimited"))
_STYLES: Final = _DELIMITED | frozenset(
    ("simple", "label", "matrix", "form", "deepObject", "cookie")
)

CELLS: Final = (
    Cell(_ALL, _STYLES, _ANY, "null", NULL),
    Cell(_ALL, _STYLES, _ANY, "of a schema with several scalar types: `1`, `true`, `null` as text", TYPES),
    Cell(_ALL, _STYLES, _COMPOUND, "items and properties that are arrays or objects", NESTED),
    Cell(
        _ALL, _STYLES, frozenset((Shape.ARRAY,)),
        "empty ones: nothing is sent, or an empty text", "an empty array is no text", is_lost=True,
    ),
    Cell(
        _ALL, _STYLES, frozenset((Shape.OBJECT,)),
        "empty ones: nothing is sent, or an empty text", "an empty object is no text", is_lost=True,
    ),
    Cell(
        _PATH | _QUERY, _DELIMITED, _COMPOUND,
        "texts in it that hold the space, bar or tab of the style: it has no raw form in a URL",
        "the delimiter of the style and the same character in a text are written alike", is_lost=True,
    ),
    Cell(
        _PATH | _QUERY, frozenset(("simple", "label", "matrix", "form")), _COMPOUND,
        "texts in it that hold the delimiter of the style, which is percent-encoded in them", COMMA,
    ),
    Cell(
        _HEADER, frozenset(("simple",)) | _DELIMITED, _COMPOUND,
        "texts in it that hold a comma, an equals sign or a blank at an end: HTTP has no escape for them",
        "headers have no escape", is_lost=True,
    ),
    Cell(_HEADER, _STYLES, _ANY, "text beyond ASCII", OCTETS),
    Cell(
        _HEADER, _STYLES, _ANY, "blanks at the ends of the text",
        "HTTP trims header values (RFC 9110, 5.5)", is_lost=True,
    ),
    Cell(
        _COOKIE, frozenset(("form",)), _ANY,
        "text with octets that a cookie cannot hold, and with a percent sign", ESCAPES,
    ),
    Cell(_COOKIE, frozenset(("form",)), _COMPOUND, "lists that are not exploded: a cookie holds no comma", COMMA),
    Cell(
        _COOKIE, frozenset(("cookie",)), _ANY,
        "text with octets that a cookie cannot hold: the style has no escape", "cookies have no escape",
        is_lost=True,
    ),
    Cell(_PATH, _STYLES, _ANY, "what is `.` or `..` in its segment", DOTS),
    Cell(_PATH, _STYLES, _ANY, "of two variables in one segment", SPLIT),
    Cell(
        _QUERY, frozenset(("deepObject",)), _COMPOUND,
        "names with brackets", "the brackets of the style and those of a name are written alike", is_lost=True,
    ),
    Cell(
        _QUERY | _COOKIE, frozenset(("form", "deepObject", "cookie")), frozenset((Shape.OBJECT,)),
        "exploded ones that admit undeclared properties", REST,
    ),
)  # fmt: skip
"""All of them. What is not here is read back as it was meant."""


def delimiters(style: str, shape: Shape, *, explode: bool) -> str:
    """Characters that separate inside the text of an array or an object, when they stand raw."""
    if style == "label" and explode:
        return ".=" if shape is Shape.OBJECT else "."
    if style == "matrix":
        return (";=" if shape is Shape.OBJECT else ";") if explode else ";,"
    if style in ("form", "deepObject") and explode:
        return ""
    return ",=" if shape is Shape.OBJECT and explode else ","
