"""Characters that servers refuse before an application sees them: which requests have them, and which answers tell."""

from typing import Final
from urllib.parse import unquote_to_bytes

from checker.core.request import WireRequest
from checker.core.response import FailureKind, Outcome, Response

_ODD: Final = frozenset((*range(0x20), ord("\\"), 0x7F))
_UNSENT: Final = (FailureKind.UNSENDABLE, FailureKind.DROPPED, FailureKind.MALFORMED)


def is_null_byte_refused(request: WireRequest, outcome: Outcome) -> bool:
    """Whether a header has NUL, and was not sent or not taken for it."""
    if not any(b"\0" in value for _, value in request.headers):
        return False
    if isinstance(outcome, Response):
        return outcome.status_code == 400
    return outcome.kind in _UNSENT


def is_path_refused(request: WireRequest, outcome: Outcome) -> bool:
    """Whether a path has a backslash or a control character, and was refused by who decodes it.

    No application answers 400 without a word, or with the page of Tomcat.
    """
    if not isinstance(outcome, Response) or outcome.status_code != 400:
        return False
    path = unquote_to_bytes(request.target.partition(b"?")[0])
    is_mute = not outcome.content or b"Apache Tomcat" in outcome.content
    return is_mute and not _ODD.isdisjoint(path)
