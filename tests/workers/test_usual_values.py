"""Values with which an operation accepted cases, where it refused others, are taken by half of its later cases."""

import json
from collections import Counter
from itertools import permutations, product
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.constraints import BELOW, USUAL, Constraint
from checker.core.meta import CaseMetadata, GenerationMode, Listed, Literal, PhaseInfo
from checker.core.operation import BrokenOperation, Label
from checker.core.response import Response
from checker.corpus.records import DemandHeard
from checker.corpus.secrets import Secrets
from checker.generation.program import GenerationSettings
from checker.phases.case_factory import CaseFactory, GeneratedCase, GenerationRules
from checker.workers.observers.demands import DemandLearner
from tests.openapi.documents import opened
from tests.phases.demanding import Demanding

TEXT = {"type": "string"}
PARAMETERS = [
    {"name": "site", "in": "query", "required": True, "schema": TEXT},
    {"name": "day", "in": "query", "required": True, "schema": {**TEXT, "format": "date"}},
    {"name": "page", "in": "query", "schema": TEXT},
]
THING = {"type": "object", "required": ["level"], "properties": {"level": {"type": "integer"}, "note": TEXT}}
BODY = {"required": True, "content": {"application/json": {"schema": THING}}}
ANSWERS = {"responses": {"200": {"description": ""}}}
PATHS = {
    "/a": {"post": {"parameters": PARAMETERS, "requestBody": BODY, **ANSWERS}},
    "/b": {"get": {"parameters": PARAMETERS, **ANSWERS}},
}
OPERATIONS = {
    one.label: one for one in opened("3.0.3", PATHS).get_all_operations() if not isinstance(one, BrokenOperation)
}
A, B = OPERATIONS
SITE = Constraint("query", ("site",), USUAL, '"north"')
LEVEL = Constraint("body", ("level",), USUAL, "5")


def _case(site: str = "north", level: int = 5) -> Case:
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("coverage"))
    query = {"site": site, "day": "2024-01-31", "page": "x"}
    body = {"level": level, "note": "x"}
    return Case(OPERATIONS[A], "c", query=query, body=body, media_type="application/json", meta=meta)


def _learned(*sent: tuple[Case, int], at_once: bool = False) -> DemandLearner:
    learner = DemandLearner(at_once=at_once, operations=OPERATIONS)
    for index, (case, status) in enumerate(sent):
        made = GeneratedCase(case, A, (), (), Literal({}, {}, {}, {}, (), None, "positive"))
        list(learner.observe(made, Response(status, [], b""), "coverage", index))
    return learner


def _usual(learner: DemandLearner, label: Label, phase: str = "fuzzing") -> set[Constraint]:
    return {one for one in learner.wanted(label, phase) if one.keyword == USUAL}


SENT = [(_case(), 200), (_case("south", 7), 400), (_case("north", 6), 200)]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_accepted_values_hold_from_the_next_phase_on_in_any_order_of_responses(order: tuple[int, ...]) -> None:
    learner = _learned(*(SENT[number] for number in order))
    six = Constraint("body", ("level",), USUAL, "6")
    assert _usual(learner, A) == {SITE, LEVEL, six}
    # Another operation has the same parameter.
    assert _usual(learner, B) == {SITE}
    assert _usual(learner, A, "coverage") == set()


@pytest.mark.parametrize(("first", "is_known"), [(400, True), (200, False)])
def test_a_list_begins_again_with_the_values_that_it_accepts_after_refusals(first: int, is_known: bool) -> None:
    learner = DemandLearner(operations=OPERATIONS)
    for index, (case, status) in enumerate([(_case("south"), first), (_case(), 200), (_case("east", 6), 400)]):
        made = GeneratedCase(case, A, (), (), Literal({}, {}, {}, {}, (), None, "positive"))
        list(learner.observe(made, Response(status, [], b""), "coverage", index, is_ordered=True))
    assert (SITE in learner.wanted(A, "coverage", 3)) is is_known
    assert SITE in learner.wanted(A, "fuzzing")


@pytest.mark.parametrize("is_ordered", [True, False])
def test_a_task_that_changes_its_worker_takes_the_same_values(*, is_ordered: bool) -> None:
    """The journals carry all that decides, wherever the worker before died; another worker has the next phase."""
    for at, statuses in product(range(1, 5), product((200, 400), repeat=4)):
        alone, *others = (DemandLearner(operations=OPERATIONS) for _ in range(4))
        for index, status in enumerate(statuses):
            made = GeneratedCase(_case(level=index), A, (), (), Literal({}, {}, {}, {}, (), None, "positive"))
            answer = Response(status, [], b"")
            list(alone.observe(made, answer, "coverage", index, is_ordered=is_ordered))
            for record in list(others[index >= at].observe(made, answer, "coverage", index, is_ordered=is_ordered)):
                for one in others:
                    one.absorb(record)
        for later in others[1:]:
            assert _usual(later, A) == _usual(alone, A), (at, statuses)
            for index in range(at, 6):
                assert later.wanted(A, "coverage", index) == alone.wanted(A, "coverage", index), (at, statuses)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_a_block_takes_the_values_of_earlier_blocks_in_any_order_of_responses(order: tuple[int, ...]) -> None:
    """The first cases of a phase that draws are those of a list: their values count as those of drawn cases."""
    sent = [*SENT, (_case(level=7), 200)]
    learner = DemandLearner(operations=OPERATIONS)
    for index in order:
        case, status = sent[index]
        made = GeneratedCase(case, A, (), (), None if index else Listed("coverage", 0, ""))
        list(learner.observe(made, Response(status, [], b""), "fuzzing", index, is_ordered=True))
    levels = {json.loads(one.value) for one in learner.wanted(A, "fuzzing", 24) if one.path == ("level",)}
    assert levels == {5, 6, 7}


def test_no_accepted_secret_is_told() -> None:
    learner = DemandLearner(operations=OPERATIONS, secrets=Secrets([("X-Region", "north")]))
    for index, status in enumerate((400, 200)):
        made = GeneratedCase(_case(), A, (), (), Literal({}, {}, {}, {}, (), None, "positive"))
        list(learner.observe(made, Response(status, [], b""), "coverage", index))
    assert _usual(learner, A) == {LEVEL}


@pytest.mark.parametrize("number", range(4, 9))
def test_a_part_of_which_many_values_are_accepted_does_not_decide(number: int) -> None:
    learner = _learned((_case(), 400), *((_case(level=level), 200) for level in range(number)))
    assert _usual(learner, A) == {SITE}


def test_other_demands_on_a_part_hold_whatever_is_accepted() -> None:
    learner = _learned((_case(), 400), *((_case(level=level), 200) for level in range(6)))
    order = Constraint("body", ("level",), BELOW, '"most"')
    learner.absorb(DemandHeard(A, order, "coverage"))
    assert order in learner.wanted(A, "fuzzing")


def test_an_operation_that_accepts_every_valid_case_teaches_nothing() -> None:
    assert _usual(_learned((_case(), 200)), A) == set()
    assert _usual(_learned((_case(), 200), (_case(), 404)), A) == set()
    assert _usual(_learned((_case(), 400)), A) == set()


def test_fuzz_compiles_no_program_again_for_accepted_values() -> None:
    assert _usual(_learned(*SENT, at_once=True), A, "exploration") == set()


def test_half_of_the_cases_take_an_accepted_value() -> None:
    rules = GenerationRules.alike(GenerationSettings(mode=GenerationMode.POSITIVE))
    factory = CaseFactory(OPERATIONS, rules)
    factory.learner = Demanding((LEVEL, SITE))
    counts = Counter[Any]()
    for index in range(200):
        case = factory.make(A, 1, index, PhaseInfo("fuzzing")).case
        counts[case.query["site"] == "north"] += 1
        counts["level", case.body["level"] == 5] += 1
    assert 70 <= counts[True] <= 130
    assert 70 <= counts["level", True] <= 130


def test_a_list_varies_one_thing_around_accepted_values() -> None:
    rules = GenerationRules.alike(GenerationSettings(mode=GenerationMode.POSITIVE))
    factory = CaseFactory(OPERATIONS, rules)
    factory.learner = Demanding((LEVEL, SITE))
    cases = [factory.listed(A, 1, index, PhaseInfo("coverage")).case for index in range(24)]
    assert all(case.query["site"] == "north" or case.body["level"] == 5 for case in cases)
    assert any(case.query["site"] != "north" for case in cases)
    assert any(case.body["level"] != 5 for case in cases)
