"""100,000 mutated answers through real lanes: none may raise anything. `python -m benchmarks.hostile_answers [COUNT] [FIRST]`."""

import resource
import sys
import time

from tests.hostile.fuzzing import fuzz

_COUNT = 100_000


def main() -> None:
    """Print what became of the answers; exit code 1 when one of them raised something in the lane."""
    count, first = (*map(int, sys.argv[1:]), *(_COUNT, 0)[len(sys.argv) - 1 :])
    before = time.perf_counter()
    fuzzed = fuzz(first, count)
    taken_s = time.perf_counter() - before
    most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{fuzzed.count:,} answers from {first} on in {taken_s:.0f} s, at most {most_kib >> 10} MiB")
    for title, counts in (("outcomes", fuzzed.outcomes), ("findings", fuzzed.findings)):
        print(f"{title}:")
        for name, number in counts.most_common():
            print(f"  {number:>9,} {name}")
    print(f"{len(fuzzed.statuses)} statuses")
    for number, message in fuzzed.unread.items():
        print(f"  answer {number}: {message}")
    sys.exit(bool(fuzzed.unread))


if __name__ == "__main__":
    main()
