"""Operations that have no positive case, and parts that no positive case has: all are known, or somebody has to look.

    python -m benchmarks.without_positives CORPORA [NAME...]

Makes cases of every operation until the referee has nothing against one. Required: nothing is without one but what
stands in `docs/developers/operations-without-positive-cases.md`, and all that stands there still is. Names pick documents.
"""

import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from tests.measuring.corpora import openapi_documents
from tests.measuring.positives_missing import Place, look

KNOWN: Final = Path(__file__).parents[1] / "docs" / "developers" / "operations-without-positive-cases.md"
_ROW: Final = re.compile(r"\| `([^`]+)` \| `([^`]+)` \|")
_PROCESSES = 2


def known() -> frozenset[Place]:
    """All that stands in the list."""
    rows = map(_ROW.match, KNOWN.read_text(encoding="utf-8").splitlines())
    return frozenset(Place(*found.groups()) for found in rows if found)


def main(arguments: list[str]) -> int:
    """Print what nobody has looked at; exit code 1 when there is something, or the list is out of date."""
    corpora, *names = arguments
    paths = [path for path in openapi_documents(Path(corpora)) if not names or any(name in path.name for name in names)]
    with ProcessPoolExecutor(_PROCESSES) as pool:
        looked = list(pool.map(look, paths))
    found = {place: reason for one in looked for place, reason in one.without.items()}
    opened = {path.name for path in paths}
    listed = {place for place in known() if place.document in opened}
    total = sum(one.operations for one in looked)
    parts = sum(place.name.startswith("#") for place in found)
    print(
        f"{total} operations of {len(paths)} documents: {len(found) - parts} without a positive case, "
        f"{parts} parts that no case has"
    )
    for place in sorted(found.keys() - listed):
        print(f"not listed: {place.document} {place.name}: {found[place]}")
    for place in sorted(listed - found.keys()):
        print(f"listed, and has one: {place.document} {place.name}")
    return int(found.keys() != listed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
