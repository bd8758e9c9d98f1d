"""Parameter styles: values to text, in a form from which the value can be read back.

The names are those of OpenAPI 3, plus `tabDelimited` for Swagger 2.0's `tsv`. Commas, dots and semicolons are plain as
delimiters and percent-encoded inside values, so decoding is exact. Spaces, tabs and bars must always be encoded in a URL, so
a value that contains the delimiter of its own style is ambiguous.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

Pairs = list[tuple[str, str]]  # Names and values as sent, both encoded.

DOTS = frozenset((".", ".."))  # Segments that would vanish (RFC 3986, 5.2.4).
is_unreserved = re.compile(r"[A-Za-z0-9_~.-]*").fullmatch
"""Text that needs no escape anywhere in a URL (RFC 3986, 2.3)."""
_RESERVED = ":/?[]@!$'()*,;"
"""Characters that `allowReserved` leaves unencoded. `&`, `#`, `+` and `=` are not among them, because they would end a pair or the query."""
DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}
HEADER_DELIMITERS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_COOKIE_OCTETS = "!#$&'()*+-./:<=>?@[]^_`{|}~"
"""Octets of cookie values (RFC 6265, 4.1.1), without letters, digits and `%`."""
COOKIE_NAME = _COOKIE_OCTETS.replace("=", "")
"""Octets of cookie names. A token (RFC 9110) allows fewer octets, but names with brackets are declared and accepted."""


def joined_inside(value: Any, delimiters: Sequence[str]) -> Any:
    """Return a list whose inner lists are joined by the delimiters, outermost first; any other value unchanged."""
    if not delimiters or not isinstance(value, list):
        return value
    return [
        delimiters[0].join(map(text_of, joined_inside(item, delimiters[1:]))) if isinstance(item, list) else item
        for item in value
    ]


def text_of(value: Any) -> str:
    """Return a value as plain text: `true`, `null`, numbers and nested values as JSON spells them."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float):
        return float.__repr__(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=octets_as_text)


def octets_as_text(value: Any) -> str:
    """Return octets as the text of a nested value, one character for each octet, as in a JSON body."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    raise TypeError(f"{type(value).__name__} is no JSON type")


def escape(text: str, safe: str = "") -> str:
    """Return percent-encoded text; only unreserved characters and `safe` stay (RFC 3986, 2.3)."""
    if (text.isalnum() and text.isascii()) or is_unreserved(text):
        return text
    return percent_encoded(text, safe)


def percent_encoded(text: str, safe: str = "") -> str:
    """Return text percent-encoded, without testing whether it needs encoding."""
    return "".join(map(_octets_table(safe).__getitem__, text.encode("utf-8", "surrogatepass")))


@lru_cache(maxsize=64)
def _octets_table(safe: str) -> tuple[str, ...]:
    stay = frozenset(safe)
    return tuple(chr(byte) if is_unreserved(chr(byte)) or chr(byte) in stay else f"%{byte:02X}" for byte in range(256))


def path_text(value: Any, style: str, name: str, *, explode: bool) -> str:
    """Return the text that replaces `{name}` in a path. A segment of only dots is encoded, because clients would remove it."""
    if style == "matrix":
        # An empty value has no equals sign (RFC 6570, 3.2.7).
        if explode and isinstance(value, dict | list):
            items = value.items() if isinstance(value, dict) else ((name, one) for one in value)
            texts = [(escape(str(key)), escape(text_of(one))) for key, one in items]
        else:
            texts = [(escape(name), ",".join(_parts(value, escape, explode=False)))]
        return "".join(f";{key}={text}" if text else f";{key}" for key, text in texts)
    if style == "label":
        parts = _parts(value, escape, explode=explode)
        if explode and isinstance(value, list | dict):
            # The dot is a delimiter here, although URLs need not escape it.
            text = "." + ".".join(part.replace(".", "%2E") for part in parts)
        else:
            text = "." + ",".join(parts)
    else:
        delimiter = DELIMITERS.get(style, ",")
        text = delimiter.join(_parts(value, escape, explode=explode))
    return text.replace(".", "%2E") if text in DOTS else text


def header_text(value: Any, *, explode: bool, style: str = "simple") -> str:
    """Return a header value. Nothing is encoded: HTTP has no escapes."""
    return HEADER_DELIMITERS.get(style, ",").join(_parts(value, str, explode=explode))


def query_pairs(
    name: str, value: Any, style: str = "form", *, explode: bool = True, allow_reserved: bool = False
) -> Pairs:
    """Return the pairs of a query string or a form body. Empty arrays and objects have no pairs."""
    safe = _RESERVED if allow_reserved else ""
    key = escape(name)
    if isinstance(value, dict):
        if style == "deepObject":
            return list(_deep(name, value, safe))
        if explode:
            # A list repeats the property's name, as most servers expect.
            items = ((escape(str(key)), one if isinstance(one, list) else [one]) for key, one in value.items())
            return [(key, escape(text_of(one), safe)) for key, ones in items for one in ones]
    elif isinstance(value, list):
        if explode or style == "deepObject":
            return [(key, escape(text_of(item), safe)) for item in value]
    else:
        return [(key, escape(text_of(value), safe))]
    # A comma inside a delimited value must differ from the delimiter.
    inner = safe.replace(",", "")
    delimiter = DELIMITERS.get(style, ",")
    parts = _parts(value, lambda text: escape(text, inner), explode=False)
    return [(key, delimiter.join(parts))] if value else []


def _deep(prefix: str, value: dict[str, Any], safe: str) -> Iterable[tuple[str, str]]:
    for key, item in value.items():
        name = f"{prefix}[{key}]"
        if isinstance(item, dict):
            yield from _deep(name, item, safe)
        elif isinstance(item, list):
            yield from ((escape(name), escape(text_of(one), safe)) for one in item)
        else:
            yield escape(name), escape(text_of(item), safe)


def cookie_pairs(name: str, value: Any, *, explode: bool = True, style: str = "form") -> Pairs:
    """Return the cookies of one parameter; octets that cookies cannot contain are percent-encoded.

    OpenAPI 3.2's style `cookie` has no escapes: a percent sign is literal, and commas are delimiters although RFC 6265 has
    none.
    """
    is_plain = style == "cookie"
    safe = _COOKIE_OCTETS + "%" if is_plain else _COOKIE_OCTETS

    def octets(text: str) -> str:
        return escape(text, safe)

    if explode and isinstance(value, dict):
        return [
            (escape(str(key), COOKIE_NAME), octets(text_of(one)))
            for key, item in value.items()
            for one in (item if isinstance(item, list) else [item])
        ]
    key = escape(name, COOKIE_NAME)
    if explode and isinstance(value, list):
        return [(key, octets(text_of(item))) for item in value]
    return [(key, ("," if is_plain else "%2C").join(_parts(value, octets, explode=False)))]


def _parts(value: Any, encode: Any, *, explode: bool) -> list[str]:
    """Return the texts that a delimiter joins: the items of an array, the names and values of an object, or one value."""
    if isinstance(value, list):
        return [encode(text_of(item)) for item in value]
    if isinstance(value, dict):
        if explode:
            return [f"{encode(str(k))}={encode(text_of(v))}" for k, v in value.items()]
        return [encode(text) for k, v in value.items() for text in (str(k), text_of(v))]
    return [encode(text_of(value))]
