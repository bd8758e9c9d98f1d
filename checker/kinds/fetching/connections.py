"""An end to requests that drip: read time-outs begin anew with each byte, and headers may come one by one, too."""

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self


class ConnectionTimer:
    """Ends the connections of one request when its time is over. To be entered; `trace` is the extension of that name of httpx."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        """Whether time has run out: what was received since then is not the whole of it."""
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(max(0.0, seconds), self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        for opened in self._sockets:
            opened.close()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Learn of a connection as soon as it is there, before TLS and whatever else may drip."""
        if event.endswith("connect_tcp.complete"):
            # Its own descriptor: that of the connection is taken over by the layer of TLS, and closed when it likes.
            self._sockets.append(info["return_value"].get_extra_info("socket").dup())
            if self.is_over:
                self._end()

    def _end(self) -> None:
        self.is_over = True
        for opened in self._sockets:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
