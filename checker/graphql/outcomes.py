"""What answers say of resources: the statuses by which others say the same."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from checker.core.codings import Decoded
from checker.core.contract import Blame
from checker.core.resources import CREATING, REMOVING
from checker.core.response import Response
from checker.graphql.errors import complaint_of, denied_status
from checker.graphql.resources import RootRole
from checker.graphql.results import status_named

_STATUSES: Final[Mapping[Blame, int]] = {
    Blame.REFUSED: 400,
    Blame.BROKEN_PROMISE: 500,
    Blame.FAILED: 500,
}
_MISSING, _UNPROCESSABLE = 404, 422


def data_of(response: Response, field: str) -> tuple[Any, Any]:
    """(the whole answer, what it says of a root field): None for what is not there."""
    body = response.decoded
    try:
        value = orjson.loads(body.content) if isinstance(body, Decoded) else None
    except orjson.JSONDecodeError:
        value = None
    data = value.get("data") if isinstance(value, dict) else None
    return value, data.get(field) if isinstance(data, dict) else None


def resource_status(response: Response, field: str, role: RootRole) -> int:
    """404 for what is not there, 200 for what is, 4xx for who was refused, 500 for who fell over.

    An answer with another status than 2xx, or without JSON, means what its own status says.
    """
    status = response.status_code
    if not 200 <= status < 300:
        return status
    value, found = data_of(response, field)
    if not isinstance(value, dict):
        return status
    if found is None or (found is False and role.method == REMOVING):
        return _without_data(value, role)
    if _has_failed(found, role):
        # They say that it did not work, not why.
        return _UNPROCESSABLE if role.method in CREATING else _MISSING
    other = _other_member(found, role)
    if other:
        return status_named(other)
    return status if _is_shown(found, role.steps) else _absent(role)


def _without_data(value: Mapping[str, Any], role: RootRole) -> int:
    complaint = complaint_of(value)
    if complaint is None:
        return _absent(role)
    return _STATUSES.get(complaint.blame) or denied_status(value)


def _absent(role: RootRole) -> int:
    return _UNPROCESSABLE if role.method in CREATING else _MISSING


def _has_failed(found: Any, role: RootRole) -> bool:
    """Whether the answer itself says that it did not work: a flag that is false, errors that are listed."""
    if not isinstance(found, dict):
        return False
    said = [found[name] for name in role.witnesses if name in found]
    return any(one is False or (one and one is not True) for one in said)


def _other_member(found: Any, role: RootRole) -> str:
    """The type that an answer has instead of what was asked for; empty where it has that, or nobody can tell."""
    for place, member in enumerate(role.members):
        if not isinstance(found, dict):
            break
        said = found.get("__typename")
        if member and isinstance(said, str) and said != member:
            return said
        found = found.get(role.steps[place]) if place < len(role.steps) else None
    return ""


def _is_shown(found: Any, steps: tuple[str, ...]) -> bool:
    """Whether the things that an answer is for are in it; a list may be empty."""
    for name in steps:
        if isinstance(found, list):
            return True
        if not isinstance(found, dict) or name not in found:
            return True
        found = found[name]
        if found is None:
            return False
    return True
