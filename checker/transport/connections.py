"""Which kept connections the server has closed already.

libcurl reuses a connection without a look when it was idle for less than a second. A request that is sent on one
which the server has closed is lost, and cannot be told from one that crashed the server. So we look ourselves.
"""

import os
import select
import socket

_HANG_UP = getattr(select, "POLLRDHUP", select.POLLHUP)
"""Of the peer. Plain POLLIN would not do: TLS sends tickets unasked."""
_MANY = 4096


class Connections:
    """Open connections of a multi handle by local port: all that libcurl tells before it sends."""

    def __init__(self) -> None:
        self._watched: dict[int, select.poll] = {}

    def remember(self, local_port: int, descriptors: list[int]) -> None:
        """Watch the one of these new descriptors that is bound to the port; the others lost the race to connect."""
        if len(self._watched) >= _MANY:
            # Long closed, nearly all of them. An unknown connection counts as open.
            self._watched.clear()
        self._watched.pop(local_port, None)
        for descriptor in descriptors:
            if _port_of(descriptor) == local_port:
                watch = select.poll()
                watch.register(descriptor, _HANG_UP)
                self._watched[local_port] = watch

    def is_closed(self, local_port: int) -> bool:
        """True when the server has closed the connection from that port."""
        watch = self._watched.get(local_port)
        return watch is not None and bool(watch.poll(0))


def _port_of(descriptor: int) -> int | None:
    try:
        with socket.socket(fileno=os.dup(descriptor)) as twin:
            name = twin.getsockname()
    except OSError:
        return None
    return name[1] if isinstance(name, tuple) else None
