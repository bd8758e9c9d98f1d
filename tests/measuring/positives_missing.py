"""Operations that have no positive case, and parts that no positive case has: all are known, or somebody has to look."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from checker.core.contract import Outcome
from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import BrokenOperation
from checker.core.request import BaseUrl
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi import loaders
from checker.openapi.operation import OpenApiOperation
from checker.transport.prepare import RequestMaker

_CASES = 10
"""Tried for each operation: one that is not judged invalid is enough."""
_ORIGIN = BaseUrl("http", "127.0.0.1", 80, "")
_WHOLE = "*"


class Place(NamedTuple):
    """What is without a positive case."""

    document: str
    name: str
    """Label of an operation, pointer of a part, or `*` for all of the document."""


class Looked(NamedTuple):
    """What was found in one document."""

    operations: int
    without: dict[Place, str]
    """Each with the reason."""


def look(path: Path) -> Looked:
    """Make a positive case of each operation of a document."""
    try:
        schema = loaders.from_path(path)
    except CheckerError as error:
        return Looked(0, {Place(path.name, _WHOLE): f"cannot be opened: {error}"})
    total, without = 0, {}
    for operation in schema.get_all_operations():
        total += 1
        for name, reason in _without(operation):
            without[Place(path.name, name)] = reason
    return Looked(total, without)


def _without(operation: OpenApiOperation | BrokenOperation) -> Iterator[tuple[str, str]]:
    if isinstance(operation, BrokenOperation):
        yield operation.label, f"cannot be read: {operation.error}"
        return
    unusable = {one.pointer: one.reason for one in operation.unusable_bodies}
    if operation.has_skipped_required_body:
        reasons = "; ".join(unusable.values())
        yield operation.label, f"a body is required that cannot be sent: {reasons}"
        return
    try:
        program = compile_operation(operation, GenerationSettings())
        reason = _objection(operation, program)
    except (CheckerError, ValueError) as error:
        yield operation.label, f"{type(error).__name__}: {error}"
        return
    if reason is not None:
        yield operation.label, f"judged invalid: {reason}"
    yield from {**program.left_out, **unusable, **operation.unusable_parameters}.items()


def _objection(operation: OpenApiOperation, program: OperationProgram) -> str | None:
    """What the referee has against the last case; None when it has nothing against one of them."""
    source, maker = RandomSource(0), RequestMaker(_ORIGIN, version="0")
    reason = None
    for seed in range(_CASES):
        source.reset(seed)
        case = program.draw(source, case_id=str(seed), phase=PhaseInfo("fuzzing"))
        verdict = operation.judge_request(maker.make(case))
        if verdict.outcome is not Outcome.INVALID:
            return None
        part = verdict.invalid[0]
        reason = f"{part.location} {part.name!r} {part.keyword} at {part.pointer}: {part.reason}"
    return reason
