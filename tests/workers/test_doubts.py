"""A worker that was never served anything is refused: only the others know whether that is new."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.phases.case_factory import GeneratedCase
from checker.supervisor.outages import Outages
from checker.workers.context import WorkerContext
from checker.workers.jobs import ForegroundJob
from checker.workers.messages import OutageEvent, OutageReport
from checker.workers.queues import Receiver, Sender
from checker.workers.target_health import MOST_DOUBTS, TargetHealth
from tests.workers.harness import workplace
from tests.workers.running_jobs import advance, ended

ANSWER: dict[str, Any] = {"responses": {"200": {"description": ""}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Sessions", "version": "1"},
    "components": {"securitySchemes": {"Bearer": {"type": "http", "scheme": "bearer"}}},
    "security": [{"Bearer": []}],
    "paths": {
        "/health": {"get": {**ANSWER, "security": []}},
        "/orders": {"get": ANSWER},
        "/session/leave": {"get": ANSWER},
        "/things": {"get": ANSWER},
        "/users": {"get": ANSWER},
    },
}


@dataclass
class Colleague:
    """One worker's view of the target, whose answers are scripted."""

    context: WorkerContext
    statuses: dict[str, int]
    """Path -> status of what is sent in an inquiry."""
    told: Receiver
    health: TargetHealth
    asked: list[str] = field(default_factory=list)
    """Paths of such requests."""

    def answer(self, request: WireRequest) -> Outcome:
        self.asked.append(request.target.decode())
        return Response(self.statuses[self.asked[-1]], [], b"{}", request=request)

    def close(self) -> None:
        pass

    def met(self, label: str) -> tuple[GeneratedCase, WireRequest]:
        made = self.context.factory.make(Label(label), 1, 0, PhaseInfo("fuzzing"))
        return made, self.context.tools.maker.make(made.case)

    def is_served(self, *labels: str) -> None:
        for label in labels:
            found = self.health.served.answered(*self.met(label), 200)
            self.context.recorder.keep(found)

    def holds(self, label: str, status: int = 401) -> bool:
        return ended(self.health.holds(*self.met(label), Response(status, [], b"{}")), self.answer)


@dataclass
class Crew:
    """Workers around the decisions of a supervisor; nothing happens but what a test asks for."""

    folder: Path
    statuses: dict[str, int]
    stack: ExitStack
    outages: Outages = field(default_factory=Outages)
    workers: dict[int, Colleague] = field(default_factory=dict)
    jobs: dict[int, ForegroundJob] = field(default_factory=dict)
    """Workers that wait for the end of an outage."""

    def worker(self, *, workers: int = 2) -> Colleague:
        number = len(self.workers) + 1
        folder = self.folder / str(number)
        folder.mkdir()
        context = self.stack.enter_context(workplace(folder, document=DOCUMENT, workers=workers))
        context.http.close()
        reading, writing = Pipe(duplex=False)
        health = TargetHealth(context, Sender(writing))
        one = Colleague(context, self.statuses, Receiver(reading), health)
        context.http = one  # type: ignore[assignment]
        self.workers[number] = one
        return one

    def settle(self) -> None:
        """Deliver what is said until nobody holds any more."""
        for _ in range(50):
            for number, one in self.workers.items():
                while (message := one.told.get_nowait()) is not None:
                    assert isinstance(message, OutageReport)
                    for whom, order in self.outages.hear(number, message, list(self.workers)):
                        self.workers[whom].health.obey(order)
                if one.health.is_holding:
                    if number not in self.jobs:
                        self.jobs[number] = ForegroundJob(one.health.sit_out())
                    advance(self.jobs[number], one.answer)
                else:
                    self.jobs.pop(number, None)
            if not self.outages.is_open:
                return
        raise AssertionError("the outage does not end")


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    with ExitStack() as stack:
        paths: dict[str, Any] = DOCUMENT["paths"]
        yield Crew(tmp_path, dict.fromkeys(paths, 200), stack)


def refuse(crew: Crew) -> None:
    """Everybody who needs credentials is turned away from now on."""
    crew.statuses |= {path: 401 for path in crew.statuses if path != "/health"}


@pytest.mark.parametrize("served", [(), ("GET /health",)], ids=["nothing", "what needs no token"])
def test_a_refusal_says_nothing_where_another_worker_ended_the_session(crew: Crew, served: tuple[str, ...]) -> None:
    knows, does_not = crew.worker(), crew.worker()
    # What needs no credentials would be served still, and is no witness here either.
    knows.is_served("GET /health", "GET /orders", "GET /users", "GET /session/leave")
    does_not.is_served(*served)
    refuse(crew)
    assert does_not.holds("GET /things")
    crew.settle()
    assert (knows.health.has_lost_session, does_not.health.has_lost_session) == (True, True)
    assert does_not.health.excuses(Response(401, [], b""))


def test_a_refusal_is_the_operations_own_where_others_are_served(crew: Crew) -> None:
    knows, does_not = crew.worker(), crew.worker()
    knows.is_served("GET /orders", "GET /users", "GET /session/leave")
    assert does_not.holds("GET /things")
    crew.settle()
    assert not does_not.holds("GET /things")
    assert not does_not.health.excuses(Response(401, [], b""))
    # The question costs its witnesses: nobody is suspected, and nothing that ends sessions is sent for it.
    assert knows.asked
    assert "/session/leave" not in knows.asked
    assert does_not.asked == []
    assert crew.outages.serves


def test_a_refusal_counts_where_nobody_was_ever_served(crew: Crew) -> None:
    refuse(crew)
    first, second = crew.worker(), crew.worker()
    assert first.holds("GET /things")
    crew.settle()
    assert not first.holds("GET /things")
    assert second.holds("GET /things")
    crew.settle()
    assert not second.holds("GET /things")


def test_questions_have_an_end_where_nothing_is_ever_served(crew: Crew) -> None:
    refuse(crew)
    one, _ = crew.worker(), crew.worker()
    paths = [f"GET {path}" for path in crew.statuses if path != "/health"]
    asked = 0
    for status, label in product((401, 403, 429, 503, 502, 504), paths):
        if one.holds(label, status):
            asked += 1
            crew.settle()
    assert asked == MOST_DOUBTS < len(paths) * 6


def test_who_works_alone_asks_nobody(crew: Crew) -> None:
    refuse(crew)
    assert not crew.worker(workers=1).holds("GET /things")


def test_who_joins_in_an_outage_hears_of_its_end(crew: Crew) -> None:
    knows = crew.worker()
    knows.is_served("GET /orders", "GET /users", "GET /session/leave")
    refuse(crew)
    assert knows.holds("GET /things")
    message = knows.told.get_nowait()
    assert isinstance(message, OutageReport)
    assert message.event is OutageEvent.NOTICED
    for _, order in crew.outages.hear(1, message, [1]):
        knows.health.obey(order)
    late = crew.worker()
    assert crew.outages.join(2) == []
    crew.settle()
    assert late.health.has_lost_session
