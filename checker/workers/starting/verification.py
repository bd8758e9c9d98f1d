"""What an earlier run discovered is believed if the target says so again."""

from collections.abc import Iterable, Iterator
from itertools import islice

from checker.core.case import Case
from checker.core.constraints import Constraint
from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.resources import status_of
from checker.core.response import Response
from checker.core.send import Transport
from checker.corpus.discoveries import Discovery
from checker.corpus.learned import DemandHeard
from checker.corpus.records import Note
from checker.generation.sources.context import Rejected
from checker.phases.attempt import Tools
from checker.phases.literals import literal_case
from checker.phases.making import CaseFactory
from checker.refusals.reading import demands_in, may_complain
from checker.workers.observers.demands import declared_names
from checker.workers.selected import SelectedOperations

_MOST = 100
"""Requests."""


def confirmed(
    known: Iterable[Discovery], selected: SelectedOperations, tools: Tools, http: Transport
) -> Iterator[DemandHeard]:
    """Demands that the target makes again, when what it refused is sent once more: one request for all that one case showed."""
    cases: dict[str, list[Discovery]] = {}
    for one in known:
        if one.label in selected:
            cases.setdefault(repr((one.label, one.request)), []).append(one)
    for together in islice(cases.values(), _MOST):
        first = together[0]
        operation = selected[Label(first.label)]
        case = literal_case(operation, first.request, "discovery", "")
        demands = set(_demands(case, tools, http))
        for one in together:
            if one.demand in demands:
                yield DemandHeard(one.label, one.demand, "", refused=(one.request,))


def answering_405(
    labels: Iterable[str], tools: Tools, http: Transport, factory: CaseFactory
) -> list[Note]:
    """A warning for each of these operations that answers 405 once more: one request each. They are not tested."""
    known = islice((Label(one) for one in labels if one in factory.operations), _MOST)
    text = "405 once more, after nothing but 405 in an earlier run: not tested"
    return [
        Note("method_not_allowed", label, "", text)
        for label in known
        if _is_405(label, tools, http, factory)
    ]


def _is_405(label: Label, tools: Tools, http: Transport, factory: CaseFactory) -> bool:
    try:
        case = factory.make(label, 0, 0, PhaseInfo("discovery")).case
        request = tools.maker.make(case)
    except (CheckerError, Rejected):
        return False
    if tools.gate.refuses(case, request):
        return False
    outcome = http.send(0, request)
    return isinstance(outcome, Response) and outcome.status_code == 405


def _demands(case: Case, tools: Tools, http: Transport) -> Iterable[Constraint]:
    try:
        outcome = http.send(0, tools.maker.make(case))
    except CheckerError:
        # The description is another one by now.
        return ()
    if not isinstance(outcome, Response) or not may_complain(status_of(case.operation, outcome)):
        return ()
    return demands_in(case, outcome, declared_names(case.operation))
