"""Values out of the bytes of a request, strictly: what is not exactly so written is refused."""

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = 64
"""Deepest nesting of a JSON body that is read."""

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,30})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,300})(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,4})?")


class WireError(ValueError):
    """Bytes that mean nothing: a bad escape, invalid UTF-8, JSON that is not."""


def percent_decoded(raw: bytes) -> str:
    """Text of a percent-encoded part of a URL."""
    if _BAD_ESCAPE.search(raw):
        raise WireError("a percent sign is not followed by two hexadecimal digits")
    if b"%" in raw:
        raw = _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), raw)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise WireError("percent-encoded text is not UTF-8") from None


def form_decoded(raw: bytes) -> dict[str, list[str]]:
    """Values by name of a query or an urlencoded form, in the order given."""
    values: dict[str, list[str]] = {}
    for pair in raw.split(b"&"):
        if pair:
            name, _, value = pair.replace(b"+", b" ").partition(b"=")
            values.setdefault(percent_decoded(name), []).append(percent_decoded(value))
    return values


def cookies_decoded(header: str) -> dict[str, list[str]]:
    """Values by name of a Cookie header."""
    values: dict[str, list[str]] = {}
    for pair in header.split(";"):
        name, _, value = pair.strip().partition("=")
        values.setdefault(name, []).append(value)
    return values


def scalar(text: str, kind: str) -> Any:
    """The value that a text stands for; a text that stands for none comes back as it is."""
    if kind == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "number" and _NUMBER.fullmatch(text):
        return int(text) if _INTEGER.fullmatch(text) else float(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def json_decoded(body: bytes) -> Any:
    """The one JSON value of a body (RFC 8259), without duplicate names, infinities or lone surrogates."""
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"the body is not JSON: {error}") from None
    _refuse_unreadable(value)
    return value


def json_encoded(value: Any) -> bytes:
    """Compact JSON in ASCII."""
    return _ENCODER.encode(value).encode("ascii")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise WireError("a name occurs twice in an object")
    return values


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise WireError("a number is too large")
    return value


def _readable(text: str) -> int:
    # Beyond a double no arithmetic with fractions is possible, and no bound of the document is near.
    if len(text) > 300:
        raise WireError("a number is too large")
    return int(text)


def _refuse_constant(name: str) -> NoReturn:
    raise WireError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=_finite,
    parse_int=_readable,
    parse_constant=_refuse_constant,
)
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def _refuse_unreadable(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise WireError(f"the body is nested deeper than {MAX_DEPTH} levels")
        below: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                below.extend(node)
                below.extend(node.values())
            elif isinstance(node, list):
                below.extend(node)
            elif isinstance(node, str) and not node.isascii():
                _refuse_surrogates(node)
        level = below


def _refuse_surrogates(text: str) -> None:
    # They pass JSON as escapes, and no client could read them in the answer.
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise WireError("a string has half of a surrogate pair") from None
