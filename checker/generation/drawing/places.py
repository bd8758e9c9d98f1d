"""The characters, empty values and nulls that each part of a request can carry."""

from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.core.operation import Location
from checker.generation.sources import alphabets
from checker.generation.sources.alphabets import Alphabet

_SEPARATORS = ",|;=& \t"
_BRACKETS = "[]"
_FILLED_QUERY = "query-filled"
_LOCATIONS = {str(location): location for location in Location}
_DOTS = frozenset((".", ".."))
LONGEST_IN_HEAD = 640
"""Most characters of a text in the request line or a header, unless its schema requires more. A character takes up to twelve
octets, and servers refuse heads of more than about 8,000 octets (RFC 9110, 4.1) or close the connection. Neither shows
anything about an operation.
"""
_XML = ((0x09, 0x0A), (0x20, 0xD7FF), (0xE000, 0xFFFD), (0x10000, 0x10FFFF))
"""Characters of XML 1.0 (2.2) without the carriage return, which parsers replace by line feeds."""


class TextPlace(Struct, frozen=True):
    """The limits of a text at one place of a request."""

    name: str
    alphabet: Alphabet
    min_text: int = 0  # Least length: 1 if an empty string would be lost or ambiguous.
    min_items: int = 0
    allows_null: bool = True
    is_body: bool = False
    is_bytes: bool = False  # True if `format: binary` means bytes here, not text.
    file: str = ""  # Media type of the files that are sent as bytes; empty if any bytes will do.
    columns: tuple[str, ...] = ()  # Columns of the tables among those files, if the description lists them.
    refuses: frozenset[str] = frozenset()  # Strings that cannot be a whole value, such as `.` and `..` in a path.
    is_trimmed: bool = False  # True if leading and trailing spaces would be lost.
    separators: str = _SEPARATORS  # Characters that items of a list and properties of an object cannot have.
    takes_any_listed: bool = False
    """True if members of an `enum` may have characters that other values avoid, such as `/` in a path.

    The characters are escaped, because no other value can be sent.
    """
    escaped: Alphabet | None = None
    """The alphabet plus characters that need escapes, for patterns without any text in the plain alphabet."""
    listed: Alphabet | None = None
    """The alphabet of members of an `enum`. Generated texts avoid characters that servers read in different ways."""
    carries_empty: bool = False
    """True if an empty string may be sent as a boundary value or an example, although it is not drawn."""

    def carries_listed(self, value: Any) -> bool:
        """Whether the server receives this member of an `enum` unchanged."""
        if isinstance(value, str) and self.takes_any_listed:
            return self._is_long_enough(value) and value not in self.refuses
        if isinstance(value, str) and self.listed is not None:
            return replace(self, alphabet=self.listed, is_trimmed=True).carries(value)
        if isinstance(value, list) and not self.is_body:
            return len(value) >= self.min_items and all(map(item_of(self).carries_listed, value))
        return self.carries(value)

    def stands_alone(self, text: str) -> bool:
        """Whether all characters of a text arrive unchanged."""
        return text not in self.refuses and not (self.is_trimmed and text != text.strip())

    def _is_long_enough(self, text: str) -> bool:
        return len(text) >= self.min_text or (self.carries_empty and not text)

    def carries(self, value: Any) -> bool:
        """Whether a value arrives unchanged."""
        if isinstance(value, str):
            return (
                self._is_long_enough(value)
                and value not in self.refuses
                and not (self.is_trimmed and value != value.strip())
                and self.alphabet.permits(value)
            )
        if value is None:
            return self.allows_null
        if isinstance(value, list):
            return len(value) >= self.min_items and (self.is_body or all(map(item_of(self).carries, value)))
        if isinstance(value, dict) and not self.is_body:
            return len(value) >= self.min_items and all(map(item_of(self).carries, value.values()))
        return True


@lru_cache(maxsize=16)
def filled(place: TextPlace, *, carries_empty: bool) -> TextPlace:
    """Return the place of a query parameter that servers may refuse if it is empty (OpenAPI 3.0, `allowEmptyValue`)."""
    return replace(place, name=_FILLED_QUERY, min_text=1, carries_empty=carries_empty)


@lru_cache(maxsize=256)
def place_of(location: Location, text: Alphabet, excluded: str, style: str = "", *, explode: bool = False) -> TextPlace:
    """Return the place of parameters of a location.

    `text` is the alphabet of all texts, `excluded` are characters that headers must not have.

    Values that are ambiguous on the wire (`checker.transport.wire.ambiguity`) are left out if there are other values.
    """
    if location is Location.PATH:
        # A slash ends a segment, decoded or not. Many servers refuse control characters before routing.
        characters = alphabets.restricted(alphabets.common(_PRINTABLE, text.intervals), "/\\")
        separators = _SEPARATORS + "." if style == "label" and explode else _SEPARATORS
        return TextPlace(
            "path", characters, 1, 1, allows_null=False, refuses=_DOTS, is_trimmed=True, separators=separators,
            takes_any_listed=True,
        )  # fmt: skip
    if location is Location.QUERY:
        separators = _SEPARATORS + _BRACKETS
        return TextPlace("query", text, min_items=1, separators=separators)
    if location is Location.HEADER:
        characters = alphabets.restricted(((0x20, 0x7E),), excluded)
        return TextPlace("header", characters, 1, 1, allows_null=False, is_trimmed=True)
    if location is Location.COOKIE:
        # Some servers read a percent sign as an escape, others as text.
        characters = alphabets.restricted(alphabets.VISIBLE.intervals, '",;\\%')
        return TextPlace("cookie", characters, 1, 1, allows_null=False)
    raise ValueError("bodies travel by media type")


@lru_cache(maxsize=64)
def json_place(location: Location, text: Alphabet, excluded: str) -> TextPlace:
    """Return the place of parameters that are sent as JSON, whose quotes keep spaces at the ends of texts."""
    match location:
        case Location.QUERY:
            characters = text
        case Location.PATH:
            characters = alphabets.restricted(alphabets.common(_PRINTABLE, text.intervals), "/\\")
        case _:
            characters = alphabets.restricted(((0x20, 0x7E),), excluded)
    return TextPlace(f"{location}-json", characters, allows_null=True, is_body=True)


@lru_cache(maxsize=32)
def body_place(
    text: Alphabet,
    *,
    is_form: bool,
    is_bytes: bool,
    is_xml: bool = False,
    file: str = "",
    columns: tuple[str, ...] = (),
) -> TextPlace:
    """Return the place of a body. If the bytes must be a whole file, `file` is its media type. A form with XML in one of its parts counts as XML."""
    if is_xml:
        text = alphabets.restricted(alphabets.common(_XML, text.intervals), "")
    kinds = (("form", is_form), ("xml", is_xml), ("bytes", is_bytes), (file, bool(file)))
    name = "-".join(["body", *(kind for kind, holds in kinds if holds)])
    return TextPlace(name, text, is_body=True, is_bytes=is_bytes, file=file, columns=columns)


@lru_cache(maxsize=128)
def item_of(place: TextPlace) -> TextPlace:
    """Return the place of an item of a list or a property of an object: without the characters that separate them."""
    if place.name.endswith("-item"):
        return place
    if place.is_body:
        if not place.name.startswith(("body-form", "body-xml")):
            return place
        # Forms and XML cannot express an empty list or null.
        return replace(place, name=f"{place.name}-item", min_items=1, allows_null=False)
    is_listed_free = place.takes_any_listed or place.name in ("query", _FILLED_QUERY)
    # Only commas separate the items of a header field (RFC 9110, 5.6.1).
    is_field = place.name == "header"
    return TextPlace(
        f"{place.name}-item",
        alphabets.restricted(place.alphabet.intervals, place.separators),
        1,
        1,
        allows_null=False,
        refuses=place.refuses,
        takes_any_listed=is_listed_free,
        listed=alphabets.restricted(place.alphabet.intervals, ",") if is_field else None,
        carries_empty=place.carries_empty,
        escaped=place.alphabet if is_listed_free else None,
    )


_PRINTABLE = (
    (0x20, 0x7E), (0xA1, 0xAC), (0xAE, 0x2FF), (0x370, 0x3FF), (0x400, 0x52F), (0x4E00, 0x9FFF), (0x1F300, 0x1F5FF),
)  # fmt: skip


def is_in_head(place: TextPlace) -> bool:
    """Whether texts of a place are in the request line or in a header."""
    return location_of(place) not in (None, Location.BODY)


def location_of(place: TextPlace) -> Location | None:
    """Return the location of a place, the first word of its name; None for places inside of bodies."""
    return _LOCATIONS.get(place.name.partition("-")[0])
