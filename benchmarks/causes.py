"""Twelve mistakes that show in 144 places: twelve causes, and the same ones whoever finds them.

    python -m benchmarks.causes [SEED ...]

Required: with each seed, and with 1 to 4 workers, twelve causes of which each lists its places, with the fingerprints of the
first run.
"""

import sys
import tempfile
from itertools import product
from pathlib import Path

from tests.apps.serving import serving
from tests.apps.sloppy import DOCUMENT, answer
from tests.e2e.test_causes import places, sloppy_run, verdict

_SEEDS = range(1, 11)
_WORKERS = (1, 2, 3, 4)
_CAUSES, _PLACES = 12, 144


def main() -> int:
    """Print a line for each run; exit code 1 when one is not as required."""
    is_well, first = True, None
    print(f"{'seed':>4}{'workers':>9}{'causes':>8}{'places':>8}  fingerprints")
    with serving(answer, DOCUMENT) as app:
        for seed, workers in product(tuple(map(int, sys.argv[1:])) or _SEEDS, _WORKERS):
            with tempfile.TemporaryDirectory() as folder:
                ran = sloppy_run(app, Path(folder).resolve(), seed=seed, workers=workers)
                found = places(verdict(ran))
            first = first or found
            count = sum(len(one) for _, one in found)
            is_same = found == first
            is_well &= is_same and (len(found), count) == (_CAUSES, _PLACES)
            shown = "the same" if is_same else "OTHERS"
            print(f"{seed:>4}{workers:>9}{len(found):>8}{count:>8}  {shown}", flush=True)
    return int(not is_well)


if __name__ == "__main__":
    sys.exit(main())
