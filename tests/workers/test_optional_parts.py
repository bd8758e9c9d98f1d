"""Optional parts that nothing is accepted with are mostly left out later, those that nothing is accepted without mostly sent."""

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.case import NOT_SET, Case
from checker.core.constraints import MOSTLY, SELDOM, USUAL, Constraint
from checker.core.meta import CaseMetadata, GenerationMode, Literal, PhaseInfo
from checker.core.operation import Label
from checker.core.response import Response
from checker.corpus.records import DemandHeard
from checker.generation.program import GenerationSettings
from checker.openapi.operation import OpenApiOperation
from checker.phases.case_factory import CaseFactory, Exhausted, GeneratedCase, GenerationRules
from checker.workers.observers.demands import DemandLearner, OptionalParts
from tests.openapi.documents import opened, operation

LABEL = Label("POST /a")
COUNT = 200
TEXT = {"type": "string"}
QUERY_Q = Constraint("query", ("q",), SELDOM)
BODY_B = Constraint("body", ("b",), SELDOM)


def described() -> OpenApiOperation:
    parameters = [{"name": name, "in": "query", "schema": TEXT} for name in ("p", "q")]
    thing = {"type": "object", "properties": {"a": TEXT, "b": TEXT, "c": TEXT}, "required": ["a"]}
    body = {"required": True, "content": {"application/json": {"schema": thing}}}
    return operation({"parameters": parameters, "requestBody": body}, method="post")


def has_q(case: Case) -> bool:
    return "q" in case.query


def has_b(case: Case) -> bool:
    return isinstance(case.body, dict) and "b" in case.body


def learned(
    refuses: Callable[[Case], bool],
    status: int,
    said: bytes = b"",
    meanwhile: Callable[[DemandLearner], object] = lambda learner: None,
) -> tuple[CaseFactory, set[Constraint]]:
    """What makes cases after the coverage phase, and what it heard; `meanwhile` is done before each case."""
    made = described()
    rules = GenerationRules.alike(GenerationSettings())
    factory = CaseFactory({LABEL: made}, rules)
    learner, heard = DemandLearner(), list[DemandHeard]()
    factory.learner = learner
    learner.begin("coverage")
    for index in range(COUNT):
        try:
            case = factory.listed(LABEL, 1, index, PhaseInfo("coverage"))
        except Exhausted:
            break
        meanwhile(learner)
        is_refused = refuses(case.case)
        fields = [("Content-Type", "application/json")]
        answer = Response(status if is_refused else 201, fields, said if is_refused else b"")
        found = learner.observe(case, answer, "coverage", index)
        heard += [one for one in found if isinstance(one, DemandHeard) and one.demand.keyword != USUAL]
    learner.begin("fuzzing")
    return factory, {one.demand for one in heard} - {one.demand for one in heard if one.is_refuted}


def share(factory: CaseFactory, has: Callable[[Case], bool]) -> float:
    cases = [factory.make(LABEL, 5, index, PhaseInfo("fuzzing")).case for index in range(COUNT)]
    return sum(map(has, cases)) / COUNT


@pytest.mark.parametrize(
    ("has", "status", "demand"), [(has_q, 400, QUERY_Q), (has_b, 422, BODY_B), (has_b, 500, BODY_B)]
)
def test_what_is_refused_whenever_it_is_there_is_mostly_left_out(
    has: Callable[[Case], bool], status: int, demand: Constraint
) -> None:
    factory, heard = learned(has, status)
    assert heard == {demand}
    assert 0 < share(factory, has) < 0.2
    others = {has_q, has_b} - {has}
    assert all(share(factory, other) > 0.3 for other in others)


@pytest.mark.parametrize(("has", "demand"), [(has_q, QUERY_Q), (has_b, BODY_B)])
def test_what_nothing_is_accepted_without_is_mostly_there(has: Callable[[Case], bool], demand: Constraint) -> None:
    """A service that requires what its description calls optional, and gives no reason."""
    factory, heard = learned(lambda case: not has(case), 400)
    assert replace(demand, keyword=MOSTLY) in heard
    assert 0.8 < share(factory, has) < 1
    # What was refused beside a part that was missing is not left out for that.
    others = {has_q, has_b} - {has}
    assert all(share(factory, other) > 0.2 for other in others)


@pytest.mark.parametrize("refuses", [lambda case: True, lambda case: False])
def test_what_says_nothing_of_a_part_teaches_nothing(refuses: Callable[[Case], bool]) -> None:
    factory, heard = learned(refuses, 400)
    assert heard == set()
    assert share(factory, has_q) > 0.3


def test_tasks_of_the_next_phase_beside_a_slow_one_change_nothing() -> None:
    """How fast the target is decides when they begin, and when a turn of the slow one begins again."""

    def take_turns(learner: DemandLearner) -> None:
        learner.begin("fuzzing")
        learner.begin("coverage")

    assert learned(has_q, 400, meanwhile=take_turns)[1] == {QUERY_Q}


def test_one_case_that_is_accepted_with_it_is_enough_to_keep_it() -> None:
    _, heard = learned(lambda case: has_q(case) and has_b(case), 400)
    assert heard == set()


def test_what_is_refused_for_its_value_alone_stays() -> None:
    """The demand on the value is respected in place of leaving the part out."""
    said = b'{"detail": [{"loc": ["query", "q"], "msg": "", "type": "string_too_short", "ctx": {"min_length": 1500}}]}'
    factory, heard = learned(has_q, 422, said)
    assert {one.keyword for one in heard} == {"minLength", SELDOM}
    assert share(factory, has_q) > 0.3


def test_what_holds_in_the_end_does_not_depend_on_the_order() -> None:
    made = described()
    refused = [({"q": "1"}, False)] * 5
    for cases in permutations((({}, True), ({"q": "1"}, True), "refused")):
        counts, holding = OptionalParts(), set[Constraint]()
        flat: list[Any] = [one for case in cases for one in (refused if case == "refused" else [case])]
        for index, (query, is_accepted) in enumerate(flat):
            case = Case(made, "a", query=query, body=NOT_SET)
            places, absent = counts.undecided(case, is_accepted=is_accepted) or ((), ())
            for demand, is_refuted in counts.count(made, index, places, absent, is_accepted=is_accepted):
                (holding.discard if is_refuted else holding.add)(demand)
        assert holding == set()


def test_a_part_without_which_one_case_was_accepted_is_not_needed_in_any_order() -> None:
    made = described()
    accepted: list[tuple[dict[str, str], bool]] = [({"q": "1"}, True)] * 3
    refused: list[tuple[dict[str, str], bool]] = [({}, False)] * 5
    for number in (0, 1):
        others: list[tuple[dict[str, str], bool]] = [({}, True)] * number
        for cases in permutations((accepted, refused, others)):
            counts, holding = OptionalParts(), set[Constraint]()
            for index, (query, is_accepted) in enumerate(one for case in cases for one in case):
                case = Case(made, "a", query=query, body=NOT_SET)
                places, absent = counts.undecided(case, is_accepted=is_accepted) or ((), ())
                for demand, is_refuted in counts.count(made, index, places, absent, is_accepted=is_accepted):
                    (holding.discard if is_refuted else holding.add)(demand)
            assert holding == (set() if number else {Constraint("query", ("q",), MOSTLY)})


def test_a_worker_that_goes_on_with_a_task_counts_what_the_one_before_counted() -> None:
    made = described()
    rules = GenerationRules.alike(GenerationSettings())
    factory = CaseFactory({LABEL: made}, rules)
    workers = [DemandLearner(operations={LABEL: made}) for _ in range(2)]
    heard: list[DemandHeard] = []
    for index in range(24):
        case = factory.make(LABEL, 5, index, PhaseInfo("fuzzing"))
        answer = Response(400 if has_q(case.case) else 201, [], b"")
        records = list(workers[index >= 12].observe(case, answer, "fuzzing", index, is_ordered=True))
        for other, record in product(workers, records):
            other.absorb(record)
        heard += [one for one in records if isinstance(one, DemandHeard) and one.demand.keyword != USUAL]
    assert [one.demand for one in heard] == [QUERY_Q]
    for one in workers:
        assert QUERY_Q in one.wanted(LABEL, "fuzzing", 24)
        assert QUERY_Q not in one.wanted(LABEL, "fuzzing", 0)


_HEADER = [{"name": "X-Version", "in": "header", "schema": TEXT}]
_PATHS = {f"/a{number}": {"get": {"parameters": _HEADER, "responses": {}}} for number in range(5)}
_UNWANTED = Constraint("header", ("X-Version",), SELDOM)


@pytest.mark.parametrize(("refusing", "accepting", "is_left_out"), [(3, 0, True), (2, 0, False), (3, 1, False)])
def test_a_part_that_many_operations_refuse_is_left_out_of_all(
    refusing: int, accepting: int, is_left_out: bool
) -> None:
    """Each operation refuses it once, in any order of the cases, and whichever worker sent them."""
    operations = {
        one.label: one for one in opened("3.0.3", _PATHS).get_all_operations() if isinstance(one, OpenApiOperation)
    }
    *tried, last = operations
    cases: list[tuple[Label, dict[str, str], int]] = [(label, {}, 200) for label in tried[:refusing]]
    cases += [
        (label, {"X-Version": "1"}, 400 if at < refusing else 200)
        for at, label in enumerate(tried[: refusing + accepting])
    ]
    for order in (cases, cases[::-1]):
        workers = [DemandLearner(operations=operations) for _ in range(2)]
        for number, (label, headers, status) in enumerate(order):
            meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("coverage"))
            case = Case(operations[label], "c", meta=meta, headers=headers)
            made = GeneratedCase(case, label, (), (), Literal({}, {}, {}, {}, (), None, "positive"))
            for record in workers[number % 2].observe(made, Response(status, [], b""), "coverage", number):
                for other in workers:
                    other.absorb(record)
        for one in workers:
            assert (_UNWANTED in one.wanted(last, "fuzzing")) is is_left_out
            assert _UNWANTED not in one.wanted(last, "coverage")
