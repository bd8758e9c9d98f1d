"""Applications with something wrong with them, on purpose."""

import threading

from checker.demo import DEFECTS
from checker.demo.description import document
from checker.demo.gate import Call, Gate
from checker.demo.http import Reply, Request
from checker.demo.inn import Inn
from tests.apps.serving import Answer

BROKEN = Reply(500, "text/plain", b"planted")


def planted(answer: Answer, *, longest: int) -> Answer:
    """The same application, but that it fails on requests of more bytes than this, target and body together."""

    def answered(request: Request) -> Reply:
        size = len(request.target) + len(request.body)
        return BROKEN if size > longest else answer(request)

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
        self.answer = answer
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
            self.released.wait()
        return self.answer(request)
