"""JSON of any text: what no encoding holds is replaced."""

from collections.abc import Mapping
from typing import Any

import orjson

from checker.reporting.text import unicode_text


def json_text(value: Any, *, indent: bool = False) -> str:
    """A value as JSON (RFC 8259) that every reader takes: lone surrogates become U+FFFD, NaN and infinities null."""
    options = orjson.OPT_INDENT_2 if indent else 0
    try:
        return orjson.dumps(value, option=options).decode()
    except TypeError:
        # Rare: it holds what UTF-8 cannot, or an integer that does not fit 64 bits.
        return orjson.dumps(_plain(value), option=options).decode()


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
