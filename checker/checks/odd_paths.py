"""Whether characters of a path were refused before the application saw it: asked at a path that nobody serves."""

from dataclasses import replace
from typing import Final
from urllib.parse import quote

from checker.checks.context import CheckContext
from checker.core.odd_paths import is_bare_refusal, odd_characters
from checker.core.response import Response
from checker.core.send import Exchanging

_NOWHERE: Final = "/checker-probe"
_OF_BODIES: Final = (b"content-type", b"content-length", b"content-encoding")


def is_path_refused(context: CheckContext) -> Exchanging[bool]:
    """Whether a bare 400 is none of the operation: its odd characters are refused where no operation is, and a path without is not.

    Sends nothing if the path has none, else two requests at most.
    """
    texts = (one for one in context.case.path_parameters.values() if isinstance(one, str))
    odd = odd_characters("".join(texts))
    if not odd or not is_bare_refusal(context.response):
        return False
    refused = yield from _answer_at(context, f"{_NOWHERE}{odd}")
    if refused is None or not is_bare_refusal(refused):
        return False
    plain = yield from _answer_at(context, _NOWHERE)
    return plain is not None and not is_bare_refusal(plain)


def _answer_at(context: CheckContext, path: str) -> Exchanging[Response | None]:
    made = context.make(context.case)
    base = "" if context.tools is None else context.tools.base_path_of(context.case.operation)
    headers = [one for one in made.headers if one[0].lower() not in _OF_BODIES]
    target = f"{base}{quote(path, errors='surrogatepass')}".encode()
    answer = yield replace(made, method="GET", target=target, headers=headers, body=None)
    return answer if isinstance(answer, Response) else None
