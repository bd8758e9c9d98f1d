"""The referee against the generator: cases of every operation of a corpus, encoded to bytes and judged."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from checker.core.contract import Outcome, PartVerdict
from checker.core.errors import CheckerError
from checker.core.media_types import is_json
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.operation import BrokenOperation, Location, Operation
from checker.core.request import BaseUrl
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi import loaders
from checker.transport.prepare import RequestMaker
from tests.measuring.corpora import openapi_documents

CASES = 50
_ORIGIN = BaseUrl("http", "127.0.0.1", 80, "/base")


@dataclass
class Tally:
    """What became of the cases of one mode."""

    operations: int = 0
    cases: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """Positives judged invalid, or negatives judged valid."""
    ambiguous: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By cell and reason."""
    examples: dict[tuple[str, str], str] = field(default_factory=dict)
    json_bodies: int = 0
    ambiguous_json: int = 0
    unmade: Counter[str] = field(default_factory=Counter)
    """Operations and cases that were not made, by reason."""


def operations(corpora: Path, names: list[str]) -> Iterator[tuple[str, Operation]]:
    """Operations of the documents that load."""
    for path in openapi_documents(corpora):
        if names and not any(name in path.name for name in names):
            continue
        try:
            schema = loaders.from_path(path)
        except CheckerError:
            continue
        for operation in schema.get_all_operations():
            if not isinstance(operation, BrokenOperation):
                yield path.name, operation


def judge(name: str, operation: Operation, mode: GenerationMode, cases: int, tally: Tally) -> None:
    """Make, encode and judge the cases of one operation."""
    if operation.has_skipped_required_body and not mode.is_negative:
        # Without its body no request to it is valid, and nobody means it to be.
        tally.unmade["a body is required that cannot be written"] += 1
        return
    try:
        program = compile_operation(operation, GenerationSettings(mode=mode))
    except CheckerError as error:
        tally.unmade[_reason(error)] += 1
        return
    tally.operations += 1
    source, maker = RandomSource(0), RequestMaker(_ORIGIN, version="0")
    for seed in range(cases):
        source.reset(seed)
        try:
            case = program.draw(source, case_id=str(seed), phase=PhaseInfo("fuzzing"))
            request = maker.make(case)
        except (CheckerError, ValueError) as error:
            tally.unmade[f"{_reason(error)} ({name} {operation.label})"] += 1
            continue
        verdict = operation.judge_request(request, base_path=_ORIGIN.base_path)
        tally.cases += 1
        tally.outcomes[verdict.outcome] += 1
        wrong = Outcome.VALID if mode.is_negative else Outcome.INVALID
        if verdict.outcome is wrong:
            said = "; ".join(map(told, verdict.invalid)) or "valid"
            tally.wrong.append(f"{name} {operation.label} [{seed}] {request.target!r}: {said}")
        has_json = request.body is not None and is_json(case.media_type or "application/json")
        tally.json_bodies += has_json
        for part in verdict.ambiguous if verdict.outcome is Outcome.AMBIGUOUS else ():
            cell = (_cell(operation, part, case.media_type), part.reason)
            tally.ambiguous[cell] += 1
            tally.examples.setdefault(cell, f"{name} {operation.label} {told(part)}")
            # Without the null that may stand for no body: it is sent for server errors.
            is_null = (request.body or b"").strip() == b"null"
            tally.ambiguous_json += has_json and part.location is Location.BODY and not is_null


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).rpartition(': ')[2][:100]}"


def _cell(operation: Operation, part: PartVerdict, media_type: str | None) -> str:
    if part.location is Location.BODY:
        return f"body {media_type}"
    for parameter in operation.parameters:
        if (parameter.location, parameter.name) == (part.location, part.name):
            explode = "*" if parameter.explode else ""
            return f"{part.location} {parameter.media_type or parameter.style}{explode}"
    return str(part.location)


def told(part: PartVerdict) -> str:
    """A verdict in one line."""
    where = "".join(f"/{token}" for token in part.instance_path)
    value = repr(part.value)[:80]
    return f"{part.location} {part.name!r}{where} {part.keyword} at {part.pointer}: {part.reason[:160]} ({value})"
