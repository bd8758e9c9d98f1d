"""Files that users name: regular ones only, since anything else may never end, or never begin; and of bounded size."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import Final

from checker.core.errors import UnreadableFile

AnyPath = str | os.PathLike[str]
_PIECE_BYTES: Final = 1 << 20
_UNITS: Final = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_local(path: AnyPath, what: str, *, most_bytes: int) -> bytes:
    """Content of a file; `what` says in errors what it should have been: `a cassette`. Raises `UnreadableFile`."""
    taken = bytearray()
    for piece in pieces_of(path, what):
        taken += piece
        if len(taken) > most_bytes:
            raise UnreadableFile(
                f"{os.fspath(path)} holds more than {shown_size(most_bytes)}; give {what} of at most that"
            )
    return bytes(taken)


def pieces_of(path: AnyPath, what: str) -> Iterator[bytes]:
    """Yield the content of a file piece by piece, for callers that set their own limits. Raises `UnreadableFile`."""
    name = os.fspath(path)
    try:
        # Asked before it is opened, as opening a device may do something, and after, as it may be another by now.
        _require_regular(os.stat(path), name, what)
        # A pipe without a writer would keep us waiting.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            _require_regular(os.fstat(file.fileno()), name, what)
            while piece := file.read(_PIECE_BYTES):
                yield piece
    except FileNotFoundError:
        raise UnreadableFile(f"{name} does not exist; give the path of {what}") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableFile(f"{name} cannot be read: {reason}; make it readable") from error
    except ValueError as error:
        raise UnreadableFile(f"{name!r} is no path: {error}; give the path of {what}") from error


def shown_size(size: int) -> str:
    """`32 MiB`, `1000 bytes`."""
    for unit, name in _UNITS:
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} bytes"


def _require_regular(found: os.stat_result, name: str, what: str) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    kind = next((noun for is_so, noun in _KINDS if is_so(found.st_mode)), "no regular file")
    where = " in it" if stat.S_ISDIR(found.st_mode) else ""
    raise UnreadableFile(f"{name} is {kind}; give the path of {what}{where}")
