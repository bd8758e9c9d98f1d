"""Considers hostile descriptions, each in a process that is forked for it: what is loaded and compiled at first use is there.

One JSON list of a family and a name a line in; one JSON object a line out: what was said of it, what became of its
operations, and the most memory that it took.
"""

import gc
import json
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from checker.checks.judge import Judge
from checker.checks.table import BUILT_IN
from checker.core.case import Case
from checker.core.errors import CheckerError, LoaderError
from checker.core.meta import PhaseInfo
from checker.core.operation import BrokenOperation
from checker.core.request import BaseUrl
from checker.core.response import Response
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi.loaders import from_bytes, open_normalised
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema
from checker.transport.prepare import RequestMaker
from tests.hostile.apart import apart
from tests.hostile.documents import FAMILIES
from tests.hostile.grammar import RICH
from tests.hostile.making import Row, written
from tests.openapi.documents import warnings_of

_CASES = 3
_BOUNDARIES = 40
_MAKER = RequestMaker(BaseUrl("http", "127.0.0.1", 80, ""), version="0")
_JUDGE = Judge([one for one in BUILT_IN.values() if not one.switch])
_PHASE = PhaseInfo("fuzzing")
_ANSWERS = (b"{}", b"[[1]]", b'{"a": {"a": {"a": null}}}', b'"\xed\xa0\x80"', b"nonsense")


def considered(data: bytes) -> dict[str, Any]:
    """What becomes of a description: `refused`, or `said` and `operations` by label."""
    try:
        schema = from_bytes(data, name="hostile")
    except LoaderError as error:
        return {"refused": " ".join([error.message, *error.extras])}
    said = [warning.message for warning in warnings_of(open_normalised(schema.normalised()))]
    return {"said": said, "operations": dict(_operations(schema))}


def _considered(row: Row) -> dict[str, Any]:
    return considered(row.data())


def _operations(schema: OpenApiSchema) -> Iterator[tuple[str, str]]:
    """Label and what cannot be tested of it; empty where everything can."""
    for found in schema.get_all_operations():
        if isinstance(found, BrokenOperation):
            yield str(found.label), found.error
            continue
        try:
            yield str(found.label), _tried(found)
        except CheckerError as error:
            yield str(found.label), str(error)


def _tried(operation: OpenApiOperation) -> str:
    program = compile_operation(operation, GenerationSettings(mode=None))
    source = RandomSource()
    for seed in range(_CASES):
        source.reset(seed)
        _sent(operation, program.draw(source, case_id="c", phase=_PHASE))
    edges = OperationEdges(operation, GenerationSettings(), Coverage(most=_BOUNDARIES))
    for _ in edges.cases():
        pass
    return "" if program.fault is None else str(program.fault)


def _sent(operation: OpenApiOperation, case: Case) -> None:
    request = _MAKER.make(case)
    operation.judge_request(request)
    for content in _ANSWERS:
        headers = [("Content-Type", "application/json"), ("X-A", "1")]
        _JUDGE.verdict(case, Response(200, headers, content))


def main() -> None:
    """Serve until there is nothing more to read."""
    considered(written(RICH))
    gc.freeze()
    for line in sys.stdin:
        family, name = json.loads(line)
        print(json.dumps(apart(partial(_considered, FAMILIES[family][name]))), flush=True)


if __name__ == "__main__":
    main()
