"""Sorting more text than fits into memory: sorted runs in temporary files, merged at the end."""

import heapq
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO

Keyed = tuple[float, str, str]
"""(time, name, text): sorted by time, then name."""

_HEADER = struct.Struct("<dII")
_CODEC = "utf-8"
_ERRORS = "surrogatepass"


def in_order(items: Iterable[Keyed], limit_bytes: int = 32 << 20) -> Iterator[Keyed]:
    """Items in order; at most about `limit_bytes` of text are held in memory while they arrive."""
    held: list[Keyed] = []
    size = 0
    with ExitStack() as stack:
        runs: list[Iterator[Keyed]] = []
        for item in items:
            held.append(item)
            size += len(item[2])
            if size >= limit_bytes:
                runs.append(
                    _read(_spilled(sorted(held), stack.enter_context(tempfile.TemporaryFile())))
                )
                held, size = [], 0
        yield from heapq.merge(*runs, sorted(held))


def _spilled(items: list[Keyed], run: IO[bytes]) -> IO[bytes]:
    for at, name, text in items:
        encoded_name, encoded_text = name.encode(_CODEC, _ERRORS), text.encode(_CODEC, _ERRORS)
        run.write(_HEADER.pack(at, len(encoded_name), len(encoded_text)))
        run.write(encoded_name)
        run.write(encoded_text)
    run.seek(0)
    return run


def _read(run: IO[bytes]) -> Iterator[Keyed]:
    while header := run.read(_HEADER.size):
        at, name_size, text_size = _HEADER.unpack(header)
        name = run.read(name_size).decode(_CODEC, _ERRORS)
        yield at, name, run.read(text_size).decode(_CODEC, _ERRORS)
