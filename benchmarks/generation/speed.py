"""What making a case costs, over a folder with OpenAPI documents, or one document.

Prints CPU microseconds a case and their ratio to `orjson.dumps(body)` plus 100 calls of `random()` in the same run,
time to compile, share of optional properties present, and mean size of bodies: small values must not buy speed.
"""

import random
import resource
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, quantiles
from time import process_time
from typing import Any

import orjson

from benchmarks.generation.corpora import openapi_documents, operations
from checker.core.case import NOT_SET
from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Operation
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources import RandomSource

CASES = 100
RANDOMS = 100
PHASE = PhaseInfo("benchmark")


@dataclass
class Figures:
    """What was measured."""

    draw_us: list[float] = field(default_factory=list)
    body_draw_us: list[float] = field(default_factory=list)
    ratio: list[float] = field(default_factory=list)
    compile_ms: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    present: int = 0
    optional: int = 0
    choices: list[int] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    opaque: int = 0
    slowest: list[tuple[float, str]] = field(default_factory=list)


def measure(operation: Operation, source: RandomSource, figures: Figures) -> None:
    started = process_time()
    try:
        program = compile_operation(operation, GenerationSettings())
        figures.compile_ms.append((process_time() - started) * 1e3)
        bodies = drawn(program, source)
    except CheckerError as error:
        figures.refused.append(f"{operation.label}: {error}")
        return
    figures.opaque += len(program.opaque)
    started = process_time()
    for seed in range(CASES):
        source.reset(seed)
        program.draw(source, case_id="benchmark", phase=PHASE)
    cost = (process_time() - started) / CASES * 1e6
    figures.draw_us.append(cost)
    figures.slowest.append((cost, operation.label))
    figures.choices.append(len(source.choices))
    if bodies:
        figures.body_draw_us.append(cost)
        figures.ratio.append(cost / yardstick(bodies))
        figures.sizes.append(int(fmean(len(orjson.dumps(body)) for body in bodies)))
        count_optional(operation, bodies, figures)


def drawn(program: OperationProgram, source: RandomSource) -> list[Any]:
    """JSON bodies; also warms up what is made once."""
    found = []
    for seed in range(CASES):
        source.reset(seed)
        case = program.draw(source, case_id="benchmark", phase=PHASE)
        if case.body is not NOT_SET and "json" in (case.media_type or ""):
            found.append(case.body)
    return found


def yardstick(bodies: list[Any]) -> float:
    """Microseconds of CPU for `orjson.dumps(body)` and 100 x `random()`."""
    dice = random.random
    started = process_time()
    for body in bodies:
        orjson.dumps(body)
        for _ in range(RANDOMS):
            dice()
    return max((process_time() - started) / len(bodies) * 1e6, 0.1)


def count_optional(operation: Operation, bodies: list[Any], figures: Figures) -> None:
    """Optional properties at the top of bodies whose schema says plainly what is required."""
    raw: Any = operation.bodies[0].schema.raw
    if isinstance(raw, dict) and "$ref" in raw:
        raw = operation.bodies[0].schema.document.resolve(raw["$ref"], at="#")[0]
    if not isinstance(raw, dict) or not isinstance(raw.get("properties"), dict):
        return
    optional = {
        name
        for name, value in raw["properties"].items()
        if name not in raw.get("required", ())
        and isinstance(value, dict)
        and not value.get("readOnly")
    }
    for body in bodies:
        if isinstance(body, dict):
            figures.optional += len(optional)
            figures.present += len(optional & body.keys())


def row(name: str, values: list[float], unit: str) -> str:
    if len(values) < 2:
        return f"{name:28} -"
    cuts = quantiles(values, n=100)
    return f"{name:28} median {median(values):9.2f}  p90 {cuts[89]:9.2f}  max {max(values):9.2f}  {unit}"


def section(place: Path, options: list[str]) -> None:
    figures, source, dice = Figures(), RandomSource(0), 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for path in openapi_documents(place):
        for operation in operations(path):
            measure(operation, source, figures)
            dice += 1
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = process_time()
    for seed in range(10_000):
        source.reset(seed)
    reset_us = (process_time() - started) / 10_000 * 1e6
    print(f"operations {dice}, refused {len(figures.refused)}, opaque nodes {figures.opaque}")
    print(row("case", figures.draw_us, "us CPU"))
    print(row("case with a JSON body", figures.body_draw_us, "us CPU"))
    print(row("the same / yardstick", figures.ratio, "x (orjson.dumps + 100 random)"))
    print(row("compile", figures.compile_ms, "ms CPU"))
    print(row("choices", [float(count) for count in figures.choices], ""))
    print(row("mean body", [float(size) for size in figures.sizes], "bytes"))
    print(f"{'reset':28} {reset_us:16.2f}  us CPU")
    print(
        f"{'optional properties present':28} {100 * figures.present / max(figures.optional, 1):16.1f}  %"
    )
    print(
        f"{'resident':28} {before / 1024:.0f} -> {after / 1024:.0f} MiB, documents and validators included"
    )
    for cost, label in sorted(figures.slowest)[-5:]:
        print(f"  slow: {cost:8.1f} us {label}")
    for text in figures.refused[:20]:
        print(f"  refused: {text}")
