"""What making a case costs, over a folder with OpenAPI documents, or one document.

CPU microseconds a case, positive and negative, and their ratio to `orjson.dumps` of the case plus 100 calls of
`random()` in the same run; time to compile; memory of a thousand compiled operations. Share of optional properties
present and mean size of bodies are printed beside: small values must not buy speed.
"""

import gc
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, quantiles
from time import process_time
from typing import Any

import orjson
import psutil

from checker.core.case import NOT_SET, Case
from checker.core.errors import CheckerError
from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import RandomSource
from tests.measuring.corpora import openapi_documents, operations, share
from tests.measuring.sketches import drawn

CASES = 50
"""Measured at once; three times."""
RANDOMS = 100
IN_MEMORY = 1_000
"""Operations compiled to measure memory."""


@dataclass
class Figures:
    """What was measured of one mode: a number for each operation."""

    draw_us: list[float] = field(default_factory=list)
    ratio: list[float] = field(default_factory=list)
    compile_ms: list[float] = field(default_factory=list)
    body_bytes: list[float] = field(default_factory=list)
    choices: list[float] = field(default_factory=list)
    present: int = 0
    optional: int = 0
    refused: list[str] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    dearest: list[tuple[float, str]] = field(default_factory=list)


def measure(operation: Operation, mode: GenerationMode, name: str, figures: Figures) -> None:
    """Add the figures of one operation."""
    source = RandomSource(0)
    started = process_time()
    try:
        program = compile_operation(operation, GenerationSettings(mode=mode))
        compile_ms = (process_time() - started) * 1e3
        # What is made once, tables and validators, is made here.
        cases = [_case(program, source, seed) for seed in range(2 * CASES)]
    except CheckerError as error:
        figures.refused.append(f"{name}: {error}")
        return
    figures.compile_ms.append(compile_ms)
    figures.dearest.append((compile_ms, name))
    cost = median(_draw_us(program, source) for _ in range(3))
    figures.draw_us.append(cost)
    figures.slowest.append((cost, name))
    figures.ratio.append(cost / yardstick(cases))
    figures.choices.append(len(source.choices))
    bodies = [case.body for case in cases if _has_json(case)]
    if bodies:
        figures.body_bytes.append(fmean(len(_dumped(body)) for body in bodies))
        count_optional(operation, bodies, figures)


def _case(program: OperationProgram, source: RandomSource, seed: int) -> Case:
    source.reset(seed)
    return drawn(program, source)


def _draw_us(program: OperationProgram, source: RandomSource) -> float:
    started = process_time()
    for seed in range(CASES):
        source.reset(seed)
        drawn(program, source)
    return (process_time() - started) / CASES * 1e6


def yardstick(cases: list[Case]) -> float:
    """Microseconds of CPU for writing a case as JSON and 100 x `random()`."""
    values = [_value(case) for case in cases]
    dice = random.random
    started = process_time()
    for value in values:
        _dumped(value)
        for _ in range(RANDOMS):
            dice()
    return max((process_time() - started) / len(values) * 1e6, 0.1)


def _value(case: Case) -> list[Any]:
    body = None if case.body is NOT_SET else case.body
    return [case.path_parameters, case.query, case.headers, case.cookies, body]


def _dumped(value: Any) -> bytes:
    """As JSON; what JSON has no word for as text, and nothing for broken Unicode."""
    try:
        return orjson.dumps(value, default=repr)
    except TypeError:
        return b""


def _has_json(case: Case) -> bool:
    return case.body is not NOT_SET and "json" in (case.media_type or "")


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
        if name not in raw.get("required", ()) and isinstance(value, dict) and not value.get("readOnly")
    }
    for body in bodies:
        if isinstance(body, dict):
            figures.optional += len(optional)
            figures.present += len(optional & body.keys())


def row(name: str, values: list[float], unit: str) -> str:
    """Median, 90th percentile and largest of some values."""
    if len(values) < 2:
        return f"{name:32} -"
    cuts = quantiles(values, n=100)
    return f"{name:32} median {median(values):8.2f}  p90 {cuts[89]:8.2f}  max {max(values):8.2f}  {unit}"


def sampled(place: Path, part: slice) -> Iterator[tuple[str, Operation]]:
    """A part of the operations of all documents, with their names.

    What is read of a document is frozen, as workers do it: passes of the collector over it would count as compiling.
    """
    first, every, number = part.start or 0, part.step or 1, 0
    for path in openapi_documents(place):
        gc.unfreeze()
        for index, operation in enumerate(operations(path)):
            if index == 0:
                gc.collect()
                gc.freeze()
            if number % every == first:
                yield f"{path.name} {operation.label}", operation
            number += 1


def section(place: Path, options: list[str]) -> None:
    """Every operation, or every 20th with `1/20`; both modes, or the one that is named."""
    part = share(options)
    found = {mode: Figures() for mode in GenerationMode if mode in options}
    found = found or {mode: Figures() for mode in GenerationMode}
    for name, operation in sampled(place, part):
        for mode, figures in found.items():
            measure(operation, mode, name, figures)
    for mode, figures in found.items():
        print(f"{mode}: operations {len(figures.draw_us)}, refused {len(figures.refused)}")
        print(row(f"{mode} case", figures.draw_us, "us CPU"))
        print(row("  / yardstick", figures.ratio, "x (orjson.dumps + 100 random)"))
        print(row("  compile", figures.compile_ms, "ms CPU"))
        print(row("  choices", figures.choices, ""))
        print(row("  mean body", figures.body_bytes, "bytes"))
        for cost, label in sorted(figures.slowest)[-3:]:
            print(f"    slow: {cost:8.1f} us {label}")
        for cost, label in sorted(figures.dearest)[-3:]:
            print(f"    dear: {cost:8.1f} ms {label}")
        for text in figures.refused[:10]:
            print(f"    refused: {text}")
        present = 100 * figures.present / max(figures.optional, 1)
        print(f"{'  optional properties present':32} {present:15.1f}  %")
    if len(found) == 2:
        positive, negative = ({name: cost for cost, name in figures.slowest} for figures in found.values())
        both = [negative[name] / positive[name] for name in positive.keys() & negative.keys()]
        print(row("negative / positive", both, "x, of the same operation"))
    print(f"{'reset':32} {_reset_us():15.2f}  us CPU", flush=True)
    command = (sys.executable, "-m", "benchmarks.generation.speed", str(place))
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


def _reset_us() -> float:
    source = RandomSource(0)
    started = process_time()
    for seed in range(20_000):
        source.reset(seed)
    return (process_time() - started) / 20_000 * 1e6


def memory(place: Path) -> None:
    """What a thousand operations, from all documents alike, take when they are compiled and have each made ten cases."""
    every = max(1, sum(1 for _ in sampled(place, slice(None))) // IN_MEMORY)
    chosen = [operation for _, operation in sampled(place, slice(0, None, every))][:IN_MEMORY]
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    programs: list[OperationProgram] = []
    source = RandomSource(0)
    for operation in chosen:
        try:
            programs.append(compile_operation(operation, GenerationSettings()))
        except CheckerError:
            continue
    after = process.memory_info().rss
    for program in programs:
        for seed in range(10):
            _case(program, source, seed)
    drawn_from = process.memory_info().rss
    mib = 1 << 20
    print(
        f"{'memory':32} {len(programs)} operations {(after - before) / mib:.0f} MiB, {(drawn_from - before) / mib:.0f} MiB "
        f"once they have drawn; documents and libraries {before / mib:.0f} MiB"
    )


if __name__ == "__main__":
    memory(Path(sys.argv[1]))
