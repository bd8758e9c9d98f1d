"""The creations that are put before a failing case."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as evolve

from checker.checks.judge import CLEAN
from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import Label
from checker.core.phases import phase_named
from checker.core.request import Location, WireRequest
from checker.core.response import Response
from checker.kinds.protocol import ApiOperation
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase
from checker.workers.failures.creators import Creations
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.jobs import Job
from checker.workers.recording.unconfirmed import JudgedCase
from tests.workers.harness import workplace

PHASE = PhaseInfo("fuzzing")
TEXT = {"type": "string"}
SHOWN = {"200": {"description": "", "content": {"application/json": {"schema": {"properties": {"id": TEXT}}}}}}
ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}


class Recording(Mapping[Label, ApiOperation]):
    """Operations of which it is known which ones were read."""

    def __init__(self, inner: Mapping[Label, ApiOperation]) -> None:
        self.inner = inner
        self.read: set[Label] = set()

    def __getitem__(self, label: Label) -> ApiOperation:
        self.read.add(label)
        return self.inner[label]

    def __iter__(self) -> Iterator[Label]:
        return iter(self.inner)

    def __len__(self) -> int:
        return len(self.inner)

    def __contains__(self, label: object) -> bool:
        return label in self.inner


def _created(made: GeneratedCase, earlier: Sequence[JudgedCase]) -> Job[JudgedCase]:
    """Return a response that states a new name; nothing is sent."""
    yield from ()
    request = WireRequest(made.case.method, b"/things", [])
    outcome = Response(201, {"content-type": "application/json"}, b'{"id":"new"}', request=request)
    return JudgedCase(made, Verdict(made.case, request, outcome, CLEAN))


def _of(job: Job[list[GeneratedCase]]) -> list[GeneratedCase]:
    try:
        next(job)
    except StopIteration as end:
        return list(end.value)
    raise AssertionError("the job asks for something")


def test_a_creation_is_found_without_reading_other_operations(tmp_path: Path) -> None:
    paths: dict[str, Any] = {f"/other{n}": {"get": {"responses": SHOWN}} for n in range(9)}
    paths["/things"] = {"get": {"responses": SHOWN}, "post": {"responses": SHOWN}}
    paths["/things/{id}"] = {"get": {"parameters": [ID], "responses": SHOWN}}
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}
    with workplace(tmp_path, document=document) as context:
        operations = Recording(context.factory.operations)
        factory = replace(context.factory, operations=operations)
        last = factory.maker(phase_named("fuzzing"))(Label("GET /things/{id}"), 1, 0, PHASE)
        last.case.path_parameters["id"] = "7"
        binding = Binding(Location.PATH, "id", Label("GET /things"), "/0/id", 0, "7")
        operations.read.clear()
        creations = Creations(factory, context.subject.selected.resources, FreshNames(context), _created)
        (linked,) = _of(creations.before([evolve(last, bindings=(binding,))]))
    assert [one.made.label for one in creations.shots] == ["POST /things"]
    assert operations.read == {"POST /things"}
    assert [one.literal for one in linked.bindings] == ["new"]
