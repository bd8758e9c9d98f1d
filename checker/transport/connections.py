"""Sockets of kept connections: which of them the server has closed already, and what is acknowledged at once.

libcurl reuses a connection without a look when it was idle for less than a second. A request that is sent on one
which the server has closed is lost, and cannot be told from one that crashed the server. So we look ourselves.
"""

import os
import select
import socket
from contextlib import suppress
from typing import Final

_HANG_UP = getattr(select, "POLLRDHUP", select.POLLHUP)
"""Of the peer. Plain POLLIN would not do: TLS sends tickets unasked. To epoll it is the same number."""
# It is asked before each round of requests: epoll does not look at all of them for the one that is closed.
_Watch = getattr(select, "epoll", select.poll)
_QUICK_ACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)
"""Linux only."""
_MANY = 4096
_NONE: frozenset[int] = frozenset()


class Connections:
    """Open connections of a multi handle by local port: all that libcurl tells before it sends."""

    def __init__(self) -> None:
        self._watched: dict[int, int] = {}
        """Local port -> descriptor."""
        self._poll = _Watch()
        self._closed: frozenset[int] | None = None
        """Descriptors that were closed when `look` looked."""
        self.may_be_closed = True
        """False while it is known that none is: then nobody needs to ask `is_closed`."""
        self.acknowledged = 0
        """Times that `acknowledge` has set a socket option."""

    def remember(self, local_port: int, descriptors: list[int]) -> None:
        """Watch the one of these new descriptors that is bound to the port; the others lost the race to connect."""
        if len(self._watched) >= _MANY:
            # Long closed, nearly all of them. An unknown connection counts as open.
            self._watched.clear()
            self._poll = _Watch()
        self._watched.pop(local_port, None)
        # An attempt that is refused gives its number back: the next one may have the same.
        for descriptor in set(descriptors):
            if _port_of(descriptor) == local_port:
                self._watch(local_port, descriptor)

    def look(self) -> None:
        """Look at all of them at once, for those who ask before `look_away`: one system call instead of eight."""
        self._closed = self._hung_up()
        self.may_be_closed = bool(self._closed)

    def look_away(self) -> None:
        """Forget the last look at the connections."""
        self._closed = None
        self.may_be_closed = True

    def is_closed(self, local_port: int) -> bool:
        """True when the server has closed the connection from that port."""
        descriptor = self._watched.get(local_port)
        if descriptor is None:
            return False
        return descriptor in (self._hung_up() if self._closed is None else self._closed)

    def acknowledge(self, local_port: int) -> None:
        """Acknowledge at once what has arrived on the connection from that port, and what follows until data is sent on it.

        The kernel delays acknowledgements by 40 ms on a connection that sends and receives in turn. A server that
        writes the head and the body of a response separately may hold the body back for so long (Nagle's algorithm).
        `TCP_QUICKACK` is not permanent: sending the next request ends it.
        """
        descriptor = self._watched.get(local_port)
        if descriptor is None or _QUICK_ACK is None:
            return
        twin = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=descriptor)
        with suppress(OSError):
            twin.setsockopt(socket.IPPROTO_TCP, _QUICK_ACK, 1)
            self.acknowledged += 1
        # libcurl owns the descriptor.
        twin.detach()

    def _watch(self, local_port: int, descriptor: int) -> None:
        try:
            self._poll.register(descriptor, _HANG_UP)
        except OSError:
            # The system watches no more of them. An unknown connection counts as open.
            return
        self._watched[local_port] = descriptor

    def _hung_up(self) -> frozenset[int]:
        found = self._poll.poll(0)
        if not found:
            return _NONE
        for descriptor, event in found:
            if event & select.POLLNVAL:
                # We closed it ourselves. Its number comes back with the next connection that is remembered.
                self._poll.unregister(descriptor)
        return frozenset(descriptor for descriptor, _ in found)


def _port_of(descriptor: int) -> int | None:
    try:
        with socket.socket(fileno=os.dup(descriptor)) as twin:
            name = twin.getsockname()
    except OSError:
        return None
    return name[1] if isinstance(name, tuple) else None
