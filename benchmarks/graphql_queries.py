"""Cases of every root field of a folder of GraphQL schemas, judged by graphql-core.

    python -m benchmarks.graphql_queries FOLDER [1/20] [50] [NAME...]

`2/20` takes the second of every 20 root fields, a number says how many valid and how many wrong cases each gets, names pick
schemas. Each valid case has to pass validation and coercion of variables, each wrong one has to break the one rule that it
names; no root field is without a case.
"""

import gc
import re
import sys
import time
from collections import Counter
from pathlib import Path

from checker.graphql.schema import GraphQLOperation
from tests.measuring.queries import QueryMeasuring, Tally, schemas

_CASES = 50
_SHARE = re.compile(r"(\d+)/(\d+)")
_SHOWN = 20
"""Faults of a schema that are printed."""


def main(arguments: list[str]) -> int:
    """Print a line for each schema; exit code 1 when anything is not as it should be."""
    folder, *options = arguments
    shares = [found for found in map(_SHARE.fullmatch, options) if found]
    nth, every = map(int, shares[0].groups()) if shares else (1, 1)
    count = next((int(option) for option in options if option.isdecimal()), _CASES)
    names = [one for one in options if not (_SHARE.fullmatch(one) or one.isdecimal())]
    faults, index = 0, 0
    rules: Counter[str] = Counter()
    for name, schema in schemas(Path(folder), names):
        # What collects garbage need not look through all types of a schema again and again.
        gc.freeze()
        tally = Tally()
        measuring, started = QueryMeasuring(schema, tally), time.process_time()
        for entry in schema.entries():
            if index % every == nth - 1:
                measuring.measure(GraphQLOperation(entry, schema), count)
            index += 1
        spent = time.process_time() - started
        print(
            f"{name}: {tally.fields} fields, {tally.valid} valid and {tally.wrong} wrong cases, "
            f"{len(tally.faults)} faults, {spent:.0f} CPU-s",
            flush=True,
        )
        for says, times in tally.nothing_to_break.items():
            print(f"  nothing to break: {times} x {says}")
        for says in tally.faults[:_SHOWN]:
            print(f"  {says}")
        faults += len(tally.faults)
        rules += tally.by_rule
    print(f"{faults} faults; broken: " + ", ".join(f"{k} {n}" for k, n in rules.most_common()))
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
