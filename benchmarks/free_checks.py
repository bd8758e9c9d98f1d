"""What the checks of behaviour that send no requests cost a whole `fuzz`: requests per CPU-second with them and without.

    python -m benchmarks.free_checks [SECONDS]

The target is the fixed twin of a service of `benchmarks.exploration`, so that no finding is investigated. Runs alternate, each
with start-up. Required: with them >= 0.9 x the requests per CPU-second without. Linux.
"""

import sys
from statistics import median

from benchmarks.exploration.__main__ import serving
from benchmarks.run_speed import measured

FREE = ("read_your_writes", "refused_write", "collection_conformance", "error_disclosure")
SERVICES = ("shop", "clinic")
SECONDS = 20.0
PAIRS = 5
LIMIT = 0.9


def main() -> int:
    """Print the rates; exit code 1 when the checks cost too much."""
    seconds = sys.argv[1] if sys.argv[1:] else str(SECONDS)
    ratios = []
    for name in SERVICES:
        with serving(name, is_fixed=True) as url:
            for pair in range(PAIRS):
                usual = (
                    "fuzz",
                    f"{url}/openapi.json",
                    "--max-time",
                    seconds,
                    "--workers",
                    "1",
                    "--seed",
                    str(pair + 1),
                )
                with_them, without = (_rate(*usual, *more) for more in ((), ("--exclude-checks", ",".join(FREE))))
                ratios.append(with_them / without)
                print(f"{name}, seed {pair + 1}: {with_them:,.0f} and {without:,.0f} requests/CPU-s, {ratios[-1]:.3f}")
    ratio = median(ratios)
    print(f"with the checks by without: {ratio:.3f} (limit {LIMIT}): {'ok' if ratio >= LIMIT else 'TOO SLOW'}")
    return int(ratio < LIMIT)


def _rate(*arguments: str) -> float:
    requests, cpu_s = measured(*arguments)
    return requests / cpu_s


if __name__ == "__main__":
    sys.exit(main())
