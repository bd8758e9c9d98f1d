"""Operations that refuse their valid cases alike get fewer of them; optional parts that are mostly refused are mostly left out."""

import json
from random import Random
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.constraints import Constraint, written
from checker.core.meta import CaseMetadata, GenerationMode, Listed, Literal, PhaseData, PhaseInfo
from checker.core.operation import Operation
from checker.core.phases import CaseSource
from checker.core.response import Response
from checker.corpus.records import CaseFared
from checker.phases.case_factory import GeneratedCase
from checker.phases.case_parts import literal_case
from checker.values.consumers import names_in_path
from checker.workers.observers.demands import DemandLearner
from checker.workers.observers.valid_cases import ACCEPTED, Moment, Named, ValidCases, reason_for
from tests.openapi.documents import operation

LABEL = "POST /a"
END: Moment = (9, 0, 0)
DRAWN = CaseSource.DRAWN


def counted(reasons: list[str], parts: list[int] | None = None) -> ValidCases:
    cases = ValidCases()
    order = list(enumerate(zip(reasons, parts or [0] * len(reasons), strict=True)))
    Random(len(reasons)).shuffle(order)
    for index, (reason, bits) in order:
        cases.count(LABEL, (2, 0, index), reason, bits)
    return cases


def sent(cases: ValidCases, before: Moment | None = END, source: CaseSource = CaseSource.DRAWN) -> int:
    """The number of the next hundred cases that are sent."""
    return sum(not cases.is_left_out(LABEL, before, index, source=source) for index in range(100))


@pytest.mark.parametrize(
    ("reasons", "of_list", "drawn"),
    [
        (["a"] * 4, 100, 100),
        (["a"] * 5, 10, 100),
        (["a"] * 20, 10, 100),
        (["a"] * 21, 10, 25),
        (["a", "b", "c", *"abc"], 100, 100),
        (["a"] * 60 + ["b"], 100, 100),
        (["a"] * 60 + [ACCEPTED], 100, 100),
        ([ACCEPTED, *["a"] * 20], 100, 100),
        ([ACCEPTED, *["a"] * 21], 10, 10),
    ],
)
def test_cases_are_left_out_after_refusals_for_no_new_reason(reasons: list[str], of_list: int, drawn: int) -> None:
    cases = counted(reasons)
    assert (sent(cases, source=CaseSource.LISTED), sent(cases)) == (of_list, drawn)


def test_cases_without_inputs_are_all_alike() -> None:
    for reasons, expected in (([], 100), (["a"], 10), (["a", ACCEPTED, "a"], 100)):
        cases = counted(reasons)
        left = [cases.is_left_out(LABEL, END, index, source=DRAWN, is_bare=True) for index in range(100)]
        assert left.count(False) == expected


INVENTED, KNOWN = False, True


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([(KNOWN, 200), (INVENTED, 404), (INVENTED, 404)], 100),
        ([(KNOWN, 200), (INVENTED, 404), (KNOWN, 200), (INVENTED, 404), (KNOWN, 200), (INVENTED, 404)], 10),
        ([(KNOWN, 404)] * 3 + [(INVENTED, 404)] * 7, 100),
        ([(KNOWN, 404)] * 3 + [(INVENTED, 404)] * 8, 10),
        # Users may force the name, and a `PUT` may create what it names.
        ([(INVENTED, 200), (KNOWN, 200), *[(INVENTED, 404)] * 8], 100),
        # These refusals are about something else.
        ([(KNOWN, 200), *[(INVENTED, 400)] * 8], 100),
    ],
    ids=["twice", "among known ones", "known ones are gone", "often", "one is accepted", "names are not to blame"],
)
def test_invented_names_are_left_out_where_known_ones_were_accepted(
    results: list[tuple[bool, int]], expected: int
) -> None:
    cases = ValidCases()
    for index, (is_known, status) in enumerate(results):
        reason = ACCEPTED if status == 200 else "a"
        cases.count(LABEL, (2, 0, index), reason, 0, is_known=is_known, is_gone=status == 404)
    left = [cases.is_left_out(LABEL, END, index, source=DRAWN, named=Named(is_invented=True)) for index in range(100)]
    assert left.count(False) == expected


@pytest.mark.parametrize(("missing", "expected"), [(2, 100), (3, 10)])
def test_a_removal_is_left_out_once_no_invented_name_was_there(missing: int, expected: int) -> None:
    cases = ValidCases()
    for index in range(missing):
        cases.count(LABEL, (2, 0, index), "a", 0, is_gone=True)
    for is_removal, sent in ((True, expected), (False, 100)):
        left = [
            cases.is_left_out(LABEL, END, index, source=DRAWN, named=Named(is_invented=True, is_removal=is_removal))
            for index in range(100)
        ]
        assert left.count(False) == sent


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([("a", False)], 100),
        ([("a", True)], 10),
        ([(ACCEPTED, True)], 10),
        ([("a", True), (ACCEPTED, False)], 100),
        ([("a", True), ("b", False)], 10),
    ],
    ids=["refused", "missing", "removed", "made again", "refused later"],
)
def test_names_that_are_gone_are_left_out(results: list[tuple[str, bool]], expected: int) -> None:
    cases = ValidCases()
    for index, (reason, is_gone) in enumerate(results):
        cases.count(LABEL, (2, 0, index), reason, 0, is_known=True, is_gone=is_gone, names=5)
    counts = [
        sum(not cases.is_left_out(LABEL, END, index, source=DRAWN, named=Named(names)) for index in range(100))
        for names in (5, 6)
    ]
    assert counts == [expected, 100]


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [(["a"] * 2, 100), (["a"] * 3, 10), (["a", "a", "b"], 100), (["a"] * 3 + [ACCEPTED], 100), ([ACCEPTED] * 3, 100)],
    ids=["twice", "three times", "for two reasons", "accepted at last", "accepted"],
)
def test_values_of_one_place_that_are_refused_alike_are_left_out(reasons: list[str], expected: int) -> None:
    cases = ValidCases()
    cases.count(LABEL, (2, 0, 0), ACCEPTED, 0)
    for index, reason in enumerate(reasons, 1):
        cases.count(LABEL, (2, 0, index), reason, 0, place=7)
    left = {
        place: [cases.is_left_out(LABEL, END, index, source=CaseSource.LISTED, place=place) for index in range(100)]
        for place in (7, 8, 0)
    }
    assert [each.count(False) for each in left.values()] == [expected, 100, 100]


@pytest.mark.parametrize(("count", "expected"), [(2, 100), (3, 10)])
def test_a_list_names_what_is_gone_a_few_times(count: int, expected: int) -> None:
    cases = ValidCases()
    cases.count(LABEL, (2, 0, 0), ACCEPTED, 0)
    for index in range(count):
        cases.count(LABEL, (2, 0, index + 1), f"{index}", 0, is_gone=True, names=5)
    left = [cases.is_left_out(LABEL, END, index, source=CaseSource.LISTED, named=Named(5)) for index in range(100)]
    assert left.count(False) == expected


def _listed(made: Operation, number: int, value: str, learned: str) -> GeneratedCase:
    """Case of a list that varies the parameter `n`."""
    data = PhaseData(scenario="valid_string", parameter="n", parameter_location="query")
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("coverage", data))
    case = Case(made, "c", query={"n": value}, meta=meta)
    return GeneratedCase(case, made.label, (), (), Listed("coverage", number, "", learned=learned))


def test_values_that_break_a_demand_again_are_left_out_of_lists() -> None:
    made = operation({"parameters": [{"name": "n", "in": "query", "schema": {"type": "string"}}]})
    learner = DemandLearner(operations={made.label: made})
    learner.absorb(CaseFared(made.label, "coverage", 0, "a", 0, 400))
    learned = written([Constraint("query", ("n",), "minLength", "3")])
    left = {
        (value, text): learner.is_left_out(_listed(made, 1, value, text), "coverage", 11, 11, CaseSource.LISTED)
        for value in ("0", "000")
        for text in ("", learned)
    }
    assert left == {("0", ""): False, ("0", learned): True, ("000", ""): False, ("000", learned): False}
    assert not learner.is_left_out(_listed(made, 1, "0", learned), "coverage", 20, 20, CaseSource.LISTED)


def test_a_later_turn_goes_by_the_latest_results() -> None:
    cases = counted([])
    for index in range(30):
        cases.count(LABEL, (2, 0, index), ACCEPTED, 0)
    for index in range(30):
        cases.count(LABEL, (1, 0, index), "a", 0)
    assert [sent(cases, before) for before in (END, None)] == [100, 10]


def test_sequences_begin_with_what_was_accepted_before() -> None:
    assert sent(counted([ACCEPTED, *["a"] * 50]), source=CaseSource.CHAINED) == 100
    assert sent(counted(["a"] * 21), source=CaseSource.CHAINED) == 10


def test_only_the_cases_before_a_moment_count() -> None:
    cases = counted(["a"] * 90)
    assert [sent(cases, (2, 0, index)) for index in (20, 21)] == [100, 25]
    assert sent(cases, (1, 5, 0)) == 100


@pytest.mark.parametrize("seed", range(5))
def test_an_operation_that_accepts_one_case_in_ten_is_found(seed: int) -> None:
    random, cases = Random(seed), ValidCases()
    accepted = 0
    for index in range(100):
        if cases.is_left_out(LABEL, (2, 0, index), index, source=DRAWN):
            continue
        is_accepted = random.random() < 0.1
        accepted += is_accepted
        cases.count(LABEL, (2, 0, index), ACCEPTED if is_accepted else "a", 0)
    assert accepted


@pytest.mark.parametrize(
    ("with_it", "without_it", "expected"),
    [
        ((2, 8), (6, 10), [0]),
        ((5, 10), (6, 10), []),
        ((0, 8), (3, 9), [0]),
        ((0, 7), (9, 9), []),
        ((1, 8), (2, 9), []),
        ((9, 9), (1, 9), []),
    ],
    ids=["a third", "hardly fewer", "none", "too few with it", "too few without it", "more"],
)
def test_a_part_with_which_fewer_cases_are_accepted_is_worse(
    with_it: tuple[int, int], without_it: tuple[int, int], expected: list[int]
) -> None:
    some = [(accepted, count, bit) for (accepted, count), bit in ((with_it, 1), (without_it, 0))]
    reasons = [ACCEPTED if one < accepted else "a" for accepted, count, _ in some for one in range(count)]
    parts = [bit for _, count, bit in some for _ in range(count)]
    assert [part for part, _ in counted(reasons, parts).worse_with(LABEL, END)] == expected


def test_the_words_of_the_request_are_no_reason() -> None:
    def reason(value: str, text: str, status: int = 400) -> str | None:
        response = Response(status, [("Content-Type", "application/json")], b'{"detail": "%s"}' % text.encode())
        recipe = Literal({}, {"q": value}, {}, {}, body=(), media_type=None, mode="positive")
        return reason_for(literal_case(operation({}), recipe, "a", "fuzzing"), response, status)

    assert reason("ab", "no name: ab") == reason("xy", "no name: xy") != reason("xy", "too long: xy")
    assert reason("ab", "no", 404) != reason("ab", "no", 400)
    assert reason("ab", "wait", 429) is reason("ab", "no", 500) is None
    assert reason("ab", "no", 201) == ACCEPTED


@pytest.mark.parametrize(
    ("schema", "keyword", "value"), [({"type": "string"}, "pattern", "^[0-9]+$"), ({}, "type", "integer")]
)
def test_a_path_that_accepts_nothing_but_integers_gets_them(schema: dict[str, Any], keyword: str, value: str) -> None:
    parameter = {"name": "n", "in": "path", "required": True, "schema": schema}
    made = operation({"parameters": [parameter]}, path="/bytes/{n}")
    learner = DemandLearner(operations={made.label: made})
    for index in range(20):
        reason, status = (ACCEPTED, 200) if index % 2 else ("a", 404)
        learner.absorb(CaseFared(made.label, "fuzzing", index, reason, index % 2 ^ 1, status))
    assert learner.wanted(made.label, "fuzzing") == ()
    assert learner.wanted(made.label, "fuzzing", 24) == (Constraint("path", ("n",), keyword, json.dumps(value)),)
    assert learner.wanted(made.label, "coverage", 24) == ()


@pytest.mark.parametrize(("status", "is_sent"), [(404, False), (403, False), (200, True), (400, True)])
def test_names_that_were_denied_are_gone(status: int, *, is_sent: bool) -> None:
    made = operation({"parameters": [{"name": "n", "in": "path", "required": True, "schema": {}}]}, path="/files/{n}")
    learner = DemandLearner(operations={made.label: made})
    case = Case(made, "c", path_parameters={"n": "x"})
    generated = GeneratedCase(case, made.label, (), ())
    heard = CaseFared(
        made.label, "coverage", 0, "a" if status > 200 else ACCEPTED, 0, status, names=names_in_path(case)
    )
    learner.absorb(heard)
    is_left_out = [learner.is_left_out(generated, "fuzzing", index, 0, DRAWN) for index in range(10)]
    assert is_left_out == [False] + 9 * [not is_sent]


def test_a_path_that_accepted_a_text_gets_texts() -> None:
    parameter = {"name": "n", "in": "path", "required": True, "schema": {"type": "string"}}
    made = operation({"parameters": [parameter]}, path="/files/{n}")
    learner = DemandLearner(operations={made.label: made})
    for index in range(20):
        is_text = index % 2 == 0
        reason, status = ("a", 404) if is_text and index else (ACCEPTED, 200)
        learner.absorb(CaseFared(made.label, "fuzzing", index, reason, int(is_text), status))
    assert learner.wanted(made.label, "fuzzing", 24) == ()
