"""What an attempt asks of whoever drives it, and what whoever drives it asks of a transport."""

from collections.abc import Generator
from typing import Protocol, TypeVar

from checker.core.request import WireRequest
from checker.core.response import Outcome

Result = TypeVar("Result")

Exchanging = Generator[WireRequest, Outcome, Result]
"""Work that needs requests but does no I/O: it yields what to send and receives what comes back."""


class Transport(Protocol):
    """Answers requests, several at a time, each on a lane. For one thread.

    Requests are started on idle lanes; `poll` hands back lanes with their outcomes, in whatever order they finish. What
    cannot be sent or is not answered is a `NetworkFailure`: nothing is raised for one request.
    """

    def start(self, lane: int, request: WireRequest, *, patience_s: float | None = None) -> None:
        """Take a request on an idle lane; it may wait for `flush`. After `patience_s` it is given up."""
        ...

    def flush(self) -> None:
        """Send all that was started."""
        ...

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        """Lanes that finished, with what they brought; waits at most `timeout_s` when there is none."""
        ...

    def send(self, lane: int, request: WireRequest, *, patience_s: float | None = None) -> Outcome:
        """Outcome of one request, waited for. Lanes that finish meanwhile are kept for the next `poll`."""
        ...

    def close(self) -> None:
        """Drop what is in flight."""
        ...
