"""Does one seed give one report? Twenty runs over 1, 2 and 4 workers, half of them with workers that are killed.

    python -m benchmarks.equal_runs [RUNS]

Required: one report, test case ids included, up to what is of the machine (times, rates, ports) and the requests that
a killed worker's inquiries cost once more. The target is stateless: a mock of a described API that errs where the path says so.
"""

import re
import sys
import tempfile
from collections import Counter
from itertools import cycle, islice, product
from pathlib import Path

from tests.e2e.runner import Command
from tests.e2e.test_same_report import reported

_REQUESTS = re.compile(r"[\d,]+ requests, [\d,]+ of them")
_APPLICATION = "openapi"
_PATIENCE_S = 86_400.0
"""For one run: a busy machine is no reason to give up."""
_WORKERS, _LANES, _KILLS = (1, 2, 4), (1, 2), (0, 2)


def reports(runs: int, folder: Path) -> list[tuple[str, str]]:
    """(how it was run, what it told) of so many runs."""
    ways = islice(cycle(product(_WORKERS, _LANES, _KILLS)), runs)
    found: list[tuple[str, str]] = []
    for number, (workers, lanes, kills) in enumerate(ways):
        text, met = reported(
            Command(folder / str(number), timeout_s=_PATIENCE_S),
            _APPLICATION,
            workers=workers,
            lanes=lanes,
            kills=kills,
        )
        how = f"{workers} workers, {lanes} lanes, {kills} kills"
        found.append((how, _REQUESTS.sub("~", text) + repr(sorted(met))))
        same = found[-1][1] == found[0][1]
        print(f"{number + 1:3} {how}: {'the same' if same else 'ANOTHER'}", flush=True)
    return found


def main(arguments: list[str]) -> int:
    """0 when all runs tell the same."""
    runs = int(arguments[0]) if arguments else 20
    with tempfile.TemporaryDirectory() as scratch:
        told = Counter(text for _, text in reports(runs, Path(scratch)))
    print(f"{runs} runs, {len(told)} different reports")
    return int(len(told) != 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
