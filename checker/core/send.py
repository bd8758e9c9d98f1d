"""What an attempt asks of whoever drives it."""

from collections.abc import Generator
from typing import TypeVar

from checker.core.request import WireRequest
from checker.core.response import Outcome

Result = TypeVar("Result")

Exchanging = Generator[WireRequest, Outcome, Result]
"""Work that needs requests but does no I/O: it yields what to send and receives what comes back."""
