"""JSON of any text: what no encoding holds is replaced."""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from checker.core.terminal import with_escaped_hashes
from checker.reporting.text import unicode_text

_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
"""Line ends for some readers, which JSON does not escape."""


def json_text(value: Any, *, indent: bool = False) -> str:
    """A value as JSON (RFC 8259) that every reader takes: lone surrogates become U+FFFD, NaN and infinities null.

    No line of it is a command of a CI system, whatever the value holds: it may be printed into a log.
    """
    options = orjson.OPT_INDENT_2 if indent else 0
    try:
        text = orjson.dumps(value, option=options).decode()
    except TypeError:
        # Rare: it holds what UTF-8 cannot, or an integer that does not fit 64 bits.
        text = orjson.dumps(_plain(value), option=options).decode()
    # A `#` and these line ends stand only in strings.
    if not text.isascii():
        text = _LINE_ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return with_escaped_hashes(text, r"\u0023")


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return unicode_text(value)
    if isinstance(value, Mapping):
        return {unicode_text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value) if abs(value) < 1e300 else str(value)
    return value
