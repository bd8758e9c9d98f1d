"""Bodies that are no JSON at all: JSON cut or spoilt at one place, or random bytes."""

import json
from collections.abc import Callable
from typing import Any, Final

from checker.core.meta import Violation
from checker.generation.negation.values import NegativeDraw
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext, retried

SYNTAX: Final = "syntax"
"""Keyword of the violation."""
_MOST_BYTES: Final = 1024
_SPOILT: Final = (b",", b"}", b"]", b'"', b"'", b"\x00", b"{", b":", b"\xff", b"//")


def syntax_errors(
    valid: Draw, encode: Callable[[Any], bytes], body: tuple[str, str], context: DrawContext
) -> NegativeDraw:
    """Draws bodies of a JSON media type that cannot be parsed. `body` is pointer and media type."""
    pointer, media_type = body

    def spoilt(source: Source) -> bytes:
        """A valid body with one fault."""
        content = encode(valid(source))
        at = source.integer(0, len(content))
        which = source.choice(len(_SPOILT) + 2)
        if which >= len(_SPOILT):
            return content[:at][:_MOST_BYTES]
        return content[:at] + _SPOILT[which] + content[at:]

    def make(source: Source) -> bytes:
        if source.boolean():
            return spoilt(source)
        return source.binary(1, _MOST_BYTES)

    drawn = retried(make, is_no_json, context, pointer)

    def draw(source: Source) -> tuple[Any, Violation]:
        content = drawn(source)
        return content, Violation(pointer, SYNTAX, media_type, content)

    return draw


def is_no_json(content: bytes) -> bool:
    """True for what no reader of JSON takes, whatever Unicode encoding it tries. Blanks alone count as no body."""
    if not content.strip():
        return False
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return True
    return False
