"""Which requests tell later whether a target still serves."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.corpus.records import OperationProbed
from checker.phases.case_factory import GeneratedCase
from checker.phases.case_parts import literal_of
from checker.workers.context import WorkerContext
from checker.workers.messages import OutageEvent, OutageReport, Trouble
from checker.workers.observers.witnesses import ServedRequests
from checker.workers.queues import Receiver, Sender
from checker.workers.target_health import TargetHealth
from tests.workers.harness import Memory, workplace
from tests.workers.running_jobs import ended


class Made:
    """A case, as far as it is asked for its operation."""

    def __init__(self, label: str) -> None:
        self.label = Label(label)
        self.case = self
        self.operation: Any = self


def note(served: ServedRequests, method: str, path: bytes, status: int = 200) -> None:
    made = cast("GeneratedCase", Made(f"{method} {path.decode()}"))
    served.note(made, WireRequest(method, path, [], None), status)


@pytest.mark.parametrize(
    ("removed", "left"),
    [
        (b"/buckets", {"GET /bucketsful", "GET /me"}),
        (b"/buckets/a?force=1", {"GET /buckets", "GET /bucketsful", "GET /me"}),
        (b"/session", {"GET /buckets", "GET /buckets/a", "GET /buckets/a/groups", "GET /bucketsful", "GET /me"}),
    ],
)  # fmt: skip
def test_what_a_deletion_takes_away_is_no_witness(removed: bytes, left: set[str]) -> None:
    served = ServedRequests()
    for path in (b"/buckets", b"/buckets/a", b"/buckets/a/groups", b"/bucketsful", b"/me"):
        note(served, "GET", path)
    note(served, "DELETE", removed)
    assert {label for label in served.served if label.startswith("GET")} == left


def test_a_deletion_that_was_refused_takes_nothing_away() -> None:
    served = ServedRequests()
    note(served, "GET", b"/buckets")
    note(served, "DELETE", b"/buckets", 403)
    assert set(served.served) == {"GET /buckets"}


@pytest.mark.parametrize(
    ("method", "status", "is_suspect"),
    [("DELETE", 204, True), ("DELETE", 500, True), ("DELETE", 503, False), ("DELETE", 404, False), ("GET", 500, False)],
)
def test_a_deletion_with_a_server_error_may_have_ended_the_service(
    method: str, status: int, *, is_suspect: bool
) -> None:
    served = ServedRequests()
    note(served, "GET", b"/users/1/name")
    fake = Made(f"{method} /users/1")
    fake.operation.security = ()
    made, request = cast("GeneratedCase", fake), WireRequest(method, b"/users/1", [], None)
    served.arrived(made, request, Response(status, [], b""))
    assert [one.text for one in served.operations()] == ([f"{method} /users/1"] if is_suspect else [])
    served.note(made, request, status)
    assert ("GET /users/1/name" not in served.served) is is_suspect


LIST = {
    "openapi": "3.0.3",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {
            "get": {
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"200": {"description": ""}},
            }
        },
        "/orders/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {"responses": {"200": {"description": ""}}},
        },
        "/mine": {"get": {"responses": {"200": {"description": ""}}}},
    },
}
THINGS, ORDER, MINE = map(Label, ("GET /things", "GET /orders/{id}", "GET /mine"))


@dataclass
class Refusing(Memory):
    """Turns away whoever asks whether it still serves."""

    asked: list[bytes] = field(default_factory=list)

    def answer(self, request: WireRequest) -> Response:
        self.asked.append(request.target)
        return Response(401, [], b"", request=request)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[WorkerContext]:
    with workplace(tmp_path, document=LIST) as found:
        yield replace(found, http=Refusing(Random(1)))


def health_of(context: WorkerContext) -> tuple[TargetHealth, Receiver]:
    reading, writing = Pipe(duplex=False)
    return TargetHealth(context, Sender(writing)), Receiver(reading)


def shot(context: WorkerContext, label: Label, **parts: Any) -> tuple[GeneratedCase, WireRequest]:
    case = Case(context.subject.selected[label], "c", **parts)
    return GeneratedCase(case, label, (), (), literal_of(case)), context.tools.maker.make(case)


def test_what_a_worker_that_is_dead_was_served_tells_of_the_target(context: WorkerContext) -> None:
    dead, _ = health_of(context)
    context.recorder.keep(dead.served.answered(*shot(context, THINGS, query={"limit": 3}), 200))
    context.recorder.flush()
    context.knowledge.follow([str(context.recorder.journal.path)])
    mine, told = health_of(context)
    made, request = shot(context, MINE)
    refusal = Response(401, [], b"", request=request)
    assert ended(mine.holds(made, request, refusal), cast("Refusing", context.http).answer)
    assert cast("Refusing", context.http).asked == [b"/things?limit=3"]
    assert told.wait(0.0)
    said = told.get_nowait()
    assert isinstance(said, OutageReport)
    assert (said.event, said.trouble, said.doubted) == (OutageEvent.NOTICED, Trouble.REFUSED, None)


def test_nobody_is_asked_for_what_another_request_may_have_taken_away(context: WorkerContext) -> None:
    dead, _ = health_of(context)
    context.recorder.keep(dead.served.answered(*shot(context, ORDER, path_parameters={"id": 3}), 200))
    context.recorder.flush()
    context.knowledge.follow([str(context.recorder.journal.path)])
    mine, told = health_of(context)
    made, request = shot(context, MINE)
    assert not ended(
        mine.holds(made, request, Response(401, [], b"", request=request)), cast("Refusing", context.http).answer
    )
    assert not told.wait(0.0)


@pytest.mark.parametrize(("known", "asked"), [((ORDER, THINGS), [b"/things"]), ((ORDER,), [b"/orders/3"])])
def test_a_resource_that_may_be_gone_is_asked_for_only_if_nothing_else_was_served(
    context: WorkerContext, known: tuple[Label, ...], asked: list[bytes]
) -> None:
    mine, _ = health_of(context)
    for label in known:
        parts = {"path_parameters": {"id": 3}} if label == ORDER else {}
        mine.served.answered(*shot(context, label, **parts), 200)
    # Requests just before the refusal are asked last, because they may be the cause.
    for _ in range(3):
        mine.served.answered(*shot(context, MINE), 404)
    made, request = shot(context, MINE)
    ended(mine.holds(made, request, Response(403, [], b"", request=request)), cast("Refusing", context.http).answer)
    assert cast("Refusing", context.http).asked == asked


def test_a_worker_of_fuzz_learns_from_journals_of_others_and_not_from_its_own(
    context: WorkerContext, tmp_path: Path
) -> None:
    recorder, knowledge = context.recorder, context.knowledge
    recorder.journal.write(OperationProbed(THINGS, "1", "exploration", 3, is_judged=True))
    recorder.flush()
    knowledge.follow([str(recorder.journal.path)])
    knowledge.tick(1e9)
    assert not knowledge.probed.is_begun("1", THINGS)
    peer = tmp_path / "peer.journal"
    peer.write_bytes(recorder.journal.path.read_bytes())
    knowledge.follow([str(peer)])
    knowledge.tick(2e9)
    assert knowledge.probed.is_begun("1", THINGS)
