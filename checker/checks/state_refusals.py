"""Refusals that are about what the server holds, not about the data: what 409 and 404 say, with another status."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from checker.core.response import Response

_STATUSES: Final = (400, 422)
_MOST: Final = 200
_LONGEST: Final = 64 * 1024
_THERE: Final = re.compile(
    r"\balready (?:been )?(?:exists?|taken|used|in use|registered|assigned|present)\b|\bis (?:taken|in use)\b|\bin use already\b"
    r"|\bmust make a unique set\b|\bduplicate (?:key|entry|id|identifier|name)\b|\bunique constraint\b"
    r"|^(?!.*\b(?:elements?|items?|members?|entries)\b).*\bmust be unique\b",
    re.IGNORECASE | re.DOTALL,
)
_MISSING: Final = re.compile(
    r"\b(?:does|do)(?: not|n't) exist\b|\b(?:was|were|is|are|could)(?: not|n't)(?: be)? found\b|\bnot found\b|\bno such\b"
    # Django of a reference; where a list of values is meant, it says which was sent.
    r"|\bmust exist\b|\bthat choice is not one of the available choices\b",
    re.IGNORECASE,
)
_OF_DATA: Final = re.compile(
    r"\b(?:field|property|attribute|parameter|header|argument|member|content[- ]type|boundary)s?\b",
    re.IGNORECASE,
)
"""What `not found` may say of the request itself."""
_TITLES: Final = frozenset(
    [
        "bad request",
        "invalid input",
        "invalid request",
        "one or more validation errors occurred",
        "the given data was invalid",
        "unprocessable content",
        "unprocessable entity",
        "validation error",
        "validation failed",
    ]
)


def denies_state(response: Response) -> str:
    """Return the sentence of a refusal about resources that exist already, or do not exist; empty for any other reason."""
    if response.status_code not in _STATUSES:
        return ""
    sentences = [one for one in _sentences(response) if _plain(one) not in _TITLES]
    if not sentences or not all(map(_is_of_state, sentences)):
        return ""
    return sentences[0]


def says_taken(content: bytes) -> bool:
    """Whether a text says anywhere that something is there already."""
    return _THERE.search(content[:_LONGEST].decode("utf-8", "replace")) is not None


def _is_of_state(sentence: str) -> bool:
    if _THERE.search(sentence):
        return True
    return _MISSING.search(sentence) is not None and not _OF_DATA.search(sentence)


def _sentences(response: Response) -> Iterator[str]:
    """Texts of more than one word, wherever they stand: names, codes and paths give no reason."""
    content = response.readable.content
    if not content or len(content) > _LONGEST:
        return
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = content.decode("utf-8", "replace")
    for text in islice(_texts(body), _MOST):
        if len(text.split()) > 1:
            yield text.strip()


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += reversed(one.values())
        elif isinstance(one, list):
            waiting += reversed(one)


def _plain(sentence: str) -> str:
    return sentence.lower().strip(" .!")
