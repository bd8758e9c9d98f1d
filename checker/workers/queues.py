"""Queues of one producer and one consumer: how messages travel between the supervisor and a worker.

One pipe for each worker and direction; nothing is shared by two producers, so that a process killed in the middle of a
write hurts its own queue only. A message is a struct of the closed unions in `messages`, packed: no pickle, no code in them.
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
    """Return the message that `encode` was given. Raises `Undecodable` for other bytes."""
    message: Message = unpack(data, lambda found: convert(found, Message))
    return message


class Sender:
    """The writing end. Never raises, never blocks for ever: what does not fit waits in memory.

    `patience_s` is how long a send may wait for room: nothing for the supervisor, whom no worker may hold up; some for a
    worker, which would not come back to write the rest of a message that is larger than the pipe.
    """

    def __init__(self, connection: Connection, *, patience_s: float = 0.0) -> None:
        self._connection = connection
        self._patience_s = patience_s
        self._waiting = bytearray()
        self.closed = connection.closed
        """Whether the reader is gone, or `close` was called."""
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
        """Write as much as the pipe takes now; whether all of it is gone."""
        while self._waiting and not self.closed:
            try:
                written = os.write(self._connection.fileno(), self._waiting[:_CHUNK])
            except BlockingIOError:
                # A reader that hangs must not hang its writer. One that sleeps for ever gets no more memory.
                if len(self._waiting) > _LIMIT_BYTES:
                    self.close()
                break
            except OSError:
                self.close()
                break
            del self._waiting[:written]
        return not self._waiting

    def linger(self, timeout_s: float = 5.0) -> None:
        """Wait until the reader has taken what did not fit, or until the time is over."""
        deadline = time.monotonic() + timeout_s
        while not self.flush() and (left := deadline - time.monotonic()) > 0:
            # Not `select.select`: it refuses descriptors beyond 1023.
            room = select.poll()
            room.register(self._connection, select.POLLOUT)
            room.poll(left * 1000)

    def close(self) -> None:
        """Close the pipe. The reader sees the end after all that was written."""
        self.closed = True
        self._waiting.clear()
        self._connection.close()


class Receiver:
    """The reading end. EOF is the death of the writer, and the only sign of it that cannot lie."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._received = bytearray()
        self._messages: deque[Message] = deque()
        self._ended = connection.closed
        if not self._ended:
            os.set_blocking(connection.fileno(), False)

    @property
    def closed(self) -> bool:
        """Whether the writer is gone and everything that it wrote whole has been taken."""
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
            # Whole messages out of the received bytes; half a message of a dead writer is dropped with it.
            start = 0
            while len(self._received) - start >= _HEAD:
                end = start + _HEAD + int.from_bytes(self._received[start : start + _HEAD], "big")
                if end > len(self._received):
                    break
                try:
                    self._messages.append(decode(bytes(self._received[start + _HEAD : end])))
                except Undecodable:
                    # Code of a user wrote into the pipe of the worker: the bytes after it cannot be trusted either.
                    self._ended = True
                start = end
            del self._received[:start]
        return self._messages.popleft() if self._messages else None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for a message or the end; whether one of the two is there."""
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
