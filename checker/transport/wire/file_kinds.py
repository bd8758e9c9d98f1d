"""Kinds of files by their first bytes."""

from typing import Final

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
_FAMILIES: Final = ("image/", "audio/", "video/", "font/")
_KINDS: Final = frozenset(media_type for _, media_type, _ in _STARTS)
_EXTENSIONS: Final = {media_type: extension for _, media_type, extension in _STARTS} | {
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "text/plain": "txt",
    "text/csv": "csv",
    "application/json": "json",
    "application/xml": "xml",
}


def file_kind(content: bytes) -> tuple[str, str]:
    """Media type and file extension, empty for none; `UNKNOWN` when nothing tells."""
    for start, media_type, extension in _STARTS:
        if content.startswith(start):
            return media_type, extension
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp", "webp"
    return UNKNOWN


def is_of_its_kind(content: bytes, media_type: str) -> bool:
    """False for a media type that promises a kind of file, where nothing tells that the content is one."""
    plain = media_type.partition(";")[0].strip().lower()
    is_promised = plain in _KINDS or (plain.startswith(_FAMILIES) and not plain.endswith("+xml"))
    return not is_promised or file_kind(content)[0] == plain


def extension_of(media_type: str) -> str | None:
    """Extension of files of a media type, if it is a usual one."""
    return _EXTENSIONS.get(media_type)
