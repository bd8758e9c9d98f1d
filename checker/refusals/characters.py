"""Characters of paths that servers and firewalls in front of an application refuse as an attack."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from checker.core.response import Response

PATTERNS_WITHOUT: Final = ("^[^;]*$", "^[^%]*$", "^[ -~]*$", "^[^<>]*$", "^[^\"'`|^{}]*$")
"""Patterns without one kind of characters that some servers refuse in any encoding: path parameters, escapes, other scripts, markup."""
_ODD: Final = re.compile("[;%<>\"'`|^{}]|[^ -~]")
_SAYS_NOTHING: Final = frozenset(("timestamp", "status", "error", "path", "requestId"))
"""Names in a body that only repeats the status line."""
_BARE: Final = re.compile(r"(400 ?)?(bad request)?\W*", re.IGNORECASE)
_MOST_BYTES: Final = 64 << 10


def patterns_broken(text: str) -> Iterator[str]:
    """Yield the patterns that a text does not match."""
    return (pattern for pattern in PATTERNS_WITHOUT if re.search(pattern, text) is None)


def odd_characters(text: str) -> str:
    """Return the odd characters of a text, each once, in order."""
    return "".join(dict.fromkeys(_ODD.findall(text)))


def is_bare_refusal(response: Response) -> bool:
    """Whether a response is a 400 without a reason: empty, an HTML page, or a repeated status line."""
    if response.status_code != 400:
        return False
    body = body_of(response)
    if isinstance(body, dict):
        return body.keys() <= _SAYS_NOTHING
    return body is None or (isinstance(body, str) and _BARE.fullmatch(body.strip()) is not None)


def body_of(response: Response) -> Any:
    """Return the JSON of a refusal, or its text; None for a binary body or an HTML page."""
    content = response.readable.content[:_MOST_BYTES]
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text if text.strip() and "<html" not in text[:500].lower() else None
