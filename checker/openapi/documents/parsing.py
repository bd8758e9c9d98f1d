"""From bytes to a document: JSON or YAML, whichever it is."""

import contextlib
import json
import re
from collections.abc import Mapping
from datetime import date, time
from typing import Any

import orjson
import yaml

from checker.core.errors import LoaderError, LoaderErrorKind
from checker.openapi.documents.yamls import parse_yaml

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
# orjson reads integers beyond 64 bits as floats.
_LONG_NUMBER = b"0" * 19
_DIGITS_AS_ZERO = bytes(
    ord("0") if chr(byte).isdecimal() and byte < 128 else 0x20 for byte in range(256)
)
_TABS = re.compile(r"^[ \t]*\t[ \t]*$", re.MULTILINE)
_SYNTAX = LoaderErrorKind.SYNTAX_ERROR
_JSON_START = re.compile(rb"[ \t\r\n]*[{\[]")
# Possessive, and to the end where nothing closes them: each character is looked at once.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)
_NO_LINE_END = re.compile(r"[^\r\n]")
_MOST_COMMENTED = 1 << 22
"""Characters of JSON with comments: it is written by hand, and reading it takes several times its memory."""


def parse(data: bytes, *, name: str, content_type: str | None = None) -> Any:
    """Value of a JSON or YAML document; `name` says in errors where it came from.

    The first character decides what is tried first, because content types and file names lie. Raises `LoaderError`.
    """
    if _JSON_START.match(data):
        with contextlib.suppress(ValueError):
            # Nearly every document: whatever its headers say, JSON that is valid UTF-8 is just that.
            return parse_json(data)
    text = _decoded(data, content_type)
    start = text.lstrip()[:200]
    if not start:
        raise LoaderError(
            f"{name} is empty; give an OpenAPI document in JSON or YAML", kind=_SYNTAX
        )
    if start[0] == "<":
        kind = "HTML" if "html" in start.lower() else "XML or HTML"
        raise LoaderError(
            f"{name} is {kind}, not an API description; give the location of its JSON or YAML document",
            kind=LoaderErrorKind.UNEXPECTED_CONTENT_TYPE,
        )
    if not start.startswith(("{", "[", "//", "/*")):
        return _yaml(text, name)
    with contextlib.suppress(ValueError):
        return parse_json(text.encode())
    # YAML takes `1 // one` for a text.
    is_short = len(text) <= _MOST_COMMENTED
    bare = _COMMENT.sub(_blank, text) if is_short else text
    try:
        return parse_json(bare.encode())
    except ValueError as broken:
        with contextlib.suppress(ValueError):
            if is_short:
                return parse_json(_LAST_COMMA.sub(_blank, bare).encode())
        try:
            return _yaml(text, name)
        except LoaderError:
            raise LoaderError(_json_sentence(broken, name), kind=_SYNTAX) from broken


def parse_json(data: bytes) -> Any:
    """Value of JSON text, integers of any size kept. Raises `ValueError`."""
    try:
        if _LONG_NUMBER in data.translate(_DIGITS_AS_ZERO):
            return json.loads(data)
        with contextlib.suppress(orjson.JSONDecodeError):
            return orjson.loads(data)
        # Half of a surrogate pair is text to Python; and its errors say where they are.
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _blank(found: re.Match[str]) -> str:
    """Blanks for what is no JSON, so that what follows stays on its lines; strings as they are."""
    return found[1] or _NO_LINE_END.sub(" ", found[0])


def as_parsed(value: Any) -> Any:
    """The value as a parser would give it: text keys, dates as text. The very same one when it is so already.

    Raises `LoaderError` when it contains itself.
    """
    try:
        orjson.dumps(value)
    except TypeError:
        try:
            return _plain(value)
        except RecursionError:
            raise LoaderError(
                "the schema contains itself or is nested too deeply; give a tree of objects and lists"
            ) from None
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _key(key: object) -> str:
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    return str(key)


def to_json(value: Any) -> bytes:
    """JSON text of a parsed document. Raises `ValueError` when it contains itself."""
    try:
        return orjson.dumps(value)
    except TypeError:
        try:
            return json.dumps(value, separators=(",", ":")).encode()
        except RecursionError:
            raise ValueError("it contains itself") from None


def _decoded(data: bytes, content_type: str | None) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    charset = _CHARSET.search(content_type or "")
    # Without a mark, zeros among the first four bytes tell how wide characters are (RFC 4627, 3).
    usual = json.detect_encoding(data[:4]) if b"\0" in data[:4] else "utf-8"
    for encoding in (charset[1] if charset else usual, usual):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("cp1252", "replace")


def _yaml(text: str, name: str) -> Any:
    try:
        return _tolerant_of_tabs(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise LoaderError(
            f"{name} is neither valid JSON nor valid YAML{where}: {error.problem or error.context}; correct it there",
            kind=_SYNTAX,
        ) from error
    except yaml.YAMLError as error:
        reason = str(error).split("\n", 1)[0]
        raise LoaderError(
            f"{name} is neither valid JSON nor valid YAML: {reason}; correct it",
            kind=_SYNTAX,
        ) from error
    except RecursionError:
        raise LoaderError(
            f"{name} is nested too deeply to be read; simplify it", kind=_SYNTAX
        ) from None


def _tolerant_of_tabs(text: str) -> Any:
    try:
        return parse_yaml(text)
    except yaml.scanner.ScannerError as error:
        # Lines of nothing but tabs are blank (YAML 1.2, 6.7), which the parser does not know.
        blanked = _TABS.sub("", text)
        if "tab" not in str(error.problem) or blanked == text:
            raise
        return parse_yaml(blanked)


def _json_sentence(error: ValueError, name: str) -> str:
    if isinstance(error, json.JSONDecodeError):
        where = f" at line {error.lineno}, column {error.colno}"
        return f"{name} is not valid JSON{where}: {error.msg}; correct it there"
    return f"{name} is not valid JSON: {error}; correct it"
