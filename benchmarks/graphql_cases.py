"""Cost of making a GraphQL request against printing the same query with graphql-core: `python -m benchmarks.graphql_cases FOLDER`."""

import json
import statistics
import sys
import time
from pathlib import Path

from graphql import parse, print_ast

from checker.core.meta import PhaseInfo
from checker.core.request import BaseUrl
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.kinds.sources import DIRECT, FileSource
from checker.kinds.table import open_description
from checker.transport.prepare import RequestMaker

_CASES = 200
_OPERATIONS = 10


def main(folder: Path) -> None:
    """Print the median and the ninetieth percentile of the ratio over all schemas of a folder."""
    maker = RequestMaker(BaseUrl.from_url("http://localhost"), (), version="")
    ratios: list[float] = []
    for path in sorted(folder.iterdir()):
        schema = open_description(FileSource(path), DIRECT)
        for entry in list(schema.entries())[:_OPERATIONS]:
            found = schema.find(str(entry.label))
            program = found.compile(GenerationSettings())  # type: ignore[union-attr]
            for seed in range(_CASES):
                started = time.perf_counter()
                sent = maker.make(program.draw(RandomSource(seed), "x", PhaseInfo("fuzzing")))
                made_s = time.perf_counter() - started
                query = parse(json.loads(sent.body or b"")["query"])
                started = time.perf_counter()
                print_ast(query)
                ratios.append(made_s / (time.perf_counter() - started))
    tenths = statistics.quantiles(ratios, n=10)
    print(f"{len(ratios)} cases: median {tenths[4]:.2f} x print_ast, p90 {tenths[8]:.2f} x")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
