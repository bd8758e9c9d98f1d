"""The lines of a traceback that belong to the code of users."""

import traceback
from types import FrameType, TracebackType
from typing import Final

_NOT_OF_USERS: Final = frozenset(
    ["checker", "hypothesis", "_pytest", "pluggy", "unittest", "asyncio", "anyio"]
)


def is_of_user(frame: FrameType) -> bool:
    """False for lines of ours, and of what runs tests."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _NOT_OF_USERS


def users_traceback(error: BaseException) -> str:
    """The traceback of an error from the first line of a user's code on; empty where there is none, as in a call that did not fit."""
    found: TracebackType | None = error.__traceback__
    while found is not None and not is_of_user(found.tb_frame):
        found = found.tb_next
    if found is None:
        return ""
    return "".join(traceback.format_exception(type(error), error, found))
