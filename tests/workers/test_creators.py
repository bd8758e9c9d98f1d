"""The creations that are put before a failing case."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as evolve

from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import Label
from checker.core.phases import phase_named
from checker.core.request import Location
from checker.kinds.protocol import ApiOperation
from checker.workers.failures.creators import with_creators
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
        steps = with_creators(factory, context.subject.selected.resources, [evolve(last, bindings=(binding,))])
    assert [one.label for one in steps] == ["POST /things", "GET /things/{id}"]
    assert operations.read == {"POST /things"}
