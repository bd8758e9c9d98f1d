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
def whole_file(path: Path, *, is_binary: bool = False) -> Iterator[IO[Any]]:
    """Text, or bytes, that stand at `path` when the block is left without an exception. `OSError` passes through.

    What is there and no file (`/dev/stdout`, a pipe) is written into, in the end: it cannot be replaced, and must not be.
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
        with partial.open(mode, **how) as file:
            yield file
        partial.replace(path)
    except BaseException:
        # Also an interrupt and a bug of ours: half a report is none.
        discard(path)
        raise


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
