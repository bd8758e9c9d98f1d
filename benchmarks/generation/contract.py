"""The contract of the sources: records replay through Hypothesis choice by choice, and no mutation of one does harm."""

from collections import Counter
from itertools import islice
from pathlib import Path

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from checker.generation.program import GenerationSettings, compile_operation
from tests.measuring.contract import MUTATIONS, RECORDS, contract_of
from tests.measuring.corpora import openapi_documents, operations, share


def section(corpora: Path, options: list[str]) -> None:
    """Every operation of the documents, or one of 20 with `1/20`; `negative` for negative cases.

    Refusals are listed with their reason.
    """
    settings = GenerationSettings(mode=GenerationMode.NEGATIVE if "negative" in options else GenerationMode.POSITIVE)
    counts: Counter[str] = Counter()
    part = share(options)
    named = (
        (f"{path.name} {operation.label}", operation)
        for path in openapi_documents(corpora)
        for operation in operations(path)
    )
    for one in islice(named, part.start, part.stop, part.step):
        _report(one, settings, counts)
    print(
        f"operations {counts['judged']}, unsatisfiable {counts['unsatisfiable']}, "
        f"faulty {counts['faulty']}; records replayed {counts['replayed']}, mutations {counts['mutated']}, "
        f"discarded {counts['discarded']}"
    )


def _report(named: tuple[str, Operation], settings: GenerationSettings, counts: Counter[str]) -> None:
    name, operation = named
    counts["judged"] += 1
    try:
        program = compile_operation(operation, settings)
    except (Unsatisfiable, BudgetSpent) as error:
        counts["unsatisfiable"] += 1
        print(f"  unsatisfiable: {name}: {error}")
        return
    found = contract_of(program, records=RECORDS, mutations=MUTATIONS)
    counts.update(replayed=found.replayed, mutated=found.mutated, discarded=found.discarded)
    counts["faulty"] += bool(found.faults)
    for fault in found.faults[:3]:
        print(f"  fault: {name}: {fault}")
