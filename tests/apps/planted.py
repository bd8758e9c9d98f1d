"""Applications with something wrong with them, on purpose."""

import threading
import zlib

from checker.demo import DEFECTS
from checker.demo.description import document
from checker.demo.gate import Call, Gate
from checker.demo.http import Reply, Request
from checker.demo.inn import Inn
from tests.apps.serving import Answer

BROKEN = Reply(500, "text/plain", b"planted")


def planted(answer: Answer, *, one_in: int = 4) -> Answer:
    """The same application, but that it fails on one in so many requests: their bytes decide on which."""
    def answered(request: Request) -> Reply:
        mark = zlib.crc32(request.target + b" " + request.body)
        return BROKEN if mark % one_in == 0 else answer(request)

    return answered


def inn() -> Answer:
    """The demo service with all its defects."""
    gate, service = Gate(document()), Inn(frozenset(defect.id for defect in DEFECTS))
    lock = threading.Lock()

    def answered(request: Request) -> Reply:
        with lock:
            call = gate.admit(request)
            return service.answer(call) if isinstance(call, Call) else call

    return answered


class Hold:
    """Lets requests pass until one is the `after`-th; that one waits until it is released."""

    def __init__(self, answer: Answer, *, after: int) -> None:
        self._answer = answer
        self._after = after
        self._count = 0
        self._lock = threading.Lock()
        self.reached = threading.Event()
        self.released = threading.Event()

    def __call__(self, request: Request) -> Reply:
        with self._lock:
            self._count += 1
            is_last = self._count == self._after
        if is_last:
            self.reached.set()
            self.released.wait(20)
        return self._answer(request)
