"""An interaction of an earlier run, whatever it was kept in."""

from typing import Final

from msgspec import Struct

from checker.core.send import Purpose

NO_RESPONSE: Final = "none"
"""In place of a status where nobody answered."""


class Recorded(Struct, frozen=True):
    """An interaction as it stands in a cassette."""

    id: str
    status: str
    method: str
    uri: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    """None when the request had no body, which is not the same as an empty one."""
    old_status: str
    """Of the response; `NO_RESPONSE` when there was none."""
    is_cut: bool = False
    """Whether the request had more of a body than that."""
    purpose: str = Purpose.TEST.value
    """What it was sent for."""
    at: float | None = None
    """When it was recorded, in seconds since the epoch; None where its cassette does not say."""
