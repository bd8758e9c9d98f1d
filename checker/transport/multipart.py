"""`multipart/form-data`: one part for each property."""

from collections.abc import Mapping
from typing import Any

from checker.core.digests import digest
from checker.core.media_types import is_json
from checker.core.operation import PropertyEncoding
from checker.transport.styles import text_of

_CRLF = b"\r\n"


def encode_multipart(
    body: Any, media_type: str, encoding: Mapping[str, PropertyEncoding]
) -> tuple[bytes, str]:
    """Bytes and `Content-Type` with the boundary: the same value always gets the same boundary.

    Bytes go out as they are. Raises `ValueError` for a body that has no properties.
    """
    if isinstance(body, bytes):
        return body, media_type
    if not isinstance(body, dict):
        raise ValueError(f"a {media_type} body is an object, not {type(body).__name__}")
    parts: list[bytes] = []
    for name, value in body.items():
        how = encoding.get(name)
        for item in value if isinstance(value, list) else (value,):
            parts.append(_part(str(name), item, None if how is None else how.content_type))
    boundary = _boundary(parts)
    mark = b"--" + boundary.encode("ascii")
    whole = b"".join(mark + _CRLF + part + _CRLF for part in parts) + mark + b"--" + _CRLF
    return whole, f"{media_type}; boundary={boundary}"


def _part(name: str, value: Any, content_type: str | None) -> bytes:
    quoted = name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
    disposition = f'Content-Disposition: form-data; name="{quoted}"'
    declared = None if content_type is None else content_type.split(",")[0].strip()
    if isinstance(value, bytes):
        content = value
        disposition += f'; filename="{quoted}"'
        kind = declared or "application/octet-stream"
    elif isinstance(value, dict | list):
        content = text_of(value).encode("utf-8", "surrogatepass")
        kind = declared or "application/json"
    else:
        text = text_of(value)
        if declared and is_json(declared) and isinstance(value, str):
            text = text_of([value])[1:-1]
        content = text.encode("utf-8", "surrogatepass")
        kind = declared or ""
    head = disposition.encode("utf-8", "surrogatepass")
    if kind:
        head += _CRLF + b"Content-Type: " + kind.encode("latin-1", "replace")
    return head + _CRLF + _CRLF + content


def _boundary(parts: list[bytes]) -> str:
    """A line that no part contains, without chance: wire bytes must be the same in every run."""
    whole = b"".join(parts)
    salt = 0
    while True:
        boundary = digest("boundary", whole.decode("latin-1"), str(salt))
        if boundary.encode("ascii") not in whole:
            return boundary
        salt += 1
