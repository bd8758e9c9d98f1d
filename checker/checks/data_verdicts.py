"""Verdicts on the final bytes of a request: only they decide if a response to it is wrong."""

from collections.abc import Iterable

from checker.checks.context import CheckContext
from checker.core.contract import PartVerdict, RequestVerdict
from checker.core.meta import ANYTHING
from checker.core.operation import Location
from checker.core.request import WireRequest

_MOST_SHOWN = 3


def verdict_of(context: CheckContext) -> RequestVerdict | None:
    """Return the referee's verdict on the request of a response; None if the request is unknown."""
    request = context.response.request
    if request is None or context.tools is None:
        return None
    return context.tools.judge_request(context.case.operation, request)


def place_of(part: PartVerdict) -> str:
    """Return the place of a part in a request: `query limit`, `body`."""
    return f"{part.location.value} {part.name}".rstrip()


def path_of(context: CheckContext, request: WireRequest) -> str:
    """Path of a request to the operation of the case as it was sent, still encoded, without base path and query."""
    path = request.path.decode("latin-1")
    if context.tools is None:
        return path
    return path.removeprefix(context.tools.base_path_of(context.case.operation))


def is_of_several(context: CheckContext, request: WireRequest) -> bool:
    """Whether a path as it was sent is one of another operation, too: routers differ in which of them they ask.

    Only a path without variables comes before all others (OpenAPI, "Path Templating Matching").
    """
    if "{" not in context.case.operation.path:
        return False
    templates = context.case.operation.methods_at(path_of(context, request))
    return sum(request.method in methods for methods in templates) > 1


def listed_parts(parts: Iterable[PartVerdict]) -> str:
    """Return the mistakes of a request for people: a sentence, or one for each of up to three parts."""
    texts = list(dict.fromkeys(map(_told, parts)))
    if len(texts) == 1:
        return f"Invalid component: {texts[0]}"
    lines = [f"- {text}" for text in texts[:_MOST_SHOWN]]
    if len(texts) > _MOST_SHOWN:
        lines.append(f"- and {len(texts) - _MOST_SHOWN} more")
    return "\n".join(("Invalid components:", *lines))


def _told(part: PartVerdict) -> str:
    if part.location is Location.BODY:
        inside = "/".join(map(str, part.instance_path))
        return f"body{f' at /{inside}' if inside else ''} - {part.reason}"
    if not part.name:
        return f"{part.location.value} - {part.reason}"
    return f"parameter `{part.name}` in {part.location.value} - {part.reason}"


def has_made_up_path(context: CheckContext) -> bool:
    """Whether a variable of the path was made up, so that nothing need be there."""
    case = context.case
    if not case.path_parameters:
        return False
    part = None if case.meta is None else case.meta.components.get(Location.PATH)
    pinned = () if part is None or ANYTHING in part.outside else part.outside
    return any(name not in pinned for name in case.path_parameters)
