"""Standard streams that never raise: closed ones are opened, and lost output is remembered."""

import io
import os
import select
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STANDARD = 3
"""Descriptors 0 to 2 are the standard streams."""


class LenientStream(io.FileIO):
    """An output stream that takes everything, also if the reader has left or the disk is full.

    A run that is piped to `head` still has to finish with its exit code, so a reader that leaves is no error.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.problem = ""
        """Why something was lost, when it was not the reader's wish."""
        self._is_lost = False

    def write(self, data: "ReadableBuffer", /) -> int:
        """Number of bytes taken; what cannot be written is taken, too, and all that follows."""
        size = memoryview(data).nbytes
        if self._is_lost:
            return size
        try:
            # None: somebody who shares a pipe with us made it non-blocking.
            while (written := super().write(data)) is None:
                room = select.poll()
                room.register(self, select.POLLOUT)
                room.poll()
        except OSError as error:
            self._is_lost = True
            if not isinstance(error, BrokenPipeError):
                self.problem = os.strerror(error.errno) if error.errno else str(error)
            return size
        return written


def open_closed_streams() -> None:
    """Let standard streams that were closed (`2>&-`) lead nowhere, here and in all processes that we start.

    Otherwise the next file that is opened would be one of them, and who writes a traceback would write into it.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < _STANDARD:
        os.set_inheritable(descriptor, True)
        if descriptor == 0:
            sys.stdin = open(descriptor, encoding="utf-8", closefd=False)  # noqa: SIM115 - it lives as long as we
    os.close(descriptor)


def guarded_output() -> LenientStream:
    """Put outlets before stdout and stderr; the one of stdout."""
    outlet = LenientStream(1)
    sys.stdout = _text(outlet, sys.stdout)
    sys.stderr = _text(LenientStream(2), sys.stderr)
    return outlet


def _text(outlet: LenientStream, before: TextIO | None) -> io.TextIOWrapper:
    """Text as the stream of before wrote it; one that was closed took any."""
    buffer = io.BufferedWriter(outlet)
    if not isinstance(before, io.TextIOWrapper):
        return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace")
    return io.TextIOWrapper(
        buffer,
        encoding=before.encoding,
        errors=before.errors,
        line_buffering=before.line_buffering,
        write_through=before.write_through,
    )
