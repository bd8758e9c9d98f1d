"""A worker between a scripted supervisor and an API in memory that answers in any order."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.corpus.inflight import InflightReader, Stage
from checker.corpus.journal import JournalReader
from checker.corpus.layout import RunLayout
from checker.corpus.records import Record
from checker.phases.case_factory import GeneratedCase
from checker.workers.context import WorkerContext
from checker.workers.explorer import Explorer
from checker.workers.loop import Worker
from checker.workers.messages import LONG_WAIT_S, Assign, Down, Drain, Task, TasksEnded
from checker.workers.queues import Receiver, Sender
from checker.workers.recording.unconfirmed import Chain
from checker.workers.starting.opening import open_worker_context
from tests.asking import run_settings, saying

ID = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
ID_IN_PATH = {"name": "thing_id", "in": "path", "required": True, "schema": ID}
THING = {"type": "object", "properties": {"id": ID, "name": {"type": "string"}}, "required": ["id", "name"]}
ANSWERS = {
    str(status): {"description": "", "content": {"application/json": {"schema": THING}}} for status in (200, 201)
}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {
            "post": {"requestBody": {"content": {"application/json": {"schema": THING}}}, "responses": ANSWERS}
        },
        "/things/{thing_id}": {
            "parameters": [ID_IN_PATH],
            "get": {"responses": ANSWERS},
            "put": {"requestBody": {"content": {"application/json": {"schema": THING}}}, "responses": ANSWERS},
        },
    },
}
SECURED = DOCUMENT | {
    "security": [{"token": []}],
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
}
_NO_INJECTION = {"injection": {"enabled": False}}
"""Injections send requests beside some of the cases of any operation."""
RIGHT = saying(generation={"mode": "positive", "no-shrink": True}, headers={"Authorization": "Bearer right"})
"""What users say who have the token."""
LABELS = tuple(map(Label, ("POST /things", "GET /things/{thing_id}", "PUT /things/{thing_id}")))
TASK = Task("00000000000000a1", "exploration", LABELS, 11, 0, 300, 60.0)
POSTS = replace(TASK, phase="fuzzing", labels=LABELS[:1])
GETS = replace(POSTS, id="00000000000000a2", labels=LABELS[1:2])


@dataclass
class Memory:
    """Stands for `HttpLanes`: answers some of what is in flight, in any order, when it is polled."""

    random: random.Random
    events: list[tuple[str, str]] = field(default_factory=list)
    """("sent" or "answered", case id) in order."""
    widths: list[int] = field(default_factory=list)
    """Requests in flight at each start."""
    made_ahead: list[bool] = field(default_factory=list)
    """At each poll, whether a case was made that was not in flight."""
    watch: Any = None
    spoil: Callable[[Response], Outcome] = lambda response: response
    """Makes of an answer what nobody foresaw."""
    slow: frozenset[str] = frozenset()
    """Methods whose requests wait long, and are answered only when nothing else is in flight, at a second poll."""
    together: list[int] = field(default_factory=list)
    """How many of these were in flight at each start of one."""
    hangs: bool = False
    """Whether they time out instead."""
    inquired: Callable[[], None] | None = lambda: None
    """Called when a failure is looked into, which then waits until it is abandoned; None: that is answered like the rest."""
    _is_quiet: bool = False
    """Whether nothing came at the last poll."""
    _flying: dict[int, WireRequest] = field(default_factory=dict)
    _silent: set[int] = field(default_factory=set)
    """Lanes whose request is not answered any more."""
    _count: int = 0

    def start(self, lane: int, request: WireRequest, **_: object) -> None:
        assert lane not in self._flying
        self._flying[lane] = request
        if request.confirms:
            self.events.append(("looked into", case_of(request)))
            if self.inquired is not None:
                self.inquired()
                self._silent.add(lane)
            return
        self.widths.append(len(self._flying))
        if request.method in self.slow:
            self.together.append(sum(one.method in self.slow for one in self._flying.values()))
        self.events.append(("sent", case_of(request)))

    def flush(self) -> None:
        pass

    def waited_s(self, lane: int) -> float:
        return LONG_WAIT_S if self._flying[lane].method in self.slow else 0.0

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        self.made_ahead.append(self.watch())
        confirming = [lane for lane, one in self._flying.items() if one.confirms and lane not in self._silent]
        if confirming:
            return [(lane, self._answer(self._flying.pop(lane))) for lane in confirming]
        if self._silent:
            return []
        ready = [lane for lane, one in self._flying.items() if one.method not in self.slow]
        self._is_quiet = not ready and not self._is_quiet
        if self._is_quiet:
            return []
        ready = sorted(ready or self._flying)
        lanes = self.random.sample(ready, self.random.randint(1, len(ready)))
        return [(lane, self._answer(self._flying.pop(lane))) for lane in lanes]

    def close(self) -> None:
        pass

    def _answer(self, request: WireRequest) -> Outcome:
        self.events.append(("answered", case_of(request)))
        self._count += 1
        elapsed_s = 0.001
        if request.method in self.slow:
            elapsed_s = 2 * LONG_WAIT_S
            if self.hangs:
                return NetworkFailure(FailureKind.TIMEOUT, "", elapsed_s)
        content = json.dumps({"id": self._count, "name": "x"}).encode()
        headers = [("Content-Type", "application/json")]
        return self.spoil(Response(200, headers, content, elapsed=elapsed_s, request=request))


def case_of(request: WireRequest) -> str:
    """The case that a request names; empty for a command as it is printed, which names none."""
    return (request.header(b"X-Checker-TestCaseId") or b"").decode()


@dataclass
class Following:
    """An explorer whose choices are written down: which case goes on from which."""

    explorer: Explorer
    parents: dict[str, str] = field(default_factory=dict)

    def follow(
        self, chain: Chain, recipe: tuple[int, int, PhaseInfo], *, is_news: bool
    ) -> tuple[Chain, GeneratedCase] | None:
        found = self.explorer.follow(chain, recipe, is_news=is_news)
        if found is not None:
            before, made = found
            self.parents[made.case.id] = before[-1].made.case.id
        return found


class Orders(Receiver):
    """Some tasks, then what comes later, then the end."""

    def __init__(
        self, tasks: tuple[Task, ...], later: tuple[Down, ...] = (), each_wait: Callable[[], None] = lambda: None
    ) -> None:
        self._each_wait = each_wait
        reading, self._writing = Pipe(duplex=False)
        super().__init__(reading)
        self._orders: list[Down] = [Drain(), *reversed(later), Assign(tasks)]
        self._given = 0

    def wait(self, timeout_s: float | None = None) -> bool:
        self._each_wait()
        self._given += 1
        return True

    def get_nowait(self) -> Down | None:
        if not self._given:
            return None
        self._given -= 1
        return self._orders.pop() if self._orders else None

    def drain(self) -> None:
        """The next look finds the end."""
        self._given += 1

    def hasten(self) -> None:
        """The next look finds that nobody waits any more."""
        self._orders.append(Drain(shrinks=False, immediate=True))
        self._given += 1


@dataclass
class Ran:
    memory: Memory
    parents: dict[str, str]
    records: list[Record]
    idle: list[TasksEnded]
    slow: list[str]
    """Tasks that turned out to be."""


@contextmanager
def workplace(
    folder: Path, *, document: dict[str, Any] = DOCUMENT, kind: str = "fuzz", **changes: Any
) -> Iterator[WorkerContext]:
    location = folder / "things.json"
    location.write_text(json.dumps(document))
    settings = run_settings(
        str(location),
        kind,
        base_url="http://127.0.0.1:9",
        folder=str(folder / "corpus"),
        database="none",
        **{"operations": saying(generation={"no-shrink": True, "mode": "positive"}, checks=_NO_INJECTION), **changes},
    )
    with closing(open_worker_context(1, settings)) as context:
        yield context


def run(
    context: WorkerContext,
    *tasks: Task,
    drained_after: int | None = None,
    each_poll: Callable[[], None] = lambda: None,
    each_wait: Callable[[], None] = lambda: None,
    spoil: Callable[[Response], Outcome] = lambda response: response,
    slow: str = "",
    hangs: bool = False,
    is_patient: bool = False,
    later: tuple[Down, ...] = (),
) -> Ran:
    """What a worker did with these tasks; it is told to leave, or the first of what comes `later`, at its poll number `drained_after`.

    When it looks into a failure, it is told to hurry, unless the supervisor `is_patient`.
    """
    orders = Orders(tasks, later, each_wait)
    context.http.close()
    memory = Memory(
        random.Random(1),
        spoil=spoil,
        slow=frozenset(slow.split()),
        hangs=hangs,
        inquired=None if is_patient else orders.hasten,
    )
    context.http = memory
    context.explorer = following = Following(context.explorer)  # type: ignore[assignment]
    told, up = Pipe(duplex=False)
    slots = InflightReader(RunLayout(Path(context.subject.settings.corpus.folder)).inflight(1))

    def watch() -> bool:
        each_poll()
        if len(memory.made_ahead) == drained_after:
            orders.drain()
        return any(slot.stage is Stage.MAKE for slot in slots.slots())

    memory.watch = watch
    Worker(context, orders, Sender(up)).run()
    reader, idle, aside = Receiver(told), list[TasksEnded](), list[str]()
    while (message := reader.get_nowait()) is not None:
        if isinstance(message, TasksEnded):
            aside += message.deferred
            if message.tasks:
                idle.append(message)
    records = JournalReader(Path(context.opened.journal)).read_new()
    return Ran(memory, following.parents, records, idle, aside)
