"""`python -m benchmarks.generation CORPORA [section ...]`: all sections, or those that are named.

Options of a section stand behind its name: `positives:suite`, `positives:openapi:1/20` (every 20th sample; `3/20` is the third of every 20), `positives:schemastore`.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.generation import compiling, contract, distribution, negatives, oracles, positives, shrinking, speed

Section = Callable[[Path, list[str]], None]
"""Folder of the corpora, options."""

SECTIONS: Final[dict[str, Section]] = {
    "oracles": oracles.section,
    "positives": positives.section,
    "negatives": negatives.section,
    "speed": speed.section,
    "compile": compiling.section,
    "contract": contract.section,
    "distribution": distribution.section,
    "shrinking": shrinking.section,
}


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(f"usage: python -m benchmarks.generation CORPORA [{' | '.join(SECTIONS)} ...]")
    place = Path(sys.argv[1])
    for wanted in sys.argv[2:] or list(SECTIONS):
        name, *options = wanted.split(":")
        if name not in SECTIONS:
            sys.exit(f"no section {name}; there are {', '.join(SECTIONS)}")
        print(f"== {name}", flush=True)
        SECTIONS[name](place, options)


if __name__ == "__main__":
    main()
