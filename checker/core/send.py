"""What an attempt asks of whoever drives it."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from checker.core.request import WireRequest
from checker.core.response import Outcome

Result = TypeVar("Result")


@dataclass(slots=True)
class Send:
    """Send this, and give me what comes back. Not frozen: one is made for each request."""

    request: WireRequest
    fresh: bool = False
    """On a new connection: confirmations must not be answered by a resend on a dying one."""


Exchanging = Generator[Send, Outcome, Result]
"""Work that needs requests but does no I/O: it yields `Send` and receives an `Outcome`."""
