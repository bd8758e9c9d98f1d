"""What ten more checks cost that pass: making, writing and judging a case with them and without, in one run.

    python -m benchmarks.more_checks

Rounds alternate, so that what else the machine does meets both alike. They are what checks to come are like: verdicts that
follow from status, mode or phase, checks of other phases (some of which need the sequence, or send), one of the time that
an answer took. Required: with them <= 1.1 x without.
"""

import time
from collections.abc import Mapping, Sequence
from itertools import cycle
from statistics import median

from checker import __version__
from checker.checks.check import Applies, Check, CheckSetting, SettingShape
from checker.checks.context import PASSED, CheckContext, Failures
from checker.checks.judge import Judge
from checker.checks.table import BUILT_IN
from checker.checks.to_run import selected_checks
from checker.config.operation_settings import OperationSettings
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.operation import BrokenOperation, Label
from checker.core.request import BaseUrl
from checker.core.response import Response
from checker.core.send import Exchanging
from checker.generation.program import GenerationSettings
from checker.kinds.protocol import ApiOperation
from checker.openapi.loaders import from_dict
from checker.phases.case_factory import CaseFactory, GenerationRules
from checker.transport.prepare import RequestMaker

WARM_UP = 3_000
CASES = 2_000
ROUNDS = 25
LIMIT = 1.1
_PHASE = PhaseInfo("fuzzing")
_BOOK = {
    "type": "object",
    "required": ["title", "pages"],
    "properties": {
        "title": {"type": "string", "maxLength": 80},
        "pages": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
_CONTENT = {"content": {"application/json": {"schema": _BOOK}}}
_RESPONSES = {"200": {"description": "a book", **_CONTENT}}
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
_WORD = {"name": "word", "in": "query", "schema": {"type": "string"}}
_DESCRIPTION = {
    "openapi": "3.0.3",
    "info": {"title": "Books", "version": "1"},
    "paths": {
        "/books": {
            "get": {"parameters": [_WORD], "responses": _RESPONSES},
            "post": {"requestBody": {"required": True, **_CONTENT}, "responses": _RESPONSES},
        },
        "/books/{id}": {"get": {"parameters": [_ID], "responses": _RESPONSES}},
    },
}
_ANSWER = [("Content-Type", "application/json")], b'{"title": "Emma", "pages": 474, "tags": []}'


def _passes(context: CheckContext) -> Failures:
    return PASSED


def _sends(context: CheckContext) -> Exchanging[Failures]:
    yield context.make(context.case)
    return PASSED


_LATE = Applies(phases=frozenset(["stateful"]))
_BOUNDARY = Applies(phases=frozenset(["coverage"]), scenarios=frozenset(["missing"]))
_WRONG = Applies(modes=frozenset([GenerationMode.NEGATIVE]))
MORE = (
    Check("of status", _passes, quick_look=lambda status, plan, config: status < 300),
    Check("of plan", _passes, quick_look=lambda status, plan, config: plan.answers is None),
    Check("of phase", _passes, applies=_LATE),
    Check("of wrong data", _passes, applies=_WRONG),
    Check("of boundaries", _passes, applies=_BOUNDARY),
    Check("of boundaries, by header", _passes, applies=_BOUNDARY),
    Check("of sequences", _passes, applies=_LATE),
    Check("of sequences, sending", _sends, applies=_LATE),
    Check("of refusals, sending", _sends, applies=Applies(statuses=("401", "403"))),
    Check(
        "of time",
        _passes,
        quick_look=BUILT_IN["max_response_time"].quick_look,
        settings=(CheckSetting("max_response_time", SettingShape.SECONDS, 1.0),),
    ),
)


def main() -> int:
    """Print the ratio; exit code 1 when it is too large."""
    found = from_dict(_DESCRIPTION).get_all_operations()
    operations = {one.label: one for one in found if not isinstance(one, BrokenOperation)}
    own = selected_checks(OperationSettings().checks)
    without, more = Bench(operations, own), Bench(operations, [*own, *MORE])
    for bench in (without, more):
        bench.cpu_us(WARM_UP)
    rounds = [(without.cpu_us(CASES), more.cpu_us(CASES)) for _ in range(ROUNDS)]
    ratios = [after / before for before, after in rounds]
    ratio = median(ratios)
    print(
        f"a case made, written and judged: {median(one for one, _ in rounds):.1f} us; with {len(MORE)} more checks "
        f"{median(one for _, one in rounds):.1f} us; ratio {ratio:.3f} (rounds {min(ratios):.2f}-{max(ratios):.2f})  "
        f"limit {LIMIT}: {'ok' if ratio <= LIMIT else 'TOO SLOW'}"
    )
    return 0 if ratio <= LIMIT else 1


class Bench:
    """Makes and judges cases of all operations in turn."""

    def __init__(self, operations: Mapping[Label, ApiOperation], checks: Sequence[Check]) -> None:
        self._labels = cycle(operations)
        self._judge = Judge(checks)
        rules = GenerationRules.alike(GenerationSettings())
        self._factory = CaseFactory(operations, rules)
        self._maker = RequestMaker(BaseUrl("http", "localhost", 80, ""), version=__version__)
        self._index = 0

    def cpu_us(self, count: int) -> float:
        """CPU time of one case, of so many."""
        began = time.process_time()
        for _ in range(count):
            self._index += 1
            case = self._factory.make(next(self._labels), 1, self._index, _PHASE).case
            self._maker.make(case)
            self._judge.verdict(case, Response(200, *_ANSWER, elapsed=0.001))
        return (time.process_time() - began) / count * 1e6


if __name__ == "__main__":
    raise SystemExit(main())
