"""API descriptions as they are found: what opening one costs, and whether every operation can be used.

    python -m benchmarks.documents CORPORA [1/20] [NAME...]

Required of each document: opened and all of its operations read in a process of its own within 5 s CPU and 600 MiB, or
refused with one sentence; 99 % open. Of each operation: 10 valid cases are made, encoded, and called valid by the referee;
99 % do, the others have a reason. Of the largest documents: the first request after 3 CPU-s. Of those over a megabyte: the
second start within interpreter + imports + 3 x parse. `1/20` tries every 20th operation, names pick documents.
"""

import json
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.startup import first_request
from checker.core.contract import Outcome
from checker.core.errors import CheckerError, LoaderError
from checker.core.meta import PhaseInfo
from checker.core.operation import BrokenOperation
from checker.core.request import BaseUrl
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi import loaders
from checker.openapi.operation import OpenApiOperation
from checker.transport.prepare import RequestMaker

OPEN_LIMIT_S, MEMORY_LIMIT_MIB = 5.0, 600
OPENED_LIMIT = USABLE_LIMIT = 0.99
FIRST_LIMIT_S = 3.0
PARSES_LIMIT = 3.0
LARGE_BYTES = 1_000_000
CASES = 10
LARGEST = ("api.github.com", "vault", "Integrations-kubernetes")
_ORIGIN = BaseUrl("http", "127.0.0.1", 80, "")


@dataclass
class Opening:
    """What one process says of one document."""

    refusal: str | None = None
    """Why it cannot be opened."""
    cpu_s: float = 0.0
    """Of the whole process, its imports included."""
    mebibytes: float = 0.0
    operations: int = 0
    unusable: dict[str, str] = field(default_factory=dict)
    """Label -> reason."""


def opened(path: Path) -> Opening:
    """Open a document and read all of it, in this process."""
    try:
        schema = loaders.from_path(path)
    except LoaderError as error:
        return Opening(error.message, *_spent())
    count = sum(1 for _ in schema.get_all_operations())
    return Opening(None, *_spent(), count)


def unusable(path: Path, every: int) -> Iterator[tuple[str, str | None]]:
    """Labels of every n-th operation, each with the reason why it cannot be used, if any."""
    for number, operation in enumerate(loaders.from_path(path).get_all_operations()):
        if number % every == 0:
            yield operation.label, _reason(operation)


def _reason(operation: OpenApiOperation | BrokenOperation) -> str | None:
    if isinstance(operation, BrokenOperation):
        return f"cannot be read: {operation.error}"
    source, maker = RandomSource(0), RequestMaker(_ORIGIN, version="0")
    try:
        program = compile_operation(operation, GenerationSettings())
        for seed in range(CASES):
            source.reset(seed)
            case = program.draw(source, case_id=str(seed), phase=PhaseInfo("fuzzing"))
            verdict = operation.judge_request(maker.make(case))
            if verdict.outcome is Outcome.INVALID:
                part = verdict.invalid[0]
                return f"case {seed} is judged invalid: {part.location} {part.name!r} {part.keyword} at {part.pointer}: {part.reason}"
    except CheckerError as error:
        return f"{type(error).__name__}: {error}"
    return None


def main(arguments: list[str]) -> int:
    """Print the figures; exit code 1 when a limit is broken."""
    corpora, *options = arguments
    every = next((int(option[2:]) for option in options if option.startswith("1/")), 1)
    names = [option for option in options if not option.startswith("1/")]
    paths = [
        path
        for path in sorted(Path(corpora, "openapi").iterdir())
        if not names or any(name in path.name for name in names)
    ]
    openings = {path: _apart(path, every) for path in paths}
    is_broken = _report_openings(openings)
    is_broken |= _report_operations(openings, every)
    is_broken |= _report_first(openings)
    return int(is_broken | _report_second(openings))


def _apart(path: Path, every: int) -> Opening:
    """An opening in two processes of its own: one opens, one uses."""
    found = Opening(**_said("--open", path))
    if found.refusal is None:
        found.unusable = _said("--use", path, str(every))
    return found


def _said(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.documents", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        return {"refusal": f"CRASHED: {done.stderr.decode()[-400:]}"}
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _report_openings(openings: dict[Path, Opening]) -> bool:
    refused = {path: one.refusal for path, one in openings.items() if one.refusal}
    share = 1 - len(refused) / len(openings)
    print(f"documents opened: {share:.2%} of {len(openings)} (required {OPENED_LIMIT:.0%})")
    for path, reason in refused.items():
        print(f"  refused {path.name}: {reason}")
    slowest = max(openings, key=lambda path: openings[path].cpu_s)
    largest = max(openings, key=lambda path: openings[path].mebibytes)
    print(f"slowest: {openings[slowest].cpu_s:.2f} CPU-s (limit {OPEN_LIMIT_S}), {slowest.name}")
    print(f"most memory: {openings[largest].mebibytes:.0f} MiB (limit {MEMORY_LIMIT_MIB}), {largest.name}")
    return (
        share < OPENED_LIMIT
        or openings[slowest].cpu_s > OPEN_LIMIT_S
        or openings[largest].mebibytes > MEMORY_LIMIT_MIB
        or any("CRASHED" in (reason or "") for reason in refused.values())
    )


def _report_operations(openings: dict[Path, Opening], every: int) -> bool:
    total = sum(-(-one.operations // every) for one in openings.values())
    lost = [(path, label, str(reason)) for path, one in openings.items() for label, reason in one.unusable.items()]
    share = 1 - len(lost) / max(total, 1)
    print(f"operations usable: {share:.2%} of {total} (required {USABLE_LIMIT:.0%})")
    kinds = Counter(reason.split(":")[0] for _, _, reason in lost)
    for kind, count in kinds.most_common():
        print(f"  {count} x {kind}")
    for path, label, reason in lost:
        print(f"    {path.name} {label}: {reason[:300]}")
    return share < USABLE_LIMIT


def _report_first(openings: dict[Path, Opening]) -> bool:
    is_broken = False
    for path, one in openings.items():
        if one.refusal or not any(name in path.name for name in LARGEST):
            continue
        described = path.read_bytes()
        first_s = min(first_request(described)[0] for _ in range(2))
        print(
            f"first request after {first_s:.2f} CPU-s (limit {FIRST_LIMIT_S}): {path.name} of {one.operations} operations"
        )
        is_broken |= first_s > FIRST_LIMIT_S
    return is_broken


def _report_second(openings: dict[Path, Opening]) -> bool:
    is_broken = False
    for path, one in openings.items():
        if one.refusal or path.stat().st_size < LARGE_BYTES:
            continue
        command = [sys.executable, "-m", "benchmarks.second_start", str(path)]
        start_s, parse_s = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        print(
            f"second start {start_s * 1000:.0f} ms = {start_s / parse_s:.1f} x parse (limit {PARSES_LIMIT:.0f}): {path.name}"
        )
        is_broken |= start_s > PARSES_LIMIT * parse_s
    return is_broken


def _spent() -> tuple[float, float]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    if sys.argv[1] == "--open":
        print(json.dumps(opened(Path(sys.argv[2])).__dict__))
    elif sys.argv[1] == "--use":
        reasons = unusable(Path(sys.argv[2]), int(sys.argv[3]))
        print(json.dumps({label: reason for label, reason in reasons if reason is not None}))
    else:
        raise SystemExit(main(sys.argv[1:]))
