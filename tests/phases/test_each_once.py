"""A task that draws its cases sends no safe request twice, whichever worker goes on with it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from checker.core.case import Case
from checker.core.meta import Binding, CaseMetadata, GenerationMode, Listed, PhaseInfo
from checker.core.operation import Label
from checker.core.phases import FUZZING
from checker.core.request import Location
from checker.generation.boundaries.values import likeness
from checker.generation.settings import GenerationSettings
from checker.phases.case_factory import CaseFactory, EachOnce, Exhausted, FilteredOut, GeneratedCase, GenerationRules
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command
from tests.generation.making import PlainOperation, parameter_of

PHASE = PhaseInfo("fuzzing")
COUNT = 60
NARROW = (parameter_of({"type": "integer", "minimum": 1, "maximum": 30}),)


def _made(method: str, start: int = 0, *, raw: Any = None) -> Iterator[tuple[int, str]]:
    """Yield (index, key of the case) of the cases that a worker makes which begins at an index."""
    parameters = NARROW if raw is None else (parameter_of(raw),)
    operation = PlainOperation(parameters, method=method)
    rules = GenerationRules.alike(GenerationSettings())
    factory = CaseFactory({operation.label: operation}, rules)
    maker = EachOnce(factory.make)
    for index in range(start, COUNT):
        try:
            made = maker(operation.label, 5, index, PHASE)
        except FilteredOut:
            continue
        except Exhausted:
            return
        assert made.case.id.endswith(f"{index}")
        yield index, likeness(made.case)


def test_no_safe_request_is_made_twice() -> None:
    keys = Counter(key for _, key in _made("GET"))
    assert set(keys.values()) == {1}
    assert len(keys) > 20


def test_a_request_that_changes_something_may_be_made_again() -> None:
    keys = Counter(key for _, key in _made("POST"))
    assert keys.total() == COUNT
    assert max(keys.values()) > 1


def test_another_case_is_drawn_in_place_of_a_repeated_one() -> None:
    wide = {"type": "string", "minLength": 3}
    assert [index for index, _ in _made("GET", raw=wide)] == list(range(COUNT))


def test_a_worker_that_goes_on_makes_the_same_cases() -> None:
    whole = list(_made("GET"))
    for start in (1, 17, 40):
        assert list(_made("GET", start)) == [pair for pair in whole if pair[0] >= start]


def test_a_case_that_is_made_again_by_its_index_is_the_same() -> None:
    operation = PlainOperation(NARROW, method="GET")
    rules = GenerationRules.alike(GenerationSettings())
    maker = EachOnce(CaseFactory({operation.label: operation}, rules).make)
    first = [likeness(maker(operation.label, 5, index, PHASE).case) for index in range(8)]
    assert [likeness(maker(operation.label, 5, index, PHASE).case) for index in (3, 6)] == [first[3], first[6]]


def test_a_worker_that_goes_on_makes_few_cases_again() -> None:
    operation = PlainOperation((parameter_of({"type": "string"}),), method="GET")
    rules = GenerationRules.alike(GenerationSettings())
    makes, indices = CaseFactory({operation.label: operation}, rules).make, set[int]()

    def counted(label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        indices.add(index)
        return makes(label, task_seed, index, phase)

    EachOnce(counted)(operation.label, 5, 1_999, PHASE)
    assert indices == set(range(1_800, 2_000))


def test_cases_that_are_made_again_first_change_no_later_ones() -> None:
    operation = PlainOperation(NARROW, method="GET")
    rules = GenerationRules.alike(GenerationSettings())
    whole = [key for _, key in _made("GET")]
    maker = EachOnce(CaseFactory({operation.label: operation}, rules).make)
    found = [likeness(maker(operation.label, 5, index, PHASE).case) for index in (3, 17)]
    assert found == [whole[3], whole[17]]


def test_a_worker_goes_on_with_unique_inputs_as_another_one_does() -> None:
    operation = PlainOperation((parameter_of({"type": "integer", "minimum": 1, "maximum": 40}),), method="GET")
    rules = GenerationRules.alike(GenerationSettings(unique_inputs=True))
    one, other = (CaseFactory({operation.label: operation}, rules) for _ in range(2))
    for index, maker in [(index, EachOnce(one.maker(FUZZING))) for index in range(10)]:
        maker(operation.label, 5, index, PHASE)
    resumed, taken_over = (
        [likeness(maker(operation.label, 5, index, PHASE).case) for index in range(10, 20)]
        for maker in (EachOnce(factory.maker(FUZZING)) for factory in (one, other))
    )
    assert resumed == taken_over


def test_a_repeated_value_of_an_earlier_response_is_skipped() -> None:
    operation = PlainOperation(NARROW, method="GET")
    bindings = (Binding(Location.QUERY, "q", Label("POST /q"), "/q", 0, 7),)

    def make(label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        meta = CaseMetadata(GenerationMode.POSITIVE, {}, phase)
        case = Case(operation, "", query={"q": 7 if task_seed == 5 else task_seed}, meta=meta)
        return GeneratedCase(case, label, (), bindings, Listed("fuzzing", index, ""))

    maker, made = EachOnce(make), []
    for index in range(9):
        try:
            made.append(maker(operation.label, 5, index, PHASE).case.query)
        except FilteredOut:
            continue
    assert made == [{"q": 7}]


def test_a_run_sends_each_request_to_a_safe_operation_once(tmp_path: Path) -> None:
    flag = {"name": "flag", "in": "query", "required": True, "schema": {"type": "boolean"}}
    operation = {"parameters": [flag], "responses": {"200": {"description": ""}}}
    paths = {"/things": {"get": operation, "put": operation}}

    def answer(request: Request) -> Reply:
        return json_reply({})

    document = {"openapi": "3.0.3", "info": {"title": "Flags", "version": "1"}, "paths": paths}
    with serving(answer, document) as app:
        ran = Command(tmp_path).run(
            app.document_url, "--phases", "fuzzing", "--mode", "positive", "-n", "20", inline=True
        )
    sent = Counter(one.method for one in app.seen if urlsplit(one.target.decode()).path == "/things")
    gets = Counter((one.target, one.headers.get("cookie")) for one in app.seen if one.method == "GET")
    assert sent["PUT"] == 20, ran.shown
    assert sent["GET"] < 10
    assert set(gets.values()) == {1}
