"""Parameters to the wire: one encoder for each declared parameter, with everything decided that no value changes.

An encoder gets a value of any type, also of one that its parameter does not admit. `checker.transport.wire.decoding` is the
way back.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from checker.core.media_types import is_form, is_json
from checker.core.operation import Parameter
from checker.transport.wire.bodies import encoder_of
from checker.transport.wire.forms import TextEncoder, pairs_encoder
from checker.transport.wire.json_text import json_bytes
from checker.transport.wire.styles import (
    COOKIE_NAME,
    DOTS,
    cookie_pairs,
    escape,
    header_text,
    is_unreserved,
    joined_inside,
    path_text,
    percent_encoded,
    text_of,
)

HeaderEncoder = Callable[[Any], bytes]
Text = TypeVar("Text", str, bytes)


def path_encoder(name: str, parameter: Parameter | None) -> TextEncoder:
    """Return the encoder of the text that replaces `{name}` in a path. An undeclared variable is text."""
    style, explode = "simple", False
    if parameter is not None:
        if parameter.media_type is not None:
            content = _content_encoder(parameter.media_type)
            return lambda value: escape(content(value))
        style, explode = parameter.style, parameter.explode
    if style in ("label", "matrix"):
        return lambda value: path_text(value, style, name, explode=explode)

    def encoded(value: Any) -> str:
        if value.__class__ is int:
            return f"{value}"
        if isinstance(value, str):
            if not is_unreserved(value):
                return percent_encoded(value)
            return value if value not in DOTS else value.replace(".", "%2E")
        return path_text(value, style, name, explode=explode)

    return _with_inner(encoded, parameter)


def _with_inner(
    encode: Callable[[Any], Text], parameter: Parameter | None
) -> Callable[[Any], Text]:
    """The encoder, after lists in lists became texts where the parameter says how."""
    if parameter is None or not parameter.inner:
        return encode
    delimiters = parameter.inner
    return lambda value: encode(joined_inside(value, delimiters))


def query_prefix(name: str, parameter: Parameter | None) -> str | None:
    """Return the prefix of a number or unreserved text in a query, whatever its style; None if that is written otherwise."""
    if parameter is not None and parameter.media_type is not None:
        return None
    return f"{escape(name)}="


def query_encoder(name: str, parameter: Parameter | None) -> TextEncoder:
    """Pairs of a query, joined; empty for a value that travels as nothing. What is not declared is exploded."""
    prefix = f"{escape(name)}="
    style, explode, allow_reserved = "form", True, False
    if parameter is not None:
        if parameter.style == "querystring":
            return _querystring_encoder(parameter.media_type or "application/json")
        if parameter.media_type is not None:
            content = _content_encoder(parameter.media_type)
            return lambda value: prefix + escape(content(value))
        style, explode = parameter.style, parameter.explode
        allow_reserved = parameter.allow_reserved
    encode = pairs_encoder(name, style, explode=explode, allow_reserved=allow_reserved)
    return _with_inner(encode, parameter)


def _querystring_encoder(media_type: str) -> TextEncoder:
    """The whole query is one value: a form as it stands, anything else as percent-encoded text (OpenAPI 3.2, 4.12.2)."""
    content = _content_encoder(media_type)
    return content if is_form(media_type) else lambda value: escape(content(value))


def header_encoder(parameter: Parameter | None) -> HeaderEncoder:
    """The value of a header."""
    if parameter is not None and parameter.media_type is not None:
        content = _content_encoder(parameter.media_type)
        if is_json(parameter.media_type):
            return lambda value: _beyond_ascii.sub(_escape, content(value)).encode("ascii")
        return lambda value: header_bytes(content(value))
    style, explode = "simple", False
    if parameter is not None:
        style, explode = parameter.style, parameter.explode

    def encoded(value: Any) -> bytes:
        if isinstance(value, str):
            return header_bytes(value)
        return header_bytes(header_text(value, explode=explode, style=style))

    return _with_inner(encoded, parameter)


def cookie_encoder(name: str, parameter: Parameter | None) -> TextEncoder:
    """Cookies as they stand in the header `Cookie`; empty for a value that travels as nothing."""
    prefix = escape(name, COOKIE_NAME) + "="
    style, explode = "form", True
    content: TextEncoder = text_of
    is_content = parameter is not None and parameter.media_type is not None
    if parameter is not None:
        style, explode = parameter.style, parameter.explode
        if parameter.media_type is not None:
            content = _content_encoder(parameter.media_type)

    def encoded(value: Any) -> str:
        if isinstance(value, str) and not is_content and is_unreserved(value):
            return prefix + value
        sent = content(value) if is_content else value
        pairs = cookie_pairs(name, sent, explode=explode, style=style)
        return "; ".join(f"{one}={text}" for one, text in pairs)

    return encoded


def header_bytes(text: str) -> bytes:
    """A header's text as bytes: Latin-1 where that is possible, UTF-8 otherwise."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


_beyond_ascii = re.compile(r"[^\x20-\x7e]")


def _escape(found: re.Match[str]) -> str:
    """A character of a JSON text that no header should hold, as JSON escapes it (RFC 8259, 7)."""
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _content_encoder(media_type: str) -> TextEncoder:
    """Text of a parameter that is declared by `content`; JSON for a media type that has no text."""
    found = encoder_of(media_type, {})
    if found is None:
        return lambda value: json_bytes(value).decode("utf-8", "surrogatepass")
    encode, _ = found
    return lambda value: encode(value).decode("utf-8", "surrogatepass")
