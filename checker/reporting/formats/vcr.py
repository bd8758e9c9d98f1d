"""Cassettes: every interaction of a run as YAML."""

import base64
import math
import re
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b

from checker import __version__
from checker.core.blocks import standard_reason
from checker.core.send import Purpose
from checker.core.terminal import one_line, with_escaped_hashes
from checker.corpus.records import CheckOutcome, Interaction, Note
from checker.reporting.events import Event
from checker.reporting.findings import charset_of, has_response
from checker.reporting.report import INCOMPLETE
from checker.reporting.shown import Headers, ReportContext, for_equal_bodies, shown_headers, shown_request

_ESCAPED = re.compile("[^ -~\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")
"""Further characters that double quotes must escape: controls, NEL, separators, BOM, surrogates. These characters are not printable."""
_PLAIN_KEY = re.compile(r"[a-z][a-z_]+\Z")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off"})
_KEY_LIMIT = 1000  # YAML allows 1,024 characters in a key without a question mark.
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}

_HASH = r"\x23"


def quoted(text: str) -> str:
    """Return text as a double-quoted scalar, with lone surrogates as U+FFFD and without commands of CI systems."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{with_escaped_hashes(text, _HASH)}"'
    # `str.replace` is fastest for JSON, which has many of these characters: 0.3 ms for a body of 200 kB, against 20 ms
    # with a pattern.
    for char, short in _SHORT.items():
        if char in text:
            text = text.replace(char, short)
    text = text if text.isprintable() else _ESCAPED.sub(_escape, text)
    return f'"{with_escaped_hashes(text, _HASH)}"'


def number(value: float) -> str:
    """Return a number as a plain scalar of YAML 1.1 and 1.2."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, mark, exponent = repr(value).partition("e")
    # YAML 1.1 reads a number without a dot as text: `1e-05`.
    return mantissa + ("" if "." in mantissa else ".0") + mark + exponent


def emitted(value: object) -> str:
    """Return a YAML document of mappings with text keys, sequences, text, numbers, booleans and None."""
    pieces: list[str] = []
    _add(value, 0, pieces)
    return "".join(pieces).lstrip("\n")


def emitted_entries(value: dict[str, object], depth: int) -> str:
    """Return the entries of a mapping, each after a line break, indented by `depth` levels."""
    pieces: list[str] = []
    if value:
        _add(value, depth, pieces)
    return "".join(pieces)


def _add(value: object, depth: int, pieces: list[str]) -> None:
    """Append the pieces of a node: a scalar stays on the line, a container starts a new one."""
    # Pieces go into one shared list, because nested generators took twice as long.
    if isinstance(value, str):
        pieces.append(f" {quoted(value)}")
    elif isinstance(value, dict) and value:
        for key, content in value.items():
            pieces.append(_begun(str(key), depth))
            _add(content, depth + 1, pieces)
    elif isinstance(value, (list, tuple)) and value:
        indent = f"\n{'  ' * depth}-"
        for content in value:
            pieces.append(indent)
            first = len(pieces)
            _add(content, depth + 1, pieces)
            if pieces[first].startswith("\n"):
                # The first entry of a container follows on the line of its dash.
                pieces[first] = f" {pieces[first].lstrip()}"
    elif isinstance(value, (list, tuple)):
        pieces.append(" []")
    else:
        pieces.append(f" {_scalar(value)}")


@lru_cache(maxsize=1024)
def _begun(key: str, depth: int) -> str:
    indent = "  " * depth
    name = key if _PLAIN_KEY.match(key) and key not in _WORDS else quoted(key)
    return f"\n{indent}{name}:" if len(name) <= _KEY_LIMIT else f"\n{indent}? {name}\n{indent}:"


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case int():
            return str(int(value))
        case float():
            return number(value)
        case dict():
            return "{}"
        case _:
            return quoted(str(value))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_LONG = 1024  # Characters of a repeated body from which it becomes an alias.


_READABLE = frozenset({"utf-8", "utf8", "ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1"})
"""Charsets of bodies that are written as text. Other bodies are written as base64, which loses nothing."""


class Cassette:
    """The text of a cassette. A `StreamWriter`."""

    def __init__(self, context: ReportContext) -> None:
        self.context = context
        self._count = 0
        self._anchors: dict[bytes, str] = {}
        """Digest of a long body -> its anchor."""
        self._anchored = 0
        """The last interaction with an anchor."""

    def head(self) -> str:
        head = {"command": self.context.command, "recorded_with": f"Checker {__version__}", "seed": self.context.seed}
        return f"{emitted(head)}\nhttp_interactions:"

    def event(self, event: Event) -> str:
        if isinstance(event, Note) and event.kind == INCOMPLETE:
            return f"\n# {one_line(event.text)}"
        if not isinstance(event, Interaction):
            return ""
        self._count += 1
        shown = shown_request(event, self.context)
        text = f"\n    uri: {quoted(shown.url)}\n    method: {quoted(shown.method)}{_headers(shown.headers)}"
        # There is no key without a body. An empty body was sent with `Content-Length: 0`.
        if shown.body is None:
            request = text
        else:
            is_cut = event.exchange.body_size is not None
            request = f"{text}{self._body(shown.body, '', shown.body_size if is_cut else None)}"
        if not has_response(event.exchange):
            response = " null"
        else:
            status = event.exchange.status or 0
            reason = event.exchange.reason or standard_reason(status)
            size = event.exchange.response_size
            is_short = size > len(event.exchange.response_body)
            body = self._body(
                event.exchange.response_body, charset_of(event.exchange) or "", size if is_short else None
            )
            response = (
                f'\n    status:\n      code: "{status}"\n      message: {quoted(reason)}'
                f'\n    elapsed: "{event.exchange.elapsed_s:.6f}"'
                f"{_headers(shown_headers(event.exchange, self.context))}{body}"
                '\n    http_version: "1.1"'
            )
        at, mode = datetime.fromtimestamp(event.at, UTC).isoformat(), quoted(event.mode)
        modes = tuple((one.location, one.mode) for one in event.components)
        shared = _shared(modes, event.phase, event.phase_data, event.purpose, event.checks)
        # Formatted by hand: a dictionary for each of millions of entries doubled the time of the report.
        about = (
            f"\n  status: {quoted(event.status)}"
            f"\n  seed: {self.context.seed}"
            f"\n  elapsed: {number(event.exchange.elapsed_s)}"
            f'\n  recorded_at: "{at}"'
            f"\n  thread_id: {event.worker}"
            f"\n  correlation_id: {quoted(event.case)}"
            f"\n  data_generation_method: {mode}"
            f"\n  generation:\n    time: {number(event.generation_s)}\n    mode: {mode}"
            f"{shared}"
        )
        return f'\n- id: "{self._count}"{about}\n  request:{request}\n  response:{response}'

    def end(self) -> str:
        return "\n" if self._count else " null\n"

    def _body(self, content: bytes, charset: str, size: int | None) -> str:
        """Return the text of a body; for a repeated body an alias, as `string: *body-7`. `size` is the full size of a cut body."""
        key, scalar, digest = _body_text(content, charset, self.context.preserve_bytes)
        cut = "" if size is None else f"\n      size: {size}"
        if not digest:
            return f"{key} {scalar}{cut}"
        if digest in self._anchors:
            return f"{key} *{self._anchors[digest]}{cut}"
        # If the request and the response of an interaction both have an anchor, the anchor of the response ends with `b`.
        name = self._anchors[digest] = f"body-{self._count}{'b' if self._anchored == self._count else ''}"
        self._anchored = self._count
        return f"{key} &{name} {scalar}{cut}"


@lru_cache(maxsize=1024)
def _shared(
    modes: tuple[tuple[str, str], ...],
    phase: str,
    data: tuple[tuple[str, str | None], ...],
    purpose: Purpose,
    checks: tuple[CheckOutcome, ...],
) -> str:
    """Return the fields that most interactions of an operation have in common. Caching them halves the time of an entry."""
    return emitted_entries(
        {
            "components": {location: {"mode": mode} for location, mode in modes},
            "phase": {"name": phase, "data": dict(data)},
            "purpose": purpose.value,
            "checks": [{"name": check.name, "status": check.status, "message": check.message} for check in checks],
        },
        1,
    )


def _headers(headers: Headers) -> str:
    if not headers:
        return "\n    headers: {}"
    fields = [
        _field(name, *values) if len(values) == 1 else emitted_entries({name: values}, 3)
        for name, values in headers.items()
    ]
    return f"\n    headers:{''.join(fields)}"


@lru_cache(maxsize=4096)
def _field(name: str, value: str) -> str:
    """Return a header field. It is cached, because most header fields repeat in each interaction."""
    return emitted_entries({name: [value]}, 3)


@for_equal_bodies
def _body_text(content: bytes, charset: str, preserve: bool) -> tuple[str, str, bytes]:
    """Return (key, quoted content, its digest if it is long) of a body, as text if that preserves its bytes, else as base64."""
    encoding = charset if charset in _READABLE else "utf-8"
    name, scalar = '"base64_string"', ""
    if not preserve:
        with suppress(UnicodeDecodeError):
            name, scalar = "string", quoted(content.decode(encoding))
    scalar = scalar or f'"{base64.b64encode(content).decode()}"'
    digest = blake2b(scalar.encode(), digest_size=16).digest() if len(scalar) >= _LONG else b""
    return f'\n    body:\n      encoding: "{encoding}"\n      {name}:', scalar, digest
