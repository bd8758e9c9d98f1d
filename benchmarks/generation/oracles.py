"""Two oracles that share no code with the generator, and how often each agrees with the labels of the suite.

The first is jsonschema-rs, with its own strict formats; plain schemas are given to it as they stand. The second is the
referee: jsonschema with decimal-exact `multipleOf`, translated ECMA-262 patterns and asserted formats.
"""

import json
from collections import Counter
from pathlib import Path

from tests.measuring.corpora import suite
from tests.measuring.oracles import NoOpinion, oracles_of


def section(corpora: Path, options: list[str]) -> None:
    """Score both on every labelled instance."""
    counts: Counter[str] = Counter()
    for sample in suite(corpora):
        try:
            oracles = oracles_of(sample, formats=sample.asserts_formats)
        except NoOpinion as error:
            counts["unread"] += 1
            print(f"  unread: {sample.name}: {error}")
            continue
        for value, is_valid in sample.instances:
            counts["all"] += 1
            for name, said in zip(("first", "second"), oracles.verdicts(value), strict=True):
                counts[name] += said == is_valid
                if said != is_valid:
                    text = json.dumps(value)[:60]
                    print(f"  {name} is wrong: {sample.name}: {text} is valid: {is_valid}")
    every = counts["all"]
    print(f"labelled instances {every}, groups unread {counts['unread']}")
    for name, engine in (("first", "jsonschema-rs"), ("second", "referee")):
        print(f"{engine:16} {counts[name]} right, {100 * counts[name] / every:.2f} %")
