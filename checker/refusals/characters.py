"""Characters of paths that servers and firewalls before an application take for an attack, and how they refuse them."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from checker.core.response import Response

PATTERNS_WITHOUT: Final = ("^[^;]*$", "^[^%]*$", "^[ -~]*$", "^[^<>]*$", "^[^\"'`|^{}]*$")
"""Texts without one kind of characters that some refuse however they are encoded: path parameters, escapes, other scripts, markup."""
_ODD: Final = re.compile("[;%<>\"'`|^{}]|[^ -~]")
_SAYS_NOTHING: Final = frozenset(("timestamp", "status", "error", "path", "requestId"))
"""Names in a body that repeats the status line and says no more."""
_BARE: Final = re.compile(r"(400 ?)?(bad request)?\W*", re.IGNORECASE)
_MOST_BYTES: Final = 64 << 10


def patterns_broken(text: str) -> Iterator[str]:
    """Patterns that a text does not match since it has characters of that kind."""
    return (pattern for pattern in PATTERNS_WITHOUT if re.search(pattern, text) is None)


def odd_characters(text: str) -> str:
    """Return the odd characters of a text, each once, in order."""
    return "".join(dict.fromkeys(_ODD.findall(text)))


def is_bare_refusal(response: Response) -> bool:
    """Whether an answer is a 400 that gives no reason: it is empty, a page, or repeats the status line."""
    if response.status_code != 400:
        return False
    body = body_of(response)
    if isinstance(body, dict):
        return body.keys() <= _SAYS_NOTHING
    return body is None or (isinstance(body, str) and _BARE.fullmatch(body.strip()) is not None)


def body_of(response: Response) -> Any:
    """JSON of a refusal, or its text; None for what is neither, or is too much."""
    content = response.readable.content[:_MOST_BYTES]
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text if text.strip() and "<html" not in text[:500].lower() else None
