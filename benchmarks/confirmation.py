"""Failures that are stable, that come now and then, and that need two earlier steps: each has to be called what it is.

    python -m benchmarks.confirmation [SEED ...]

Required, with every seed: each failure has its class in every output; each command printed for a stable one, pasted into bash
against a fresh instance, fails as told, and so does the printed sequence.
"""

import sys
import tempfile
from pathlib import Path

from tests.e2e.confirming import (
    CLASSES,
    REPORTS,
    SEQUENCE,
    classes,
    confirmed_run,
    failures,
    pasted,
    tells_classes,
    text_of,
)
from tests.e2e.runner import Command

_SEEDS = range(1, 11)
_OUTPUTS = ("console", *REPORTS)
_PASTED = ("stable", SEQUENCE)


def main() -> int:
    """Print a line for each seed; exit code 1 when one is not as required."""
    is_well = True
    print(f"{'seed':>4}{'classes':>9}{'outputs':>9}{'pasted':>8}")
    for seed in tuple(map(int, sys.argv[1:])) or _SEEDS:
        right, outputs, shown, printed = _counts(seed)
        wanted = (len(CLASSES), len(_OUTPUTS), printed)
        is_well &= (right, outputs, shown) == wanted and printed > 0
        columns = [f"{a}/{b}" for a, b in zip((right, outputs, shown), wanted, strict=True)]
        print(f"{seed:>4}{columns[0]:>9}{columns[1]:>9}{columns[2]:>8}", flush=True)
    return int(not is_well)


def _counts(seed: int) -> tuple[int, int, int, int]:
    """(failures of the right class, outputs that tell all classes, failures that show when pasted, failures pasted) of one run."""
    with tempfile.TemporaryDirectory() as folder:
        ran = confirmed_run(Command(Path(folder).resolve()), seed)
        right = len(classes(ran).items() & CLASSES.items()) - len(classes(ran).keys() - CLASSES)
        outputs = sum(tells_classes(text_of(ran, output)) for output in _OUTPUTS)
        tried = [one for one in failures(ran) if one["stability"] in _PASTED]
        shown = sum(
            pasted(one["reproduce"])[-1] == one["answer"].partition(" ")[0]
            # What people are shown is what was pasted.
            and all(command in ran.stdout for command in one["reproduce"])
            for one in tried
        )
        return right, outputs, shown, len(tried)


if __name__ == "__main__":
    sys.exit(main())
