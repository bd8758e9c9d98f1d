from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import checker

QUICK = settings(max_examples=20, database=None, deadline=None)


@pytest.fixture
def operation(document):
    return checker.openapi.from_dict(document)["/items/{id}"]["GET"]


def drawn(strategy) -> list[Any]:
    cases: list[Any] = []

    @QUICK
    @given(strategy)
    def collect(case) -> None:
        cases.append(case)

    collect()
    return cases


def test_cases_are_valid_and_know_where_they_come_from(operation) -> None:
    cases = drawn(operation.as_strategy())
    assert all(isinstance(case.path_parameters["id"], int) for case in cases)
    assert {case.meta.generation.mode for case in cases} == {checker.GenerationMode.POSITIVE}
    assert {case.meta.phase.name for case in cases} == {"fuzzing"}
    assert len({case.id for case in cases}) == len(cases)


def test_drawn_cases_can_be_sent_and_judged(document, api) -> None:
    schema = checker.openapi.from_dict(document)
    schema.config.update(base_url=api.url)
    strategy = schema["/items/{id}"]["GET"].as_strategy(generation_mode=checker.GenerationMode.POSITIVE)

    @settings(QUICK, max_examples=5)
    @given(strategy)
    def test(case) -> None:
        case.call_and_validate()

    test()
    assert len(api.requests) >= 5


def test_failing_cases_shrink(operation) -> None:
    case = find(operation.as_strategy(), lambda case: case.path_parameters["id"] > 100)
    assert case.path_parameters["id"] == 101


def _failure(strategy) -> list[str]:
    """What Hypothesis says of a test that no case with a large id passes."""

    @settings(QUICK, derandomize=True, max_examples=200)
    @given(strategy)
    def test(case) -> None:
        assert case.path_parameters["id"] <= 100

    with pytest.raises(AssertionError) as caught:
        test()
    return list(caught.value.__notes__)


def test_failing_case_is_shown_with_its_parts(operation) -> None:
    (note,) = _failure(operation.as_strategy())
    assert "<Case GET /items/{id} " in note
    assert ": path_parameters={'id': 101}>" in note


@pytest.mark.thorough
def test_derandomised_tests_say_the_same_every_time(document) -> None:
    first, second = (
        _failure(checker.openapi.from_dict(document)["/items/{id}"]["GET"].as_strategy()) for _ in range(2)
    )
    assert first == second


@pytest.mark.thorough
def test_negative_cases_shrink_and_replay(operation) -> None:
    strategy = operation.as_strategy(generation_mode=checker.GenerationMode.NEGATIVE)
    first, second = (
        find(
            strategy,
            lambda case: not isinstance(case.path_parameters["id"], int),
            settings=settings(QUICK, max_examples=500, derandomize=True),
        )
        for _ in range(2)
    )
    assert repr(first) == repr(second)
    assert first.meta.generation.mode is checker.GenerationMode.NEGATIVE


def test_strategies_combine_with_others(operation) -> None:
    pairs = drawn(st.tuples(operation.as_strategy(), st.integers(0, 3)))
    assert all(number <= 3 for _, number in pairs)


def test_hooks_apply_and_may_come_later(operation) -> None:
    strategy = operation.as_strategy()
    drawn(strategy)

    @checker.hook
    def map_path_parameters(ctx, path_parameters):
        return {"id": 5}

    @checker.hook
    def map_case(ctx, case):
        case.query = {"q": ctx.operation.label}
        return case

    cases = drawn(strategy)
    assert {case.path_parameters["id"] for case in cases} == {5}
    assert {case.query["q"] for case in cases} == {"GET /items/{id}"}


def test_formats_of_users_are_drawn(document) -> None:
    checker.openapi.format("card", st.just("4111"))
    query = document["paths"]["/items/{id}"]["get"]["parameters"][1]
    query["schema"]["format"] = "card"
    operation = checker.openapi.from_dict(document)["/items/{id}"]["GET"]
    assert {case.query["q"] for case in drawn(operation.as_strategy()) if case.query} == {"4111"}


def test_values_of_a_format_that_are_no_strings_are_named(document) -> None:
    checker.openapi.format("moment", st.datetimes())
    query = document["paths"]["/items/{id}"]["get"]["parameters"][1]
    query["schema"]["format"] = "moment"
    operation = checker.openapi.from_dict(document)["/items/{id}"]["GET"]
    told = (
        r"format 'moment' must have a strategy of strings, and its strategy gave datetime.datetime\(2000, 1, 1, 0, 0\)"
    )
    with pytest.raises(checker.errors.IncorrectUsage, match=told):
        find(operation.as_strategy(), lambda case: case.query)


@pytest.mark.thorough
def test_configuration_applies_to_cases_drawn_afterwards(document) -> None:
    schema = checker.openapi.from_dict(document)
    strategy = schema["/items/{id}"]["GET"].as_strategy()
    drawn(strategy)
    with_nul = find(strategy, lambda case: "\0" in case.query.get("q", ""))
    assert with_nul.query == {"q": "\0"}
    schema.config.generation.update(allow_x00=False)
    with pytest.raises(NoSuchExample):
        find(strategy, lambda case: "\0" in case.query.get("q", ""))


def test_negative_cases_say_what_is_wrong(operation) -> None:
    cases = drawn(operation.as_strategy(generation_mode=checker.GenerationMode.NEGATIVE))
    assert {case.meta.generation.mode for case in cases} == {checker.GenerationMode.NEGATIVE}
    for case in cases:
        wrong = [part for part in case.meta.components.values() if part.mode.is_negative]
        assert len(wrong) == 1
        assert wrong[0].violation is not None


def test_mode_of_the_configuration_holds_when_none_is_given(document) -> None:
    schema = checker.openapi.from_dict(document)
    schema.config.generation.update(modes=list(checker.GenerationMode))
    cases = drawn(schema["/items/{id}"]["GET"].as_strategy())
    assert {case.meta.generation.mode for case in cases} == set(checker.GenerationMode)


def test_parts_take_the_place_of_generated_ones(operation) -> None:
    strategy = operation.as_strategy(query=st.just({"q": "mine"}), headers={"X-A": "1"})
    cases = drawn(strategy)
    assert {case.query["q"] for case in cases} == {"mine"}
    assert {case.headers["X-A"] for case in cases} == {"1"}
    assert len({case.path_parameters["id"] for case in cases}) > 1
    cases[0].headers["X-B"] = "2"
    assert "X-B" not in cases[1].headers
    cases = drawn(operation.as_strategy(query={"q": st.sampled_from("ab")}))
    assert {case.query["q"] for case in cases} == {"a", "b"}
    with pytest.raises(TypeError, match=r"as_strategy\(\) takes path_parameters.*, got quary"):
        operation.as_strategy(quary=st.just({}))


def test_operations_without_wrong_data_are_left_out_of_a_strategy_of_wrong_data(document) -> None:
    document["paths"]["/all"] = {"get": {"responses": {"200": {"description": ""}}}}
    schema = checker.openapi.from_dict(document)
    cases = drawn(schema.as_strategy(generation_mode="negative"))
    assert {case.meta.generation.mode for case in cases} == {checker.GenerationMode.NEGATIVE}
    assert {case.operation.path for case in cases} == {"/items", "/items/{id}", "/both"}
    with pytest.raises(checker.errors.NothingToBreak):
        drawn(schema.include(path="/all").as_strategy(generation_mode="negative"))


def test_strategies_from_examples(document) -> None:
    document["paths"]["/items/{id}"]["get"]["parameters"][0]["example"] = 42
    operation = checker.openapi.from_dict(document)["/items/{id}"]["GET"]
    found = [find(one, lambda case: True) for one in operation.get_strategies_from_examples()]
    assert [case.path_parameters for case in found] == [{"id": 42}]
