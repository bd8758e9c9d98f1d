"""A transport over whatever answers one request at a time: an application in this process, a session of the user's."""

from collections import deque
from collections.abc import Callable

from checker.core.request import WireRequest
from checker.core.response import Outcome
from checker.transport.settings import HttpSettings, travelling

Exchange = Callable[[WireRequest, float], Outcome]
"""From a request, and the seconds that it may take, to its outcome."""


class BlockingTransport:
    """Implements `checker.core.send.Transport`: each request waits until those before it are answered."""

    def __init__(
        self,
        exchange: Exchange,
        settings: HttpSettings,
        *,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        """`close` ends what answers."""
        self._exchange = exchange
        self._settings = settings
        self._close = close
        self._waiting: deque[tuple[int, WireRequest, float]] = deque()

    def start(self, lane: int, request: WireRequest, *, patience_s: float | None = None) -> None:
        """Have a request wait for its turn."""
        self._waiting.append((lane, request, self._patience_s(request, patience_s)))

    def flush(self) -> None:
        """Nothing: requests are sent when outcomes are asked for."""

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        """The outcome of the request that has waited longest; none when none waits."""
        if not self._waiting:
            return []
        # One at a time: the worker is to show between two of them that it lives.
        lane, request, limit_s = self._waiting.popleft()
        return [(lane, self._exchange(request, limit_s))]

    def send(
        self,
        lane: int,
        request: WireRequest,
        *,
        patience_s: float | None = None,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> Outcome:
        """Outcome of a request that does not wait for its turn; `meanwhile` is called before it."""
        meanwhile()
        return self._exchange(request, self._patience_s(request, patience_s))

    def waited_s(self, lane: int) -> float:
        """Return 0: the transport blocks, so no request is in flight when this is called."""
        return 0.0

    def close(self) -> None:
        """Forget what waits, and end what answers."""
        self._waiting.clear()
        self._close()

    def _patience_s(self, request: WireRequest, patience_s: float | None) -> float:
        limit_s = travelling(request, self._settings).request_timeout_s
        return limit_s if patience_s is None else min(patience_s, limit_s)
