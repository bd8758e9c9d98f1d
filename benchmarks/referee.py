"""The referee against the generator: cases of every operation of a corpus, encoded to bytes and judged.

    python -m benchmarks.referee CORPORA [1/20] [50] [positive] [negative] [NAME...]

`2/20` takes the second of every 20 operations, a number says how many cases each gets, names pick documents. No valid
case may be judged invalid and no invalid one valid; what nobody can know is listed by cell.
"""

import re
import sys
import time
from collections import Counter
from pathlib import Path

from checker.core.meta import GenerationMode
from tests.measuring.refereeing import CASES, Tally, judge, operations

_MODES = frozenset(GenerationMode)
_SHARE = re.compile(r"(\d+)/(\d+)")
_SHOWN = 3
"""Cases judged wrongly that are printed, for each document."""


def report(mode: GenerationMode, tally: Tally, seconds: float) -> None:
    print(f"{mode}: {tally.cases} cases of {tally.operations} operations, {seconds:.0f} CPU-s")
    for outcome, count in tally.outcomes.most_common():
        print(f"  {outcome}: {count} ({count / max(tally.cases, 1):.2%})")
    print(f"  judged wrongly: {len(tally.wrong)} of {len({w.split(' [')[0] for w in tally.wrong})} operations")
    shown: Counter[str] = Counter()
    for line in tally.wrong:
        shown[line.split(" ")[0]] += 1
        if shown[line.split(" ")[0]] <= _SHOWN:
            print(f"    {line[:420]}")
    print(f"  ambiguous JSON bodies: {tally.ambiguous_json} of {tally.json_bodies}")
    for cell, count in tally.ambiguous.most_common():
        print(f"  ambiguous {count} x {cell[0]}: {cell[1]} - {tally.examples[cell][:200]}")
    for reason, count in tally.unmade.most_common():
        print(f"  not made: {count} x {reason}")


def main(arguments: list[str]) -> int:
    corpora, *options = arguments
    shares = [found for found in map(_SHARE.fullmatch, options) if found]
    nth, every = map(int, shares[0].groups()) if shares else (1, 1)
    cases = next((int(option) for option in options if option.isdecimal()), CASES)
    modes = [mode for mode in GenerationMode if mode in options] or list(GenerationMode)
    names = [o for o in options if not (_SHARE.fullmatch(o) or o.isdecimal() or o in _MODES)]
    is_wrong = False
    tallies = {mode: Tally() for mode in modes}
    spent = dict.fromkeys(tallies, 0.0)
    for index, (name, operation) in enumerate(operations(Path(corpora), names)):
        for mode, tally in tallies.items() if index % every == nth - 1 else ():
            started = time.process_time()
            judge(name, operation, mode, cases, tally)
            spent[mode] += time.process_time() - started
    for mode, tally in tallies.items():
        report(mode, tally, spent[mode])
        is_wrong = is_wrong or bool(tally.wrong)
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
