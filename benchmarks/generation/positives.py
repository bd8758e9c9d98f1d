"""Twenty positive values of every schema: valid by both oracles, and different from each other where the schema admits it."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from checker.generation.sources.choices import RandomSource
from tests.measuring.corpora import READERS, Sample, share
from tests.measuring.positives import Verdict, judged


def section(corpora: Path, options: list[str]) -> None:
    """Judge the schemas of all corpora, or of the named ones; `1/20` takes every 20th."""
    part = share(options)
    kinds = [option for option in options if option in READERS]
    for kind in kinds or list(READERS):
        samples = islice(READERS[kind](corpora), part.start, None, part.step)
        report(kind, (judged(sample, RandomSource(0)) for sample in _wanted(kind, samples)))


def _wanted(kind: str, samples: Iterator[Sample]) -> Iterator[Sample]:
    """Those that have to have values: of the suite, only those with a valid instance."""
    return (sample for sample in samples if kind != "suite" or sample.is_satisfiable)


def report(kind: str, verdicts: Iterator[Verdict], show: Callable[[str], object] = print) -> None:
    """Print what became of the schemas of one corpus."""
    counts: Counter[str] = Counter()
    opaque = nodes = disagreeing = 0
    slowest: tuple[float, str] = (0.0, "")
    shown: Counter[str] = Counter()
    for verdict in verdicts:
        counts[verdict.kind] += 1
        opaque += verdict.opaque
        nodes += verdict.nodes
        disagreeing += bool(verdict.disagreements)
        slowest = max(slowest, (verdict.compile_ms, verdict.sample.name))
        if verdict.kind != "right":
            shown[verdict.detail] += 1
            if shown[verdict.detail] == 1:
                show(f"  {verdict.kind}: {verdict.sample.name}: {verdict.detail[:300]}")
                sys.stdout.flush()
    total = counts.total()
    readable = max(total - counts["unread"], 1)
    right = counts["right"] + counts["refused"]
    show(f"{kind}: {total} schemas: {dict(counts)}")
    show(f"  fully right {100 * right / readable:.2f} % of {readable}")
    show(f"  schemas with a disagreement of the oracles {disagreeing}")
    show(f"  opaque nodes {opaque} of {nodes}, {100 * opaque / max(nodes, 1):.2f} %")
    show(f"  slowest to compile {slowest[0]:.0f} ms, {slowest[1]}")
