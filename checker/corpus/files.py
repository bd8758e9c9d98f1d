"""The calls of the corpus to the operating system. A full or broken disk raises `StorageError`."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from checker.core.errors import StorageError

_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o600

# macOS has no fdatasync.
_sync_data = getattr(os, "fdatasync", os.fsync)


def storage_error(error: OSError, path: Path) -> StorageError:
    """Return the error of a corpus that cannot be written."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    advice = (
        "free space and run again"
        if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
        else "check the disk and its permissions and run again"
    )
    return StorageError(
        f"the corpus cannot be written: {reason} at {path}; {advice}: everything acknowledged before is kept"
    )


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """Open a file for the block and return its descriptor. All errors, also inside the block, are `OSError`s."""
    fd = os.open(path, flags | os.O_CLOEXEC, _FILE_MODE)
    try:
        yield fd
    finally:
        os.close(fd)


class AppendFile:
    """A file with a single writer. Acknowledged data stays readable whatever happens later.

    Writing beyond RLIMIT_FSIZE is an error here and not a death, because Python ignores SIGXFSZ.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        with _writing(path):
            self._fd = os.open(path, flags, _FILE_MODE)
        self.size = os.fstat(self._fd).st_size
        """Bytes acknowledged."""
        self._broken: StorageError | None = None

    def append(self, data: bytes) -> None:
        """Write all of `data` or nothing. Raises `StorageError`, also at every later call."""
        if self._broken is not None:
            raise self._broken
        try:
            _write_all(self._fd, data)
        except OSError as error:
            self._give_up(error)
        self.size += len(data)

    def sync(self) -> None:
        """Wait until all appended data would survive a power failure. Raises `StorageError`."""
        if self._broken is not None:
            raise self._broken
        try:
            _sync_data(self._fd)
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._broken = StorageError(f"the corpus cannot be written: {self.path} is closed")

    def _give_up(self, error: OSError) -> None:
        # Readers stop at a torn frame, so nothing may be appended after it, even if disk space becomes free.
        self._broken = storage_error(error, self.path)
        # If even this fails, a torn tail remains, and readers stop before it.
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, self.size)
        raise self._broken from error


class Lock:
    """The right to own a corpus. The system releases it when its holder dies."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def take_lock(path: Path) -> Lock | int:
    """Return the lock, or the pid of its holder (0 if unknown). Raises `StorageError`."""
    with _writing(path):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(fd, 20, 0)
        os.close(fd)
        return int(holder) if holder.isdigit() else 0
    except OSError as error:
        os.close(fd)
        raise storage_error(error, path) from error
    # The pid is only informative: the lock works without it.
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, b"%d" % os.getpid(), 0)
    return Lock(fd)


def make_directory(path: Path) -> None:
    """Create a directory and its parents, readable by the owner only. Raises `StorageError`."""
    with _writing(path):
        path.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)


def list_directory(path: Path) -> list[Path]:
    """Return the entries of a directory in no order; none if it does not exist."""
    try:
        return [path / name for name in os.listdir(path)]
    except FileNotFoundError:
        return []


def directory_bytes(path: Path) -> int:
    """Return the size of the files in a directory, without those in directories below it; 0 if it does not exist."""
    size = 0
    with contextlib.suppress(FileNotFoundError), os.scandir(path) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                size += entry.stat().st_size
    return size


def read_file(path: Path, limit: int = -1) -> bytes | None:
    """Return the first `limit` bytes of a file, or all of it; None when there is no such file."""
    try:
        with open(path, "rb") as file:
            return file.read(limit)
    except FileNotFoundError:
        return None


def read_piece(path: Path, offset: int, size: int) -> bytes:
    """Return at most `size` bytes from `offset`; empty if the file does not exist.

    The file is opened for each piece: a night leaves more journals than a process may have open files.
    """
    try:
        with _opened(path, os.O_RDONLY) as fd:
            return os.pread(fd, size, offset)
    except FileNotFoundError:
        return b""


def write_file(path: Path, data: bytes) -> None:
    """Write a file whose content may be lost in a power failure. Raises `StorageError`."""
    with _writing(path), _opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as fd:
        _write_all(fd, data)


def write_temporary(path: Path, data: bytes) -> Path:
    """Write `data` to a temporary file beside `path`, durably. `put_in_place` renames it. Raises `StorageError`."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with _opened(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as fd:
            _write_all(fd, data)
            os.fsync(fd)
    except OSError as error:
        remove_file(temporary)
        raise storage_error(error, path) from error
    return temporary


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a temporary file to `path` atomically and durably."""
    with _writing(path):
        os.replace(temporary, path)
        with _opened(path.parent, os.O_RDONLY) as fd:
            os.fsync(fd)


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of a file: a crash leaves the old or the new content, never a mix. Raises `StorageError`."""
    put_in_place(write_temporary(path, data), path)


def remove_file(path: Path) -> None:
    """Remove a file if it is there. Raises `StorageError` when it cannot be removed."""
    with _writing(path):
        path.unlink(missing_ok=True)


def create_sized(path: Path, size: int) -> int:
    """Return the descriptor of a new file of zeros.

    The blocks of the file are allocated, so that a later write through a memory map cannot fail for lack of space.
    """
    with _writing(path):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _FILE_MODE)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, 0, size)
            else:
                _write_all(fd, bytes(size))
        except OSError:
            os.close(fd)
            raise
    return fd


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
