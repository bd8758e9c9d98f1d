"""The process and its system: local files, signals, limits (setrlimit(2)), standard streams, deferred imports."""

import errno
import gc
import io
import os
import re
import resource
import select
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, AnyStr, Final, Self, TextIO, TypeVar, cast

from checker.core.errors import UnreadableFile

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


AnyPath = str | os.PathLike[str]
Key = TypeVar("Key")
Made = TypeVar("Made")
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
    """Return the content of a file; errors use `what` as the name of its kind: `a cassette`. Raises `UnreadableFile`."""
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
        # Tested before opening, which may have effects for a device, and after, because it may be another file by then.
        _require_regular(os.stat(path), name, what)
        # A pipe without a writer would block here.
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
    """Return a size as text: `32 MiB`, `1000 bytes`."""
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


Clock = Callable[[], float]  # Returns seconds that never decrease; tests replace it.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, `kill` or service managers, and a closed terminal all mean the same."""


_FEW_FILES: Final = 64
"""A process that ends without a message under such a limit of open files has probably reached it. A worker needs about 20."""
_FILES: Final = frozenset((errno.EMFILE, errno.ENFILE))
_PROCESSES: Final = frozenset((errno.EAGAIN, errno.ENOMEM))


def limit_reached(error: BaseException) -> str:
    """Return a sentence about the limit that caused an error, or one of its causes; empty if there is none."""
    for one in _causes(error):
        number = one.errno if isinstance(one, OSError) else None
        if number in _FILES:
            return _files()
        # "can't start new thread", and "unable to start watchdog thread" of faulthandler.
        is_thread = isinstance(one, RuntimeError) and {"start", "thread"} <= set(str(one).split())
        is_memory = isinstance(one, MemoryError | SystemError | ImportError) or _is_of_import(one)
        # zstd has its own error.
        is_memory = is_memory or "not enough memory" in str(one)
        if (is_memory or is_thread or number == errno.ENOMEM) and (sentence := _memory()):
            return sentence
        if is_thread or number in _PROCESSES:
            return "no process or thread could be started: the system allows no more; raise `ulimit -u`"
    return ""


def likely_limit() -> str:
    """Return a sentence about the limit that probably ended another process of checker; empty if no limit is that low."""
    few = resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= _FEW_FILES
    return _memory() or (_files() if few else "")


def show_no_limits() -> None:
    """If a limit of the system ends this process or one that is forked from it, let it end without a traceback."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        # If too many files are open, the descriptors in a message are lost without an error.
        is_cut = isinstance(error, EOFError) and likely_limit()
        if not is_cut and not limit_reached(error):
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = show


def _is_of_import(error: BaseException) -> bool:
    """Whether an error was raised while a module was imported. Without memory, the compiler may raise any error."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        trace = trace.tb_next
    return False


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            todo += [one.__context__, one.__cause__]


def _files() -> str:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return f"too many open files: the system allows {most}; raise `ulimit -n`"


def _memory() -> str:
    """Return the sentence about memory; empty if the memory of a process is not limited."""
    for kind, option in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
        most = resource.getrlimit(kind)[0]
        if most != resource.RLIM_INFINITY:
            return f"not enough memory: the system allows {most >> 20} MiB for each process; raise `ulimit {option}`"
    return ""


_STANDARD = 3  # Descriptors 0 to 2 are the standard streams.


class LenientStream(io.FileIO):
    """An output stream that accepts everything, even if the reader has left or the disk is full.

    A run that is piped to `head` still has to finish with its exit code, so a reader that leaves is no error.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.problem = ""
        """The reason why output was lost; empty if nothing was lost or the reader left."""
        self._is_lost = False

    def write(self, data: "ReadableBuffer", /) -> int:
        """Return the number of accepted bytes. After an error all bytes are accepted and dropped."""
        size = memoryview(data).nbytes
        if self._is_lost:
            return size
        try:
            # The result is None if another process that shares the pipe made it non-blocking.
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
    """Connect closed standard streams (`2>&-`) to the null device, here and in all processes that we start.

    Otherwise the next opened file would get the descriptor of one of them, and tracebacks would be written into it.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < _STANDARD:
        os.set_inheritable(descriptor, True)
        if descriptor == 0:
            sys.stdin = open(descriptor, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays open until the process exits
    os.close(descriptor)


def guarded_output() -> LenientStream:
    """Replace stdout and stderr by lenient streams; return that of stdout."""
    outlet = LenientStream(1)
    sys.stdout = _text(outlet, sys.stdout)
    sys.stderr = _text(LenientStream(2), sys.stderr)
    return outlet


def _text(outlet: LenientStream, before: TextIO | None) -> io.TextIOWrapper:
    """Return a text stream with the encoding of the previous one. A closed stream is replaced by a stream for any text."""
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


_NAMES: Final[list[str]] = []  # Names of all lazy modules that have been declared in this process.


class Later:
    """A placeholder for an object that is made when one of its attributes is first used."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            # Copying and pickling look up special methods, which must not make the object.
            raise AttributeError(attribute)
        found = getattr(self._make(), attribute)
        # The next access finds the attribute without a call of `__getattr__`.
        setattr(self, attribute, found)
        return found


def later(name: str, *, by_all: bool = True) -> Any:
    """Return a placeholder for the module of this name, which is imported later. Type checkers see the import under `TYPE_CHECKING`.

    `by_all`: whether `import_all` imports it.
    """
    if by_all:
        _NAMES.append(name)
    return Later(partial(import_module, name))


def kept(known: dict[Key, Made], key: Key, made: Made, most: int) -> Made:
    """Return a value and keep it under its key. A table with `most` entries is emptied first, because keys come from outside."""
    if len(known) >= most:
        known.clear()
    known[key] = made
    return made


def later_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled at its first use: most runs use only a few of them, and compiling all takes 0.1 s."""
    return cast("re.Pattern[AnyStr]", Later(partial(re.compile, pattern, flags)))


def import_all() -> None:
    """Import all lazy modules now, including the lazy modules that these declare.

    This saves time in processes whose children would each import them.
    """
    for name in _NAMES:
        import_module(name)


_THRESHOLDS = (200_000, 2, 1)


@contextmanager
def ended_after(cpu_s: float) -> Iterator[None]:
    """Let the kernel end this process with SIGPROF if the block takes more CPU-seconds.

    An import without memory may loop in C code, where neither Python nor another thread can run.
    """
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextmanager
def uncollected() -> Iterator[None]:
    """Exclude the objects made in this context from garbage collection: they live as long as the process.

    A description of a megabyte has 100,000 objects, and scanning them took a third of the time of reading it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        # Requests and programs contain no cycles, so the collector may run less often.
        gc.set_threshold(*_THRESHOLDS)
        if was_enabled:
            gc.enable()


class Interrupts:
    """The number of interrupts by the user. They are counted within `with`, and the previous handlers are restored afterwards.

    Outside the main thread Python allows no handlers, so nothing is counted.
    """

    def __init__(self) -> None:
        self.count = 0
        self._taken: int | None = None
        self._previous: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _heard():
                self._previous[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def take_one_more(self) -> None:
        """Count the next interrupt without an exception; the one after it raises `KeyboardInterrupt`.

        Used while reports are written: the first interrupt ends the writing properly, the second one at once.
        """
        self._taken = self.count + 1

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self._taken is not None and self.count > self._taken:
            raise KeyboardInterrupt


def raise_interrupts() -> None:
    """Let the signals raise `KeyboardInterrupt`, outside of a run."""
    for number in _heard():
        signal.signal(number, signal.default_int_handler)


def end_at_interrupts() -> None:
    """Let the signals end the process at once, when all output is written."""
    for number in _heard():
        signal.signal(number, signal.SIG_DFL)


def _heard() -> list[signal.Signals]:
    """Return the signals to handle, without SIGHUP if `nohup` made the program ignore it."""
    return [
        number
        for number in STOP_SIGNALS
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    ]
