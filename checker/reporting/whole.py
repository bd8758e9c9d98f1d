"""Files that appear whole or not at all, whatever happens while they are written."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from checker.core.errors import UsageError


@contextmanager
def whole_file(
    path: Path, *, is_binary: bool = False, permissions: int | None = None
) -> Iterator[IO[Any]]:
    """Yield a file for text, or bytes, that replaces `path` when the block ends without an exception.

    The umask decides on its permissions unless they are given. `OSError` passes through. A `path` that exists and is no file
    (`/dev/stdout`, a pipe) cannot be replaced: the content is written into it at the end.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    how: dict[str, Any] = {} if is_binary else {"encoding": "utf-8", "newline": "\n"}
    mode = "wb" if is_binary else "w"
    if _is_device(path):
        with tempfile.TemporaryFile(f"{mode}+", **how) as whole:
            yield whole
            whole.seek(0)
            with path.open(mode, **how) as device:
                shutil.copyfileobj(whole, device)
        return
    partial = partial_of(path)
    try:
        with open_with(partial, permissions, mode, **how) as file:
            yield file
        partial.replace(path)
    except BaseException:
        # Also an interrupt and a bug of ours: half a report is none.
        discard(path)
        raise


def open_with(path: Path, permissions: int | None, mode: str, **how: Any) -> IO[Any]:
    """Return an open new file that has these permissions from its first byte on; None leaves them to the umask."""
    if permissions is None:
        return path.open(mode, **how)
    # A file that is left from a dead process of the same id would keep its own permissions.
    path.unlink(missing_ok=True)
    file: IO[Any] = open(  # noqa: SIM115 - the caller closes it
        path, mode, opener=lambda name, flags: os.open(name, flags, 0o600), **how
    )
    os.fchmod(file.fileno(), permissions)
    return file


def discard(path: Path, pid: int | None = None) -> None:
    """Remove what this process, or the one with that `pid`, has of a file that is not whole."""
    with suppress(OSError):
        partial_of(path, pid).unlink(missing_ok=True)


def check_writable(path: Path, *, is_folder: bool = False) -> None:
    """Raise `UsageError` when no report can be written there: before the run, not after it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_folder and path.exists() and not path.is_dir():
            raise UsageError(f"{path}: the report cannot be written: it is no directory")
        if path.is_dir() and not is_folder:
            raise UsageError(f"{path}: the report cannot be written: it is a directory")
        if not _is_device(path):
            probe = partial_of(path)
            probe.write_bytes(b"")
            probe.unlink()
    except OSError as error:
        raise UsageError(f"{path}: the report cannot be written: {error.strerror}") from error


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


def partial_of(path: Path, pid: int | None = None) -> Path:
    """Where this process, or the one with that `pid`, writes what is to stand at a path."""
    return path.with_name(f".{path.name}.{pid or os.getpid()}.partial")
