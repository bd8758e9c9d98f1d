"""Encoders of bodies by media type, and of declared parameters.

An encoder accepts values of any type, also those that the schema does not admit. `checker.transport.wire.decoding` reads
parameters back.
"""

import codecs
import csv
import io
import json
import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

import orjson
import yaml

from checker.core.media_types import MediaType, is_form, is_json, is_multipart, is_xml, is_yaml, parse, stream_of
from checker.core.operation import Parameter, PropertyEncoding
from checker.core.registry import SERIALIZERS, BuiltIn
from checker.core.request import header_bytes
from checker.core.schema import Schema
from checker.core.system import kept
from checker.schema.views import ALL_TYPES, outline_of
from checker.transport.wire.multipart import Encoding, MultipartFile, PartWriter, encode_multipart, files_of
from checker.transport.wire.styles import (
    COOKIE_NAME,
    DOTS,
    cookie_pairs,
    escape,
    header_text,
    is_unreserved,
    joined_inside,
    octets_as_text,
    path_text,
    percent_encoded,
    query_pairs,
    text_of,
)
from checker.transport.wire.xml import xml_encoder

TextEncoder = Callable[[Any], str]
_USUAL = PropertyEncoding()
_MANY_NAMES = 1024


def pairs_encoder(name: str, style: str = "form", *, explode: bool = True, allow_reserved: bool = False) -> TextEncoder:
    """Return an encoder of the pairs of one parameter or property, joined by `&`; empty for a value without pairs."""
    prefix = f"{escape(name)}="
    # Shortcuts for the usual values, which almost all calls on the hot path have. `query_pairs` can write every value.
    is_repeated = explode and not allow_reserved

    def encoded(value: Any) -> str:
        if isinstance(value, str) and not allow_reserved:
            return prefix + (value if is_unreserved(value) else percent_encoded(value))
        if is_repeated and isinstance(value, list):
            return "&".join([prefix + escape(text_of(item)) for item in value])
        if not isinstance(value, list | dict) and not allow_reserved:
            return prefix + escape(text_of(value))
        pairs = query_pairs(name, value, style, explode=explode, allow_reserved=allow_reserved)
        return "&".join([f"{one}={text}" for one, text in pairs])

    return encoded


def form_encoder(encoding: Encoding) -> Callable[[Any], bytes]:
    """Return an encoder of forms. A value that is no object is sent as text; bytes are sent unchanged."""
    encoders: dict[str, TextEncoder] = {}

    def encoded(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        if not isinstance(value, dict):
            return text_of(value).encode("utf-8", "surrogatepass")
        found: list[str] = []
        for name, item in value.items():
            encode = encoders.get(name)
            if encode is None:
                made = _property_encoder(str(name), encoding.get(name, _USUAL))
                encode = kept(encoders, name, made, _MANY_NAMES)
            text = encode(item)
            if text:
                found.append(text)
        return "&".join(found).encode("ascii")

    return encoded


def _property_encoder(name: str, how: PropertyEncoding) -> TextEncoder:
    """Return the encoder of a property. An object without a declared style is JSON under its name (OpenAPI 3.0.4 and 3.1.1, Encoding Object)."""
    prefix = f"{escape(name)}="
    if how.content_type is not None and is_json(how.content_type.partition(",")[0]):
        return lambda value: prefix + escape(json_bytes(value).decode("utf-8"))
    styled = pairs_encoder(name, how.style, explode=how.explode, allow_reserved=how.allow_reserved)
    if how.inner:
        return lambda value: styled(joined_inside(value, how.inner))
    if how.is_styled:
        return styled
    return lambda value: prefix + escape(text_of(value)) if isinstance(value, dict) else styled(value)


def json_bytes(value: Any) -> bytes:
    """Return JSON as bytes; bytes are returned unchanged. Raises `ValueError` for values that JSON cannot express, NaN included."""
    if isinstance(value, bytes):
        return value
    try:
        text = orjson.dumps(value, octets_as_text)
    except TypeError:
        # Slower, but exact for integers beyond 64 bits and lone surrogates.
        try:
            exact = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=octets_as_text)
        except (TypeError, RecursionError) as error:
            raise ValueError(f"it cannot be written as JSON: {error}") from error
        return exact.encode("ascii")
    if text.find(b"null") >= 0 and _has_nonfinite(value):
        # orjson silently writes null for NaN.
        raise ValueError("JSON has no NaN and no infinity")
    return text


def _has_nonfinite(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nonfinite, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_nonfinite, value))
    return isinstance(value, float) and not math.isfinite(value)


_SafeDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_SafeDumper):  # type: ignore[misc]
    """Quotes texts such as `034296` and `1e5`, which YAML 1.2 reads as numbers. The library implements YAML 1.1, which reads them as text."""


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+)$"),
    list("-+.0123456789"),
)


def text_bytes(value: Any) -> bytes:
    """Return text in UTF-8; arrays and objects as JSON."""
    return value if isinstance(value, bytes) else text_of(value).encode("utf-8", "surrogatepass")


def codec_of(media_type: str) -> str | None:
    """Return the Python name of the encoding that limits the characters of a body with this media type; None without a limit.

    Only text is written in the charset of its media type. Other formats are written in UTF-8, which agrees with all these
    charsets on ASCII.
    """
    parsed = parse(media_type)
    known = "utf-8" if parsed is None else _known_codec(parsed.charset)
    is_text = parsed is not None and (parsed.essence == "text/csv" or is_unstructured(media_type))
    return None if known.startswith("utf") else known if is_text else "ascii"


def _known_codec(charset: str | None) -> str:
    try:
        known = codecs.lookup(charset or "utf-8").name
        "".encode(known)
    except LookupError:
        return "utf-8"
    return known


def text_encoder(charset: str | None) -> Callable[[Any], bytes]:
    """Return an encoder for the charset of a media type; UTF-8 if it is unknown. Raises `ValueError` for characters that the charset lacks."""
    known = _known_codec(charset)
    if known in ("utf-8", "ascii"):
        return text_bytes
    return lambda value: value if isinstance(value, bytes) else text_of(value).encode(known)


def csv_text(value: Any) -> Any:
    """Return rows as CSV. The rows are objects, whose names become the first row, or arrays. Text is returned unchanged."""
    if not isinstance(value, list) or not value:
        return "" if value == [] else value
    out = io.StringIO(newline="")
    rows = csv.writer(out)
    if all(isinstance(row, dict) for row in value):
        names = list(dict.fromkeys(name for row in value for name in row))
        rows.writerow(names)
        rows.writerows([text_of(row.get(name, "")) for name in names] for row in value)
    else:
        rows.writerows(map(text_of, row) if isinstance(row, list) else [text_of(row)] for row in value)
    return out.getvalue()


_EVENT_FIELDS: Final = ("event", "id", "retry", "data")


def stream_bytes(value: Any, stream: str) -> bytes:
    """Return values one after the other, in the form that `checker.core.media_types.stream_of` names. Text and bytes are written unchanged."""
    if isinstance(value, str | bytes):
        return text_bytes(value)
    values = value if isinstance(value, list) else [value]
    if stream == "events":
        return b"".join(map(_event, values))
    return b"".join(b"\x1e" * (stream == "records") + json_bytes(one) + b"\n" for one in values)


def _event(value: Any) -> bytes:
    """Return a server-sent event with the value's fields, or with the value as data."""
    is_event = isinstance(value, dict) and "data" in value and value.keys() <= {*_EVENT_FIELDS}
    fields = value if is_event else {"data": value}
    lines = [f"{key}: {line}\n" for key in _EVENT_FIELDS if key in fields for line in text_of(fields[key]).split("\n")]
    return "".join([*lines, "\n"]).encode("utf-8", "surrogatepass")


def yaml_bytes(value: Any) -> bytes:
    """Return YAML, escaped to ASCII. Raises `ValueError` for lone surrogates."""
    if isinstance(value, bytes):
        return value
    try:
        text: bytes = yaml.dump(value, Dumper=_Dumper, encoding="utf-8", sort_keys=False)
    except yaml.YAMLError as error:
        raise ValueError(f"it cannot be written as YAML: {error}") from error
    return text


Encoder = Callable[[Any], bytes]

_MEMBERS = {
    "text/*": "text/plain", "multipart/*": "multipart/form-data", "image/*": "image/png", "audio/*": "audio/mpeg",
    "video/*": "video/mp4", "font/*": "font/woff2", "model/*": "model/stl", "application/*+xml": "application/xml",
    "application/*+yaml": "application/yaml",
}  # fmt: skip
_OCTETS = frozenset(
    (
        "application/octet-stream", "application/pdf", "application/zip", "application/gzip", "application/x-gzip",
        "application/x-tar", "application/x-zip-compressed", "application/x-protobuf", "application/protobuf",
        "application/msgpack", "application/x-binary", "application/wasm", "application/vnd.ms-excel",
        "application/msword",
    )
)  # fmt: skip
_TEXTS = frozenset(
    (
        "application/jwt", "application/jose", "application/jose+jwe", "application/graphql", "application/javascript",
        "application/sql", "application/sparql-query", "application/x-pem-file", "application/toml", "application/http",
    )
)  # fmt: skip
"""Media types whose bodies are plain text; a JWT is sent in its compact form (RFC 7519, 10.3.1)."""
_OCTET_FAMILIES = frozenset(("image", "audio", "video", "font", "model"))
_TEXT = frozenset(("string",))
_NO_TYPES: frozenset[str] = frozenset()


def reason_not(media_type: str, types: frozenset[str] = _NO_TYPES) -> str | None:
    """Return the reason why bodies of a media type cannot be sent; None if they can. `types` are the possible types of a value, if known."""
    parsed = parse(media_type)
    if parsed is None:
        return f"{media_type!r} is not a media type"
    written = _written_as(media_type)
    if is_multipart(written):
        return None
    if _encoder(written, {}, None) is None:
        return f"no serialiser for {media_type}"
    if types and types.isdisjoint(carried_types(media_type)):
        found = " or ".join(sorted(types))
        return f"no serialiser for {media_type} from values of type {found}"
    return None


def carried_types(media_type: str) -> frozenset[str]:
    """Return the JSON types of values that can be written as a sendable media type.

    Octets and text are sent unchanged; an object cannot be written as `application/msgpack`.
    """
    parsed = parse(_written_as(media_type))
    if parsed is not None and parsed.essence == "text/csv":
        return ALL_TYPES - {"object"}
    if parsed is None or not is_unstructured(media_type):
        return ALL_TYPES
    return ALL_TYPES - {"object", "array"} if _is_text(parsed) and not _is_octets(parsed) else _TEXT


def concrete(media_type: str) -> str:
    """Return the media type to send for a declared one. A wildcard becomes a member of its family, preferably JSON."""
    parsed = parse(media_type)
    if parsed is None or "*" not in parsed.essence:
        return media_type
    member = _MEMBERS.get(parsed.essence)
    if member is None and parsed.type in ("*", "application"):
        suffix = parsed.subtype.rpartition("+")[2]
        return "application/json" if suffix in ("*", "json") else media_type
    return member or media_type


def _written_as(media_type: str) -> str:
    """Return the media type in whose format bodies are written: the declared one, unless users registered an alias."""
    own = SERIALIZERS.find(media_type)
    return concrete(own.media_type if isinstance(own, BuiltIn) else media_type)


def is_unstructured(media_type: str) -> bool:
    """Whether a body can only be text or octets that are sent unchanged."""
    parsed = parse(_written_as(media_type))
    if parsed is None or "*" in parsed.essence:
        return False
    others = (is_json, is_form, is_multipart, is_yaml, is_xml)
    return not (stream_of(parsed) or any(fits(parsed.essence) for fits in others))


def encode(body: Any, media_type: str, encoding: Encoding, schema: Schema | None = None) -> tuple[bytes, str]:
    """Return the bytes of a body and its `Content-Type`. Raises `ValueError` if the value or the type cannot be written."""
    sent, written = concrete(media_type), _written_as(media_type)
    if is_multipart(written):
        return encode_multipart(body, sent, encoding, _part_writer(schema))
    encoder = _encoder(written, encoding, schema)
    if encoder is None:
        raise ValueError(f"no serialiser for {media_type}")
    return encoder(body), sent


def multipart_files(
    body: Any, encoding: Encoding, schema: Schema | None = None
) -> list[tuple[str | None, MultipartFile]]:
    """Return name and file of each part of a multipart body."""
    return files_of(body, encoding, _part_writer(schema))


def encoder_of(media_type: str, encoding: Encoding, schema: Schema | None = None) -> tuple[Encoder, str] | None:
    """Return encoder and `Content-Type` for bodies that are written often; None for multipart."""
    encoder = _encoder(_written_as(media_type), encoding, schema)
    return None if encoder is None else (encoder, concrete(media_type))


def _encoder(media_type: str, encoding: Encoding, schema: Schema | None) -> Encoder | None:
    parsed = parse(media_type)
    if parsed is None or "*" in parsed.essence:
        return None
    if is_json(media_type):
        return json_bytes
    if is_form(media_type):
        return form_encoder(encoding)
    if is_yaml(media_type):
        return yaml_bytes
    if is_xml(media_type):
        return xml_encoder(schema)
    if parsed.essence == "text/csv":
        write = text_encoder(parsed.charset)
        return lambda value: write(csv_text(value))
    stream = stream_of(parsed)
    if stream:
        return lambda value: stream_bytes(value, stream)
    if _is_octets(parsed) or _is_text(parsed):
        return text_encoder(parsed.charset)
    if is_multipart(media_type):
        return None
    opaque = text_encoder(parsed.charset)

    def encoded(value: Any) -> bytes:
        if isinstance(value, dict | list):
            raise ValueError(f"no serialiser for {media_type} from an array or object")
        return opaque(value)

    return encoded


def is_file_type(media_type: str) -> bool:
    """Whether the content of a media type is binary, such as an image or an archive."""
    parsed = parse(media_type)
    return parsed is not None and _is_octets(parsed)


def _is_octets(parsed: MediaType) -> bool:
    return (
        parsed.essence in _OCTETS
        or parsed.type in _OCTET_FAMILIES
        or parsed.subtype in ("binary", "octet-stream")
        or parsed.subtype.startswith(("vnd.openxmlformats-", "vnd.ms-", "vnd.oasis.opendocument."))
    )


def _is_text(parsed: MediaType) -> bool:
    return parsed.essence in _TEXTS or parsed.type == "text"


def is_opaque(media_type: str) -> bool:
    """Whether the format of a media type is unknown to the checker, so that any text or octets are sent."""
    parsed = parse(media_type)
    return parsed is not None and is_unstructured(media_type) and not (_is_octets(parsed) or _is_text(parsed))


def _part_writer(schema: Schema | None) -> PartWriter:
    """Return a function that writes each part of a multipart body as a body of the part's media type."""

    def write(value: Any, name: str | None, media_type: str) -> bytes | None:
        if schema is not None and name is not None and is_xml(media_type):
            return xml_encoder(outline_of(schema).property(name).schema())(value)
        encoder = _usual_encoder(_written_as(media_type))
        return None if encoder is None else encoder(value)

    return write


@lru_cache(maxsize=256)
def _usual_encoder(media_type: str) -> Encoder | None:
    return _encoder(media_type, {}, None)


HeaderEncoder = Callable[[Any], bytes]
Text = TypeVar("Text", str, bytes)


def path_encoder(name: str, parameter: Parameter | None) -> TextEncoder:
    """Return the encoder of the text that replaces `{name}` in a path. An undeclared variable is sent as text."""
    if parameter is not None and parameter.media_type is not None:
        content = _content_encoder(parameter.media_type)
        return lambda value: escape(content(value))
    style, explode = ("simple", False) if parameter is None else (parameter.style, parameter.explode)
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


def _with_inner(encode: Callable[[Any], Text], parameter: Parameter | None) -> Callable[[Any], Text]:
    """Return an encoder that first joins lists in lists by the parameter's delimiters."""
    if parameter is None or not parameter.inner:
        return encode
    delimiters = parameter.inner
    return lambda value: encode(joined_inside(value, delimiters))


def query_prefix(name: str, parameter: Parameter | None) -> str | None:
    """Return the prefix of a number or an unreserved text in a query, for any style; None if such values are written differently."""
    return None if parameter is not None and parameter.media_type is not None else f"{escape(name)}="


def query_encoder(name: str, parameter: Parameter | None) -> TextEncoder:
    """Return the encoder of a query parameter's joined pairs; the text is empty if the value has no pairs. An undeclared parameter is exploded."""
    if parameter is None:
        return pairs_encoder(name)
    if parameter.style == "querystring":
        # A form becomes the query unchanged. Any other media type is percent-encoded (OpenAPI 3.2, 4.12.2).
        media_type = parameter.media_type or "application/json"
        content = _content_encoder(media_type)
        return content if is_form(media_type) else lambda value: escape(content(value))
    if parameter.media_type is not None:
        prefix, content = f"{escape(name)}=", _content_encoder(parameter.media_type)
        return lambda value: prefix + escape(content(value))
    explode, allow_reserved = parameter.explode, parameter.allow_reserved
    return _with_inner(pairs_encoder(name, parameter.style, explode=explode, allow_reserved=allow_reserved), parameter)


def header_encoder(parameter: Parameter | None) -> HeaderEncoder:
    """Return the encoder of a header value."""
    if parameter is not None and parameter.media_type is not None:
        content = _content_encoder(parameter.media_type)
        if is_json(parameter.media_type):
            return lambda value: _beyond_ascii.sub(_escape, content(value)).encode("ascii")
        return lambda value: header_bytes(content(value))
    style, explode = ("simple", False) if parameter is None else (parameter.style, parameter.explode)

    def encoded(value: Any) -> bytes:
        if isinstance(value, str):
            return header_bytes(value)
        return header_bytes(header_text(value, explode=explode, style=style))

    return _with_inner(encoded, parameter)


def cookie_encoder(name: str, parameter: Parameter | None) -> TextEncoder:
    """Return the encoder of a parameter in the header `Cookie`; empty for a value without pairs."""
    prefix = escape(name, COOKIE_NAME) + "="
    style, explode = ("form", True) if parameter is None else (parameter.style, parameter.explode)
    media_type = None if parameter is None else parameter.media_type
    content = None if media_type is None else _content_encoder(media_type)

    def encoded(value: Any) -> str:
        if content is not None:
            value = content(value)
        elif isinstance(value, str) and is_unreserved(value):
            return prefix + value
        return "; ".join(f"{one}={text}" for one, text in cookie_pairs(name, value, explode=explode, style=style))

    return encoded


_beyond_ascii = re.compile(r"[^\x20-\x7e]")


def _escape(found: re.Match[str]) -> str:
    """Return the JSON escape of a character that headers should not contain (RFC 8259, 7)."""
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _content_encoder(media_type: str) -> TextEncoder:
    """Return the encoder of a parameter that is declared by `content`; JSON if the media type cannot be written as text."""
    found = encoder_of(media_type, {})
    if found is None:
        return lambda value: json_bytes(value).decode("utf-8", "surrogatepass")
    encode, _ = found
    return lambda value: encode(value).decode("utf-8", "surrogatepass")
