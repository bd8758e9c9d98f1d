"""Rules for texts that both the command line and the file accept. Each gives a sentence, or None when all is well."""

import codecs
import os
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from checker.config.attributes import is_attribute
from checker.config.kinds import type_name
from checker.core.errors import UnreadableFile
from checker.core.local_files import read_local
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, canonical_url

_MOST_CERTIFICATES: Final = 16 << 20
"""Bytes: the bundle of a browser has a quarter of one MiB."""
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_RATE = re.compile(r"[1-9][0-9]{0,8}/[smhd]")
_STATUS = re.compile(r"[1-5xX][0-9xX]{2}\Z")


def base_url(text: str) -> str | None:
    """An absolute http(s) URL, or the address of a unix socket: `unix:/run/app.sock`."""
    try:
        origin = BaseUrl.from_url(text)
    except ValueError as error:
        if text.startswith("unix:"):
            return str(error)
        shown = Redaction().url(text)
        return f"Must be an absolute http(s) URL like 'http://127.0.0.1:8080', but got {shown!r}"
    return None if origin.port else f"Must have a port above 0, but got {Redaction().url(text)!r}"


def proxy_url(text: str) -> str | None:
    """URL of a proxy."""
    return http_url(text)


def http_url(text: str) -> str | None:
    """An absolute http(s) URL of a host."""
    if text.startswith("unix:"):
        return f"Must be an absolute http(s) URL like 'http://127.0.0.1:8080', but got {text!r}"
    return base_url(text)


def user_name(text: str) -> str | None:
    """A user of basic authentication (RFC 7617, 2)."""
    if not text or ":" in text:
        return f"Must be a user name without a colon, but got {text!r}"
    return None


def certificates(text: str) -> str | None:
    """A file or folder of certificate authorities."""
    if not os.path.exists(text):
        return f"Must be an existing file or folder, but got {text!r}"
    try:
        require_certificates(text)
    except UnreadableFile as error:
        return f"Must be a file or folder of certificates: {error}"
    return None


def certificate(text: str) -> str | None:
    """A file with a client certificate or its key. What stands in it is not shown."""
    if os.path.isdir(text) or not os.path.exists(text):
        return f"Must be an existing file, but got {text!r}"
    try:
        read_local(text, "a certificate or a key", most_bytes=_MOST_CERTIFICATES)
    except UnreadableFile as error:
        return f"Must be a file in PEM form: {error}"
    return None


def require_certificates(path: str) -> None:
    """Raise `UnreadableFile` for what is neither a folder nor a file that ends."""
    if not os.path.isdir(path):
        read_local(path, "a CA bundle", most_bytes=_MOST_CERTIFICATES)


def attribute(text: str) -> str | None:
    """An object of a module of the user's."""
    return None if is_attribute(text) else f"Must be 'module:attribute', but got {text!r}"


def codec(text: str) -> str | None:
    """A text codec that Python knows."""
    try:
        found = codecs.lookup(text)
    except (LookupError, ValueError):
        return f"Must be a known codec, but got {text!r}"
    is_text = getattr(found, "_is_text_encoding", True)
    return None if is_text else f"Must be a text codec, but got {text!r}"


def header(name: str, value: object) -> str | None:
    """A header that HTTP/1.1 can carry (RFC 9110, 5.5)."""
    if not name:
        return "Header name must not be empty"
    if not _HEADER_NAME.match(name):
        return f"Invalid header name: {name!r}"
    if not isinstance(value, str):
        return f"Header {name!r} must be a string, but got {type_name(value)}"
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return f"Header {name!r} must hold Latin-1 characters only"
    if value != value.strip(" \t") or any(char in value for char in "\r\n\0"):
        return f"Header {name!r} must not start or end with a space, or hold CR, LF or NUL"
    return None


def status_pattern(text: str) -> str | None:
    """A status or a pattern of statuses."""
    if _STATUS.match(text):
        return None
    return f"Must be a status from 100 to 599 or a pattern like '2XX' or '20X', but got {text!r}"


def text_value(name: str, value: object) -> str | None:
    """An entry of a table of texts."""
    if isinstance(value, str):
        return None
    return f"{name!r} must be a string, but got {type_name(value)}"


def unexpected_method(text: str) -> str | None:
    """A method of HTTP (RFC 9110, 5.6.2) that may be tried where it is not declared."""
    if not _HEADER_NAME.match(text):
        return f"Must be an HTTP method, but got {text!r}"
    if text.upper() in ("HEAD", "CONNECT"):
        return f"{text!r} cannot be tried: nobody can tell from its answer whether it is allowed"
    return None


def rate_limit(text: str) -> str | None:
    """Requests per time, or `auto`."""
    if text == "auto" or _RATE.fullmatch(text):
        return None
    return f"Must be a number of requests per time like '10/s', '100/m', '1000/h' or '5000/d', or 'auto', but got {text!r}"


def retries(name: str, value: object) -> str | None:
    """An entry of `request-retries` as a table."""
    if name != "max-attempts":
        return f"has no {name!r}; the only key is 'max-attempts'"
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return f"'max-attempts' must be an integer of at least 0, but got {value!r}"
    return None


def retries_of(value: int | Mapping[str, int]) -> int:
    """Times that a request is sent again, of either form of `request-retries`."""
    return value if isinstance(value, int) else value.get("max-attempts", 0)


def site(text: str) -> str | None:
    """Scheme, host and port of a URL, and nothing else."""
    problem = base_url(text)
    if problem:
        return problem.replace("base URL", "origin")
    parts = urlsplit(canonical_url(text))
    if parts.path.strip("/") or parts.query or parts.fragment:
        shown = Redaction().url(text)
        return f"Must be scheme, host and port alone, like 'http://127.0.0.1:8080', but got {shown!r}; `base-url` takes a path, too"
    return None


def file_mode(text: str) -> str | None:
    """Say what is wrong with the permissions of a file."""
    if re.fullmatch("0?[0-7]{3}", text):
        return None
    return f"Must be three octal digits like '640', but got {text!r}"
