"""Steps of sequences whose body names the resource of their own path."""

from typing import Any, Final

from checker.config.settings import SequenceSettings
from checker.core.meta import PhaseInfo
from checker.generation.program import GenerationSettings
from checker.openapi.loaders import from_dict
from checker.phases.case_factory import CaseFactory, GenerationRules, ReusedValues
from checker.phases.sequences import SequenceBuilder
from tests.checks.asked import POSITIVE, Exchanges, operations_of

_MADE: Final = {"type": "object", "properties": {"id": {"type": "string"}}}
_CREATED: Final = {"201": {"description": "", "content": {"application/json": {"schema": _MADE}}}}
_COPY: Final = {"type": "object", "properties": {"folder_id": {"type": "string"}}, "required": ["folder_id"]}
_FILE: Final = {"name": "file_id", "in": "path", "required": True, "schema": {"type": "string"}}
PATHS: Final[dict[str, Any]] = {
    "/folders": {"post": {"responses": _CREATED}},
    "/files": {"post": {"responses": _CREATED}},
    "/files/{file_id}/copy": {
        "parameters": [_FILE],
        "post": {
            "requestBody": {"required": True, "content": {"application/json": {"schema": _COPY}}},
            "responses": _CREATED,
        },
    },
}


def test_a_file_is_seldom_copied_onto_itself() -> None:
    operations, phase = operations_of(PATHS), PhaseInfo("exploration")
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": PATHS}
    rules = GenerationRules.alike(GenerationSettings())
    factory = CaseFactory(dict(operations), rules, ReusedValues(lambda *_: None, ()))  # type: ignore[arg-type]
    builder = SequenceBuilder(factory, from_dict(document).resources(), SequenceSettings(), "127.0.0.1")
    them = Exchanges(operations)
    steps = [
        them.sent(label, 201, [("Content-Type", "application/json")], answer=answer, mode=POSITIVE, phase="exploration")
        for label, answer in (("POST /folders", b'{"id": "folder-1"}'), ("POST /files", b'{"id": "file-2"}'))
    ]
    made = [builder.follow(steps, 7, index, phase) for index in range(600)]
    bodies = [one.case.body for one in made if one is not None and one.label == "POST /files/{file_id}/copy"]
    named = [one["folder_id"] for one in bodies if isinstance(one, dict) and "folder_id" in one]
    assert 0 < named.count("file-2") < len(named) / 8, (len(named), named.count("file-2"))
    assert named.count("folder-1") > len(named) / 2
