"""How many of the defects planted in servers of GraphQL a run with default settings finds, in the worst of some seeds.

    python -m benchmarks.graphql_planted [SEED ...] [SERVER ...]

Strawberry on FastAPI, graphene on Flask, Ariadne, and two servers without a library. Required: >= 95 % of the defects with
each seed, and nothing else; nothing at all of the clean twins.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.apps.graphql.servers import PLANTED, served
from tests.e2e.runner import Command

_SHARE: Final = 0.95
_SEEDS: Final = (1, 2, 3, 4, 5)


def _found(name: str, seed: int, *, planted: bool) -> set[tuple[str, str]]:
    """(operation, check) of the findings of one run."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        with served(name, directory, planted=planted) as where:
            return set(Command(directory).run_as_usual(*where, seed=seed).defects)


def main(arguments: list[str]) -> int:
    """Run all servers with all seeds, and print a line for each; exit code 1 when the aim is missed."""
    seeds = [int(one) for one in arguments if one.isdecimal()] or list(_SEEDS)
    names = [one for one in arguments if one in PLANTED] or list(PLANTED)
    is_good = True
    for seed in seeds:
        found = count = 0
        for name in names:
            started, wanted = time.monotonic(), PLANTED[name].keys()
            told, of_twin = (_found(name, seed, planted=planted) for planted in (True, False))
            found, count = found + len(wanted & told), count + len(wanted)
            strange = sorted(told - wanted) + sorted(of_twin)
            is_good &= not strange
            print(
                f"seed {seed} {name}: {len(wanted & told)} of {len(wanted)}, missed {sorted(wanted - told)}, "
                f"strange {strange}, {time.monotonic() - started:.0f} s",
                flush=True,
            )
        is_good &= found >= _SHARE * count
        print(f"seed {seed}: {found} of {count} ({found / count:.1%})", flush=True)
    return int(not is_good)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
