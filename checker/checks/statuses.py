"""Status codes: patterns of the configuration (`404`, `2XX`, `20X`), and responses that are not about data."""

from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from checker.core.request import CONDITIONS
from checker.core.response import Response

_PRECONDITION_FAILED = 412
PRECONDITION_REQUIRED: Final = 428
"""The request has to be conditional (RFC 6585, 3): its data is neither refused nor accepted."""
_REGISTERED: Final = frozenset(map(int, HTTPStatus))
_LAST_CLASS: Final = 5


def rule_of_status(status: int) -> str:
    """Return the part of the status code that goes into the fingerprint: `404`, or `5XX` for a code that IANA does not register.

    Outside of 100 to 599 that is a server error (RFC 9110, 15).
    """
    return str(status) if status in _REGISTERED else f"{min(status // 100, _LAST_CLASS)}XX"


def matches_status(status: int, patterns: Iterable[str]) -> bool:
    """Whether a status fits one of the patterns; `X` stands for any digit, in either case."""
    return _matches(status, tuple(patterns))


@lru_cache(maxsize=1024)
def _matches(status: int, patterns: tuple[str, ...]) -> bool:
    # Asked for each answer, of a handful of statuses and lists.
    digits = f"{status:03d}"
    return any(
        len(pattern) == 3
        and all(p in "xX" or p == d for p, d in zip(pattern, digits, strict=False))
        for pattern in patterns
    )


def denies_condition(response: Response) -> bool:
    """Whether an answer says that a condition of its request does not hold (RFC 9110, 15.5.13).

    That is of the state of the resource: the data is neither refused nor accepted.
    """
    sent = response.request
    return (
        response.status_code == _PRECONDITION_FAILED
        and sent is not None
        and any(sent.header(name.encode()) is not None for name in CONDITIONS)
    )
