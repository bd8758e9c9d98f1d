"""What compiling costs, operation by operation, over every document: the dearest are named."""

import gc
from collections import Counter
from pathlib import Path
from time import process_time

from benchmarks.generation.speed import row, sampled
from checker.core.errors import CheckerError
from checker.core.meta import GenerationMode
from checker.generation.program import GenerationSettings, compile_operation
from tests.measuring.corpora import share

SHOWN = 10
"""Operations that are named."""
LIMIT_MS = 200.0


def section(place: Path, options: list[str]) -> None:
    """Positive programs of every operation; of every 20th with `1/20`, negative ones with `negative`."""
    part = share(options)
    mode = GenerationMode.NEGATIVE if "negative" in options else GenerationMode.POSITIVE
    costs: list[tuple[float, str]] = []
    refused: Counter[str] = Counter()
    gc.disable()
    for name, operation in sampled(place, part):
        started = process_time()
        try:
            compile_operation(operation, GenerationSettings(mode=mode))
        except CheckerError as error:
            refused[type(error).__name__] += 1
        # What is refused had to be read as well.
        costs.append(((process_time() - started) * 1e3, name))
        if len(costs) % 500 == 0:
            gc.collect()
    gc.enable()
    print(row(f"{mode} compile", [cost for cost, _ in costs], "ms CPU"))
    above = sum(cost > LIMIT_MS for cost, _ in costs)
    print(f"operations {len(costs)}, above {LIMIT_MS:.0f} ms: {above}, refused {dict(refused)}")
    for cost, name in sorted(costs, reverse=True)[:SHOWN]:
        print(f"    {cost:8.1f} ms  {name}")
