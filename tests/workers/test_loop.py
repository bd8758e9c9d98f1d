"""The worker's loop between a scripted supervisor and an API in memory that answers in any order."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from checker.config.settings import RunSettings
from checker.core.case import Case
from checker.core.hooks import GLOBAL_HOOKS
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.corpus.inflight import InflightReader, Stage
from checker.corpus.journal import JournalReader
from checker.corpus.layout import RunLayout
from checker.corpus.records import OperationError, Record, TaskProgress
from checker.phases.attempt import Verdict
from checker.phases.exploration import Explorer
from checker.phases.making import Made
from checker.workers import loop
from checker.workers.loop import Worker
from checker.workers.messages import Assign, Down, Drain, Idle, Task
from checker.workers.opening import Workplace, open_workplace
from checker.workers.queues import Receiver, Sender
from tests.asking import saying

ID = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
ID_IN_PATH = {"name": "thing_id", "in": "path", "required": True, "schema": ID}
THING = {
    "type": "object",
    "properties": {"id": ID, "name": {"type": "string"}},
    "required": ["id", "name"],
}
ANSWERS = {
    str(status): {"description": "", "content": {"application/json": {"schema": THING}}}
    for status in (200, 201)
}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": THING}}},
                "responses": ANSWERS,
            }
        },
        "/things/{thing_id}": {
            "parameters": [ID_IN_PATH],
            "get": {"responses": ANSWERS},
            "put": {
                "requestBody": {"content": {"application/json": {"schema": THING}}},
                "responses": ANSWERS,
            },
        },
    },
}
LABELS = tuple(map(Label, ("POST /things", "GET /things/{thing_id}", "PUT /things/{thing_id}")))
TASK = Task("00000000000000a1", "exploration", LABELS, 11, 0, 300, 60.0)


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
    _flying: dict[int, WireRequest] = field(default_factory=dict)
    _count: int = 0

    def start(self, lane: int, request: WireRequest, **_: object) -> None:
        assert lane not in self._flying
        self._flying[lane] = request
        self.widths.append(len(self._flying))
        self.events.append(("sent", case_of(request)))

    def flush(self) -> None:
        pass

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        self.made_ahead.append(self.watch())
        lanes = self.random.sample(sorted(self._flying), self.random.randint(1, len(self._flying)))
        return [(lane, self._answer(self._flying.pop(lane))) for lane in lanes]

    def close(self) -> None:
        pass

    def _answer(self, request: WireRequest) -> Outcome:
        self.events.append(("answered", case_of(request)))
        self._count += 1
        content = json.dumps({"id": self._count, "name": "x"}).encode()
        headers = [("Content-Type", "application/json")]
        return self.spoil(Response(200, headers, content, elapsed=0.001, request=request))


def case_of(request: WireRequest) -> str:
    value = request.header(b"X-Checker-TestCaseId")
    assert value is not None
    return value.decode()


@dataclass
class Following:
    """An explorer whose choices are written down: which case goes on from which."""

    explorer: Explorer
    parents: dict[str, str] = field(default_factory=dict)

    def follow(
        self, label: Label, verdict: Verdict, *, steps: int, recipe: tuple[int, int, PhaseInfo]
    ) -> Made | None:
        made = self.explorer.follow(label, verdict, steps=steps, recipe=recipe)
        if made is not None:
            self.parents[made.case.id] = verdict.case.id
        return made


class Orders(Receiver):
    """Some tasks, then the end."""

    def __init__(self, tasks: tuple[Task, ...]) -> None:
        reading, self._writing = Pipe(duplex=False)
        super().__init__(reading)
        self._orders: list[Down] = [Drain(), Assign(tasks)]
        self._given = 0

    def wait(self, timeout_s: float | None = None) -> bool:
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


@dataclass
class Ran:
    memory: Memory
    parents: dict[str, str]
    records: list[Record]
    idle: list[Idle]


@pytest.fixture(autouse=True)
def _orders_are_looked_at_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_ORDERS_S", 0.0)


@contextmanager
def workplace(folder: Path, **changes: Any) -> Iterator[Workplace]:
    location = folder / "things.json"
    location.write_text(json.dumps(DOCUMENT))
    settings = replace(
        RunSettings(str(location), "fuzz", 1),
        base_url="http://127.0.0.1:9",
        corpus_dir=str(folder / "corpus"),
        database="none",
        **{"operations": saying(generation={"no-shrink": True}), **changes},
    )
    with open_workplace(1, settings) as place:
        yield place


def run(
    place: Workplace,
    *tasks: Task,
    drained_after: int | None = None,
    each_poll: Callable[[], None] = lambda: None,
    spoil: Callable[[Response], Outcome] = lambda response: response,
) -> Ran:
    """What a worker did with these tasks; it is told to leave at its poll number `drained_after`."""
    orders = Orders(tasks)
    place.http.close()
    place.http = memory = Memory(random.Random(1), spoil=spoil)  # type: ignore[assignment]
    place.explorer = following = Following(place.explorer)  # type: ignore[assignment]
    told, up = Pipe(duplex=False)
    slots = InflightReader(RunLayout(Path(place.settings.corpus_dir)).inflight(1))

    def watch() -> bool:
        each_poll()
        if len(memory.made_ahead) == drained_after:
            orders.drain()
        return any(slot.stage is Stage.MAKE for slot in slots.slots())

    memory.watch = watch
    Worker(place, orders, Sender(up)).run()
    reader, idle = Receiver(told), list[Idle]()
    while (message := reader.get_nowait()) is not None:
        if isinstance(message, Idle):
            idle.append(message)
    records = JournalReader(Path(place.opened.journal)).read_new()
    return Ran(memory, following.parents, records, idle)


def test_a_step_leaves_only_after_the_step_before_it_was_answered(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=8) as place:
        ran = run(place, TASK)
    when = {event: number for number, event in enumerate(ran.memory.events)}
    depths = Counter[int]()
    for child, parent in ran.parents.items():
        assert when["answered", parent] < when["sent", child]
        depth = 1
        while (parent := ran.parents.get(parent, "")) != "":
            depth += 1
        depths[depth] += 1
    assert max(ran.memory.widths) == 8
    assert depths[1] > 20
    assert depths[3] > 5


@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_every_case_is_sent_once_whatever_is_made_ahead(tmp_path: Path, lanes: int) -> None:
    with workplace(tmp_path, lanes=lanes) as place:
        ran = run(place, replace(TASK, phase="fuzzing"))
    sent = [case for kind, case in ran.memory.events if kind == "sent"]
    assert len(sent) == len(set(sent)) == 300
    assert max(ran.memory.widths) == lanes
    assert [one.tasks for one in ran.idle] == [((TASK.id, 300, True),)]
    progress = [record for record in ran.records if isinstance(record, TaskProgress)]
    assert sum(record.cases for record in progress) == 300
    assert sum(record.requests for record in progress) == 300


@pytest.mark.parametrize("lanes", [1, 8])
def test_what_a_drained_worker_says_it_reached_is_what_it_sent(tmp_path: Path, lanes: int) -> None:
    with workplace(tmp_path, lanes=lanes) as place:
        ran = run(place, replace(TASK, phase="fuzzing"), drained_after=20)
    ((_, reached, finished),) = ran.idle[0].tasks
    assert not finished
    assert len([1 for kind, _ in ran.memory.events if kind == "sent"]) == reached < 300
    progress = [record for record in ran.records if isinstance(record, TaskProgress)]
    assert sum(record.cases for record in progress) == reached


def test_when_there_are_fewer_lanes_no_more_is_in_flight(tmp_path: Path) -> None:
    started_before: list[int] = []
    with workplace(tmp_path, lanes=8) as place:

        def narrow() -> None:
            memory: Any = place.http
            if len(memory.made_ahead) == 20:
                place.pacing.lanes = 2
                started_before.append(len(memory.widths))

        ran = run(place, replace(TASK, phase="fuzzing"), each_poll=narrow)
    (count,) = started_before
    assert len(ran.memory.widths) == 300 > count
    assert max(ran.memory.widths[:count]) == 8
    assert max(ran.memory.widths[count:]) == 2


def test_one_lane_makes_the_next_case_while_it_waits_and_sends_it_after_the_answer(
    tmp_path: Path,
) -> None:
    with workplace(tmp_path, lanes=1) as place:
        ran = run(place, replace(TASK, phase="fuzzing"))
    # The last answer has nothing to wait for behind it.
    assert ran.memory.made_ahead == [True] * 299 + [False]
    assert [kind for kind, _ in ran.memory.events] == ["sent", "answered"] * 300


def test_of_a_slow_task_nothing_is_made_ahead(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=1) as place:
        ran = run(place, replace(TASK, phase="fuzzing", stop=30, makes_ahead=False))
    assert ran.memory.made_ahead == [False] * 30


def test_a_worker_says_how_long_each_task_waited(tmp_path: Path) -> None:
    with workplace(tmp_path, lanes=1) as place:
        ran = run(place, replace(TASK, phase="fuzzing", stop=30))
    ((waits,),) = [idle.waits for idle in ran.idle]
    assert (waits.requests, waits.long) == (30, 0)
    assert round(waits.short_s, 6) == 0.03


def test_with_one_lane_hooks_see_one_call_after_the_other(tmp_path: Path) -> None:
    seen: list[str] = []

    def before_call(context: object, case: Case, kwargs: object) -> None:
        seen.append(f"before {case.id}")

    def after_call(context: object, case: Case, response: object) -> None:
        seen.append(f"after {case.id}")

    GLOBAL_HOOKS.register(before_call)
    GLOBAL_HOOKS.register(after_call)
    try:
        with workplace(tmp_path, lanes=1) as place:
            ran = run(place, replace(TASK, phase="fuzzing", stop=30))
    finally:
        GLOBAL_HOOKS.unregister_all()
    cases = [case for kind, case in ran.memory.events if kind == "sent"]
    assert len(cases) == 30
    assert seen == [f"{word} {case}" for case in cases for word in ("before", "after")]


def test_a_worker_that_dies_young_has_said_what_was_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(100.0, 0.001)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    on_record: list[TaskProgress] = []
    with workplace(tmp_path, lanes=1) as place:
        journal = JournalReader(Path(place.opened.journal))

        def look() -> None:
            if next(clock) < 100.9:
                found = journal.read_new()
                on_record.extend(one for one in found if isinstance(one, TaskProgress))

        run(place, replace(TASK, phase="fuzzing"), each_poll=look)
    assert len(on_record) >= 2
    assert all(record.statuses and sum(record.ledger) > 0 for record in on_record)


def label_of(response: Response) -> str:
    assert response.request is not None
    is_one = response.request.target != b"/things"
    return f"{response.request.method} /things" + ("/{thing_id}" if is_one else "")


def unjudgeable(response: Response) -> Outcome:
    response.content_type = 5  # type: ignore[assignment]
    return response


def unwritable(response: Response) -> Outcome:
    response.message = object()  # type: ignore[assignment]
    response.header_lines = 5  # type: ignore[assignment]
    return response


def unread(response: Response) -> Outcome:
    error = ValueError("nobody thought of this")
    return NetworkFailure(FailureKind.OTHER, "", response.elapsed, cause=error)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("spoil", [unjudgeable, unwritable, unread])
def test_an_answer_that_nobody_can_read_costs_its_case(
    tmp_path: Path, lanes: int, spoil: Callable[[Response], Outcome]
) -> None:
    label, spoilt = LABELS[0], list[str]()

    def once(response: Response) -> Outcome:
        if spoilt or label_of(response) != label:
            return response
        assert response.request is not None
        spoilt.append(case_of(response.request))
        return spoil(response)

    with workplace(tmp_path, lanes=lanes) as place:
        ran = run(place, replace(TASK, phase="fuzzing"), spoil=once)
    assert [one.tasks for one in ran.idle] == [((TASK.id, 300, True),)]
    assert len({case for kind, case in ran.memory.events if kind == "sent"}) == 300
    (error,) = [record for record in ran.records if isinstance(record, OperationError)]
    assert (error.label, error.title) == (label, "Runtime Error")
    assert "Traceback" in error.trace or spoil is unread


@pytest.mark.parametrize("spoil", [unjudgeable, unwritable, unread])
def test_an_operation_whose_answers_nobody_can_read_is_given_up(
    tmp_path: Path, spoil: Callable[[Response], Outcome]
) -> None:
    label = LABELS[0]
    with workplace(tmp_path, lanes=1) as place:
        ran = run(
            place,
            replace(TASK, phase="fuzzing"),
            spoil=lambda one: spoil(one) if label_of(one) == label else one,
        )
    assert [one.tasks for one in ran.idle] == [((TASK.id, 300, True),)]
    sent = [case for kind, case in ran.memory.events if kind == "sent"]
    # A hundred cases of each of the two others, and of this one three, or four where one was made ahead.
    assert len(sent) in (203, 204)
    assert {record.label for record in ran.records if isinstance(record, OperationError)} == {label}
