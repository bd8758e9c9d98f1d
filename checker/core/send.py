"""What an attempt asks of whoever drives it."""

from collections.abc import Generator
from enum import StrEnum
from typing import TypeVar

from checker.core.request import WireRequest
from checker.core.response import Outcome

Result = TypeVar("Result")

Exchanging = Generator[WireRequest, Outcome, Result]
"""Work that needs requests but does no I/O: it yields what to send and receives what comes back."""


class Purpose(StrEnum):
    """What a request was sent for. Whatever it was, the target has seen it."""

    TEST = "test"
    """A case of the run."""
    SAVED = "saved"
    """A failing example of an earlier run."""
    CONFIRM = "confirm"
    """A case that failed, once more."""
    PROBE = "probe"
    """What tells more of a case or its answer: the simplest case of its operation, and what checks send."""
    SHRINK = "shrink"
    """A smaller case that may fail as well."""
    REPRODUCE = "reproduce"
    """A command as it is printed."""
