"""Bodies by media type: which of them we can write, and how."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from checker.core.media_types import MediaType, is_form, is_json, is_multipart, is_yaml, parse
from checker.core.operation import PropertyEncoding
from checker.transport.multipart import encode_multipart
from checker.transport.styles import query_pairs, text_of
from checker.transport.textual import csv_bytes, text_bytes, yaml_bytes

Encoding = Mapping[str, PropertyEncoding]
Encoder = Callable[[Any, Encoding], bytes]

_DEFAULT_ENCODING = PropertyEncoding()
_MEMBERS = {"text/*": "text/plain", "multipart/*": "multipart/form-data"}
_OCTETS = frozenset(("application/octet-stream", "application/pdf", "application/zip"))
_NOT_PLAIN = frozenset(("xml", "event-stream"))
_OCTET_FAMILIES = frozenset(("image", "audio", "video", "font"))


def is_serialisable(media_type: str) -> bool:
    """True when bodies of that media type can be sent."""
    return reason_not(media_type) is None


def reason_not(media_type: str) -> str | None:
    """Why bodies of that media type cannot be sent; None when they can."""
    parsed = parse(media_type)
    if parsed is None:
        return f"{media_type!r} is not a media type"
    if is_multipart(concrete(media_type)):
        return None
    if _encoder(concrete(media_type)) is None:
        return f"no serialiser for {media_type}"
    return None


def concrete(media_type: str) -> str:
    """What is sent for a declared media type: a wildcard becomes a member of its family, JSON if that is one."""
    parsed = parse(media_type)
    if parsed is None or "*" not in parsed.essence:
        return media_type
    if parsed.type in ("*", "application"):
        suffix = parsed.subtype.rpartition("+")[2]
        return "application/json" if suffix in ("*", "json") else media_type
    return _MEMBERS.get(parsed.essence, media_type)


def encode(body: Any, media_type: str, encoding: Encoding) -> tuple[bytes, str]:
    """Bytes of a body and its `Content-Type`. Raises `ValueError` when the value or the type cannot be written."""
    sent = concrete(media_type)
    if is_multipart(sent):
        return encode_multipart(body, sent, encoding)
    encoder = _encoder(sent)
    if encoder is None:
        raise ValueError(f"no serialiser for {media_type}")
    return encoder(body, encoding), sent


def encoder_of(media_type: str) -> tuple[Encoder, str] | None:
    """The same in two steps, for a media type used often: encoder and `Content-Type`. None for multipart."""
    sent = concrete(media_type)
    encoder = _encoder(sent)
    return None if encoder is None else (encoder, sent)


def json_bytes(value: Any, _encoding: Encoding | None = None) -> bytes:
    """JSON as bytes; bytes go out as they are. Raises `ValueError` for what JSON cannot say, NaN included."""
    if isinstance(value, bytes):
        return value
    try:
        text = orjson.dumps(value, _octets)
    except TypeError:
        # Integers beyond 64 bits and lone surrogates: slower, but exact.
        return _exact_json(value)
    if b"null" in text and _has_nonfinite(value):
        # orjson writes null for them, without a word.
        raise ValueError("JSON has no NaN and no infinity")
    return text


def _exact_json(value: Any) -> bytes:
    try:
        text = json.dumps(
            value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_octets
        )
    except (TypeError, RecursionError) as error:
        raise ValueError(f"JSON cannot say it: {error}") from error
    return text.encode("ascii")


def _octets(value: Any) -> str:
    """Octets inside a JSON value: one character each."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    raise TypeError(f"{type(value).__name__} is no JSON type")


def _has_nonfinite(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nonfinite, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_nonfinite, value))
    return isinstance(value, float) and not math.isfinite(value)


def _form_bytes(value: Any, encoding: Encoding) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, dict):
        return text_of(value).encode("utf-8", "surrogatepass")
    pairs: list[tuple[str, str]] = []
    for name, item in value.items():
        how = encoding.get(name, _DEFAULT_ENCODING)
        if how.content_type is not None and is_json(how.content_type):
            item = json_bytes(item).decode()
        pairs += query_pairs(
            str(name), item, how.style, explode=how.explode, allow_reserved=how.allow_reserved
        )
    return "&".join(f"{key}={text}" for key, text in pairs).encode("ascii")


def _encoder(media_type: str) -> Encoder | None:
    parsed = parse(media_type)
    if parsed is None or "*" in parsed.essence:
        return None
    if is_json(media_type):
        return json_bytes
    if is_form(media_type):
        return _form_bytes
    if is_yaml(media_type):
        return lambda value, _: yaml_bytes(value)
    if parsed.essence == "text/csv":
        return lambda value, _: csv_bytes(value)
    if _is_octets(parsed) or (parsed.type == "text" and parsed.subtype not in _NOT_PLAIN):
        return lambda value, _: text_bytes(value)
    return None


def _is_octets(parsed: MediaType) -> bool:
    return (
        parsed.essence in _OCTETS
        or (parsed.type in _OCTET_FAMILIES and not parsed.subtype.endswith("+xml"))
        or parsed.subtype == "binary"
    )
