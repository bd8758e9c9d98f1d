"""Operations sketched in Python: what the sections of the benchmark need of a document, and no more."""

from collections.abc import Mapping
from typing import Any

from checker.core.case import Case
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.operation import BrokenOperation, Operation
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import Source
from checker.openapi import loaders

PHASE = PhaseInfo("benchmark")
Schema = Mapping[str, Any]
_PATH = "/things/{id}"
_ID: Schema = {"type": "string"}


def sketched(
    body: Schema | None = None,
    *,
    components: Mapping[str, Schema] | None = None,
    path: Schema = _ID,
    **parameters: Schema,
) -> Operation:
    """`PUT /things/{id}` with a JSON body and parameters.

    Parameters are named by their location: `query_page`, `header_trace`, `cookie_session`; `required_query_page` must
    be there. An underscore in what follows is a hyphen in a header.
    """
    declared = [{"name": "id", "in": "path", "required": True, "schema": path}]
    declared += [_parameter(name, schema) for name, schema in parameters.items()]
    operation: dict[str, Any] = {"parameters": declared, "responses": {"200": {"description": "fine"}}}
    if body is not None:
        content = {"application/json": {"schema": body}}
        operation["requestBody"] = {"required": True, "content": content}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "sketch", "version": "1"},
        "paths": {_PATH: {"put": operation}},
        "components": {"schemas": components or {}},
    }
    (found,) = loaders.from_dict(document).get_all_operations()
    if isinstance(found, BrokenOperation):
        raise ValueError(f"the sketch cannot be read: {found}")
    return found


def _parameter(name: str, schema: Schema) -> dict[str, Any]:
    is_required = name.startswith("required_")
    location, _, rest = name.removeprefix("required_").partition("_")
    called = rest.replace("_", "-") if location == "header" else rest
    return {"name": called, "in": location, "required": is_required, "schema": schema}


def program_of(operation: Operation, mode: GenerationMode = GenerationMode.POSITIVE) -> OperationProgram:
    """The compiled operation."""
    return compile_operation(operation, GenerationSettings(mode=mode))


def drawn(program: OperationProgram, source: Source) -> Case:
    """One case."""
    return program.draw(source, case_id="benchmark", phase=PHASE)
