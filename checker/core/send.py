"""The protocol between an attempt, its driver and the transport."""

from collections.abc import Callable, Generator
from enum import StrEnum
from typing import Any, Final, Protocol, TypeVar

from checker.core.request import WireRequest
from checker.core.response import Outcome

Result = TypeVar("Result")

Exchanging = Generator[WireRequest, Outcome, Result]
"""Work that needs requests but does no I/O: it yields requests and receives their outcomes."""

Send = Callable[[WireRequest], Outcome]


class Purpose(StrEnum):
    """The purpose of a request. The target has seen the request in any case."""

    TEST = "test"  # A case of the run.
    SAVED = "saved"  # A failing example of an earlier run.
    CONFIRM = "confirm"  # A case that failed, once more.
    PROBE = "probe"
    """A request that explains a case or its response: the simplest case of the operation, or a request of a check."""
    SHRINK = "shrink"  # A smaller case that may fail as well.
    REPRODUCE = "reproduce"  # A command as it is printed.
    LOGIN = "login"  # Requests that obtain credentials: a login, a sign-up, a token.
    USER = "user"  # A request of user code: `case.call()` in a hook, a check or a provider.
    RETRY = "retry"  # A request that was sent again, because it had no response or a response that does not count.
    REDIRECT = "redirect"  # A request whose redirect was followed.


ON_THE_WAY: Final = frozenset((Purpose.LOGIN, Purpose.RETRY, Purpose.REDIRECT))
"""Requests that are sent because of another recorded request, which will lead to them again."""
_MEANWHILE_S: Final = 0.2


class Transport(Protocol):
    """Sends several requests at a time, each on its own lane. Not thread-safe.

    Requests are started on idle lanes; `poll` returns lanes with their outcomes as they finish. If a request cannot be sent
    or has no response, the outcome is a `NetworkFailure`; no exception is raised for a single request.
    """

    def start(self, lane: int, request: WireRequest, *, patience_s: float | None = None) -> None:
        """Start a request on an idle lane. The request may wait for `flush`, and is given up after `patience_s`."""
        ...

    def flush(self) -> None:
        """Send all started requests."""
        ...

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        """Return the lanes that finished, each with its outcome. If there is none yet, wait at most `timeout_s`."""
        ...

    def waited_s(self, lane: int) -> float:
        """Return the seconds since the request on a lane was sent; 0 if none is in flight."""
        ...

    def close(self) -> None:
        """Drop all requests in flight."""
        ...


def send_alone(
    transport: Transport, request: WireRequest, *, meanwhile: Callable[[], object] = lambda: None
) -> Outcome:
    """Return the outcome of one request, on the first lane of a transport that has nothing in flight.

    `meanwhile` is called several times a second. After an exception from it, the transport can only be closed.
    """
    transport.start(0, request)
    transport.flush()
    while not (finished := transport.poll(_MEANWHILE_S)):
        meanwhile()
    return finished[0][1]


def watched(work: "Exchanging[Result]", saw: Callable[[WireRequest, Outcome], object]) -> "Exchanging[Result]":
    """Return the result of work. `saw` receives each request with its outcome before the work receives the outcome."""
    try:
        wanted = next(work)
        while True:
            outcome = yield wanted
            saw(wanted, outcome)
            wanted = work.send(outcome)
    except StopIteration as end:
        result: Result = end.value
        return result


def drive(work: Generator[Any, Any, Result], send: Send) -> Result:
    """Return the result of work that exchanges requests, with a blocking `send`."""
    try:
        wanted = next(work)
        while True:
            wanted = work.send(send(wanted))
    except StopIteration as end:
        result: Result = end.value
        return result
