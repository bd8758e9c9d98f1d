"""Documents in files: regular ones only, since anything else may never end, or never begin."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from checker.core.errors import LoaderError
from checker.openapi.documents.allowance import Allowance, Portion

_PIECE_BYTES: Final = 1 << 20
_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_file(
    path: str | os.PathLike[str], allowance: Allowance, what: str = "an OpenAPI document"
) -> bytes:
    """Content of a file. Raises `LoaderError`."""
    name = os.fspath(path)
    portion = allowance.document(name)
    try:
        return portion.close(_content(Path(path), portion, what))
    except FileNotFoundError:
        raise LoaderError(f"{name} does not exist; give the path of {what}") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LoaderError(f"{name} cannot be read: {reason}; make it readable") from error
    except ValueError as error:
        raise LoaderError(f"{name!r} is no path: {error}; give the path of {what}") from error


def _content(path: Path, portion: Portion, what: str) -> bytes:
    # Asked before it is opened, as opening a device may do something, and after, as it may be another by now.
    _require_regular(path.stat(), portion.name, what)
    # A pipe without a writer would keep us waiting.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        _require_regular(os.fstat(file.fileno()), portion.name, what)
        while piece := file.read(_PIECE_BYTES):
            portion.take(piece)
    return portion.taken()


def _require_regular(found: os.stat_result, name: str, what: str) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    kind = next((noun for is_so, noun in _KINDS if is_so(found.st_mode)), "no regular file")
    where = " in it" if stat.S_ISDIR(found.st_mode) else ""
    raise LoaderError(f"{name} is {kind}; give the path of {what}{where}")
