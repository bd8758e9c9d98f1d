"""Limits of the system (setrlimit(2)): how a program recognises that one of them stopped it."""

import errno
import resource
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Final

_FEW_FILES: Final = 64
"""A process that ends without a word under such a limit of open files probably met it. A worker needs about 20."""
_FILES: Final = frozenset((errno.EMFILE, errno.ENFILE))
_PROCESSES: Final = frozenset((errno.EAGAIN, errno.ENOMEM))


def limit_reached(error: BaseException) -> str:
    """Return a sentence about the limit that an error, or one of its causes, comes from; empty if there is none."""
    for one in _causes(error):
        number = one.errno if isinstance(one, OSError) else None
        if number in _FILES:
            return _files()
        is_thread = isinstance(one, RuntimeError) and "start new thread" in str(one)
        # Without memory the interpreter itself fails in the middle of an import.
        is_memory = isinstance(one, MemoryError | SystemError | ImportError)
        if (is_memory or is_thread or number == errno.ENOMEM) and (sentence := _memory()):
            return sentence
        if is_thread or number in _PROCESSES:
            return "no process or thread could be started: the system allows no more; raise `ulimit -u`"
    return ""


def likely_limit() -> str:
    """Return a sentence about the limit that ended another process of ours, if a limit is so low; else an empty text."""
    few = resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= _FEW_FILES
    return _memory() or (_files() if few else "")


def show_no_limits() -> None:
    """Let this process, and all that are forked from it, end without a traceback where a limit of the system ends them."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        # The descriptors of a message are lost without an error where too many files are open.
        is_cut = isinstance(error, EOFError) and likely_limit()
        if not is_cut and not limit_reached(error):
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = show


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
