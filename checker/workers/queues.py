"""Queues with one producer and one consumer, for messages between the supervisor and a worker.

There is one pipe for each worker and direction. No two producers share one, so a process that is killed during a write
damages only its own queue. A message is a packed struct of the closed unions in `messages`: no pickle, no code.
"""

import os
import select
import time
from collections import deque
from multiprocessing.connection import Connection, wait

from msgspec import convert

from checker.corpus.codec import Undecodable, pack, unpack
from checker.workers.messages import Down, Up

Message = Down | Up

_HEAD = 4
_CHUNK = 65536
_LIMIT_BYTES = 64 * 1024 * 1024


def encode(message: Message) -> bytes:
    """Return a message as bytes, without its length."""
    return pack(message)


def decode(data: bytes) -> Message:
    """Return the message from the bytes of `encode`. Raises `Undecodable` for other bytes."""
    message: Message = unpack(data, lambda found: convert(found, Message))
    return message


class Sender:
    """The writing end. Never raises and never blocks for ever: data that does not fit waits in memory.

    `patience_s` is the time for which a send may wait for room. It is zero for the supervisor, which no worker may hold
    up. It is some seconds for a worker, so that it can write the rest of a message that is larger than the pipe.
    """

    def __init__(self, connection: Connection, *, patience_s: float = 0.0) -> None:
        self._connection = connection
        self._patience_s = patience_s
        self._waiting = bytearray()
        self.closed = connection.closed
        """Whether the reader has ended, or `close` was called."""
        if not self.closed:
            os.set_blocking(connection.fileno(), False)

    def send(self, message: Message) -> None:
        """Send a message. Nothing happens if the queue is closed."""
        if self.closed:
            return
        data = encode(message)
        self._waiting += len(data).to_bytes(_HEAD, "big") + data
        self.linger(self._patience_s)

    def flush(self) -> bool:
        """Write as much as the pipe accepts now; return whether everything is written."""
        while self._waiting and not self.closed:
            try:
                written = os.write(self._connection.fileno(), self._waiting[:_CHUNK])
            except BlockingIOError:
                # A hanging reader must not block its writer, and a reader that never reads must not use unlimited memory.
                if len(self._waiting) > _LIMIT_BYTES:
                    self.close()
                break
            except OSError:
                self.close()
                break
            del self._waiting[:written]
        return not self._waiting

    def linger(self, timeout_s: float = 5.0) -> None:
        """Wait until the reader has taken everything, or until the time limit."""
        deadline = time.monotonic() + timeout_s
        while not self.flush() and (left := deadline - time.monotonic()) > 0:
            # `select.select` rejects descriptors above 1023.
            room = select.poll()
            room.register(self._connection, select.POLLOUT)
            room.poll(left * 1000)

    def close(self) -> None:
        """Close the pipe. The reader sees the end after everything that was written."""
        self.closed = True
        self._waiting.clear()
        self._connection.close()


class Receiver:
    """The reading end. EOF is the only reliable sign that the writer is dead."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._received = bytearray()
        self._messages: deque[Message] = deque()
        self._ended = connection.closed
        if not self._ended:
            os.set_blocking(connection.fileno(), False)

    @property
    def closed(self) -> bool:
        """Whether the writer has ended and all its complete messages were taken."""
        return self._ended and not self._messages

    def get_nowait(self) -> Message | None:
        """Return the next message; None when there is none now."""
        if not self._messages:
            while not self._ended:
                try:
                    chunk = os.read(self._connection.fileno(), _CHUNK)
                except BlockingIOError:
                    break
                except OSError:
                    chunk = b""
                if not chunk:
                    self._ended = True
                self._received += chunk
            # Take complete messages from the received bytes. An incomplete message of a dead writer is dropped.
            start = 0
            while len(self._received) - start >= _HEAD:
                end = start + _HEAD + int.from_bytes(self._received[start : start + _HEAD], "big")
                if end > len(self._received):
                    break
                try:
                    self._messages.append(decode(bytes(self._received[start + _HEAD : end])))
                except Undecodable:
                    # User code wrote into the worker's pipe, so the bytes after it cannot be trusted either.
                    self._ended = True
                start = end
            del self._received[:start]
        return self._messages.popleft() if self._messages else None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for a message or the end; return whether there is one."""
        if self._messages or self._ended:
            return True
        return bool(wait([self.fileno()], timeout_s))

    def fileno(self) -> int:
        """Return the descriptor for `multiprocessing.connection.wait` and similar calls. Raises `OSError` after `close`."""
        return self._connection.fileno()

    def close(self) -> None:
        """Close the pipe. The next send of the writer finds it closed."""
        self._ended = True
        self._messages.clear()
        self._connection.close()
