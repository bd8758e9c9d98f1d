"""Applications with something wrong with them, on purpose."""

import itertools
import json
import threading
import zlib
from collections.abc import Callable
from typing import Any

from checker.demo import DEFECTS, document
from checker.demo.gate import Gate, Incoming, Refusal
from checker.demo.inn import Inn
from tests.apps.http import Reply, Request
from tests.apps.serving import Answer

BROKEN = Reply(500, "text/plain", b"planted")


def planted(answer: Answer, *, longest: int) -> Answer:
    """An application that fails on requests of more bytes than this, target and body together."""

    def answered(request: Request) -> Reply:
        size = len(request.target) + len(request.body)
        return BROKEN if size > longest else answer(request)

    return answered


class EvenInn(Inn):
    """Books the same content under the same reference again: else it depends on who is first which one a case is given."""

    def _new_reference(self, wish: dict[str, Any]) -> str:
        return f"BK-{zlib.crc32(json.dumps(wish).encode()):08X}"


def inn() -> Answer:
    """The demo service with all its defects; equal requests have equal answers, in whatever order they come."""
    gate, service = Gate(document()), EvenInn(frozenset(defect.id for defect in DEFECTS))
    lock = threading.Lock()

    def answered(request: Request) -> Reply:
        with lock:
            path, _, query = request.target.partition(b"?")
            try:
                call = gate.admit(Incoming(request.method, path, query, request.headers, request.body, False))
            except Refusal as refusal:
                return Reply(*refusal.reply)
            return Reply(*service.answer(*call))

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


class Disturbed:
    """Does something when the `after`-th request is there, before that one is answered."""

    def __init__(self, answer: Answer, act: Callable[[], object], *, after: int) -> None:
        self._answer = answer
        self._act = act
        self._after = after
        self._numbers = itertools.count(1)

    def __call__(self, request: Request) -> Reply:
        if next(self._numbers) == self._after:
            self._act()
        return self._answer(request)
