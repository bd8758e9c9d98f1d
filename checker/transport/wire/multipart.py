"""Multipart bodies: one part for each property (RFC 7578), or for each item of an array (RFC 2046)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from zlib import crc32

from checker.core.case import NamedFile
from checker.core.media_types import is_json, matches
from checker.core.operation import PropertyEncoding
from checker.transport.wire.styles import joined_inside, text_of

CSV: Final = "text/csv"
JSON_LINES: Final = "application/jsonl"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
UNKNOWN: Final = ("application/octet-stream", "")
_STARTS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"GIF8", "image/gif", "gif"),
    (b"%PDF-", "application/pdf", "pdf"),
    (b"PK\x03\x04", "application/zip", "zip"),
    (b"PK\x05\x06", "application/zip", "zip"),
    (b"\x1f\x8b", "application/gzip", "gz"),
    (b"BM", "image/bmp", "bmp"),
)
_LOOKS: Final = (
    (re.compile(rb"[A-Za-z_]\w*(?:,[A-Za-z_]\w*)+\r\n[ -~\r\n]*\Z"), CSV, "csv"),
    (re.compile(rb'(?:\{"[ -~]+\}\n)+\Z'), JSON_LINES, "jsonl"),
)
_FAMILIES: Final = ("image/", "audio/", "video/", "font/", "model/")
_KINDS: Final = frozenset(media_type for _, media_type, _ in _STARTS)
_EXTENSIONS: Final = {media_type: extension for _, media_type, extension in _STARTS} | {
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "text/plain": "txt",
    CSV: "csv",
    JSON_LINES: "jsonl",
    XLSX: "xlsx",
    "application/json": "json",
    "application/xml": "xml",
}


def file_kind(content: bytes) -> tuple[str, str]:
    """Return media type and file extension of content; `UNKNOWN` without a known signature."""
    if content.startswith(b"PK") and b"xl/workbook.xml" in content:
        return XLSX, "xlsx"
    for start, media_type, extension in _STARTS:
        if content.startswith(start):
            return media_type, extension
    for pattern, media_type, extension in _LOOKS:
        if pattern.match(content):
            return media_type, extension
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp", "webp"
    return UNKNOWN


def is_of_its_kind(content: bytes, media_type: str) -> bool:
    """Whether content may have a media type. Types with a known signature require the signature."""
    plain = media_type.partition(";")[0].strip().lower()
    is_promised = plain in _KINDS or (plain.startswith(_FAMILIES) and not plain.endswith("+xml"))
    return not is_promised or file_kind(content)[0] == plain


Encoding = Mapping[str, PropertyEncoding]
PartWriter = Callable[[Any, str | None, str], bytes | None]
"""Returns the content of a part from its value, name and media type; None if the type has no writer."""

_CRLF = b"\r\n"
_USUAL = PropertyEncoding()
EACH_ITEM: Final = "*"
"""Name of the encoding of array items that have no encoding of their own. Items with an encoding of their own have their index as name."""
_BOUNDARY = "part-of-a-checker-body"


def encode_multipart(body: Any, media_type: str, encoding: Encoding, write: PartWriter) -> tuple[bytes, str]:
    """Return (bytes, `Content-Type` with the boundary). The same value always gets the same boundary.

    Bytes are sent unchanged. The parts of a value that is no object have no names.
    """
    if isinstance(body, bytes):
        return body, media_type
    parts: list[bytes] = []
    for name, value, how in _encoded_items(body, encoding):
        content, kind, extension = _content(name, value, how.content_type, write)
        head = ""
        if name is not None:
            quoted = name if name.isalnum() else _quoted(name)
            head = f'Content-Disposition: form-data; name="{quoted}"'
            if extension is not None:
                called = _quoted(_called(value, name))
                head += f'; filename="{_file_name(called, extension)}"'
            head += "\r\n"
        if kind:
            head += f"Content-Type: {kind}\r\n"
        for key, text in how.headers.items():
            head += f"{key}: {text}\r\n"
        parts.append(head.encode("utf-8", "surrogatepass") + _CRLF + content)
    whole, boundary, salt = _CRLF.join(parts), _BOUNDARY, 0
    # Not random, because the bytes must be the same in every run.
    while boundary.encode("ascii") in whole:
        salt += 1
        boundary = f"{_BOUNDARY}-{salt}"
    delimiter = b"--" + boundary.encode("ascii") + _CRLF
    between = _CRLF + delimiter
    end = delimiter[:-2] + b"--" + _CRLF
    whole = delimiter + between.join(parts) + _CRLF + end if parts else end
    return whole, f"{media_type}; boundary={boundary}"


MultipartFile = tuple[str | None, bytes, str]
"""(file name, content, media type) of a part. Without a file name the part is no file; an empty media type is undeclared."""


def files_of(body: Any, encoding: Encoding, write: PartWriter) -> list[tuple[str | None, MultipartFile]]:
    """Return name and file of each part of a body."""
    found: list[tuple[str | None, MultipartFile]] = []
    for name, value, how in _encoded_items(body, encoding):
        content, kind, extension = _content(name, value, how.content_type, write)
        file = None if extension is None else _file_name(_called(value, name or ""), extension)
        found.append((name, (file, content, kind)))
    return found


def part_types(encoding: Encoding, body: Any) -> dict[str, str]:
    """Return property -> media type of its part, if one is declared.

    The items of a list are parts of the same name. If they have different types, the property is omitted.
    """
    found: dict[str, set[str]] = {}
    for name, value, how in _encoded_items(body, encoding):
        if name is not None and how.content_type is not None:
            found.setdefault(name, set()).add(_media_type(value, how.content_type))
    return {name: kind for name, (kind, *others) in found.items() if not others}


def _encoded_items(body: Any, encoding: Encoding) -> Iterator[tuple[str | None, Any, PropertyEncoding]]:
    """Yield (name, value, encoding) of the parts. Null is omitted unless the part is JSON: other parts cannot express it."""
    # An array is one part for each item.
    items: Iterable[tuple[str | None, Any]] = ((None, body),)
    if isinstance(body, list):
        items = ((None, item) for item in body)
    elif isinstance(body, dict):
        items = (
            (str(name), one)
            for name, value in body.items()
            if value is not None or is_json(encoding.get(name, _USUAL).content_type or "")
            for one in (value if isinstance(value, list) else (value,))
        )
    for index, (name, value) in enumerate(items):
        if name is None:
            # `prefixEncoding` and `itemEncoding` of OpenAPI 3.2.
            how = encoding.get(str(index), encoding.get(EACH_ITEM, _USUAL))
        else:
            how = encoding.get(name, _USUAL)
        yield name, joined_inside([value], how.inner)[0] if how.inner else value, how


def _content(name: str | None, value: Any, declared: str | None, write: PartWriter) -> tuple[bytes, str, str | None]:
    """Return (content, media type or empty, file extension or None)."""
    kind = _media_type(value, declared)
    if isinstance(value, bytes):
        _, extension = file_kind(value)
        return value, kind, extension if declared is None else _EXTENSIONS.get(kind) or extension
    content = write(value, name, kind) if kind else None
    if content is None:
        content = text_of(value).encode("utf-8", "surrogatepass")
    return content, kind, None


def _called(value: Any, name: str) -> str:
    return value.file_name if isinstance(value, NamedFile) else name


def _file_name(name: str, extension: str) -> str:
    """Return a file name with an extension, because servers that expect images check the extension."""
    return f"{name}.{extension}" if extension else name


def _media_type(value: Any, declared: str | None) -> str:
    """Return the media type of a part; empty if the part needs none."""
    if isinstance(value, bytes):
        usual, content = file_kind(value)[0], value
    else:
        usual = "application/json" if isinstance(value, dict | list) else ""
        content = b"" if declared is None else text_of(value).encode("utf-8", "surrogatepass")
    if declared is None:
        return usual
    # Among several media types, the one of the content is taken, or a checksum of the content chooses. A random choice would
    # make the bytes of a request depend on more than its case.
    options = [option.strip() for option in declared.split(",") if option.strip()]
    if not options:
        return usual
    if usual and usual != UNKNOWN[0] and any(matches(option, usual) for option in options):
        return usual
    chosen = options[crc32(content) % len(options)] if len(options) > 1 else options[0]
    if "*" not in chosen:
        return chosen
    return usual or ("application/json" if is_json(chosen) else UNKNOWN[0])


def _quoted(name: str) -> str:
    """Return the name of a part as HTML forms encode it (RFC 7578, 4.2 leaves it open)."""
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
