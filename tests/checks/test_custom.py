"""Users' checks: how they are registered, and what counts as their failure."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from checker.checks.custom import CUSTOM_CHECKS, ClassCheck, CustomCheck, after_run, check, class_checks, custom_check
from checker.checks.judge import Judge, Judgement
from checker.core.case import Case
from checker.core.errors import CheckError, ConfigError, IncorrectUsage
from checker.core.failures import Failure, FailureGroup, Severity
from checker.core.meta import GenerationMode
from checker.core.response import Response
from tests.checks.test_conformance import operation_of


@pytest.fixture(autouse=True)
def no_checks() -> Iterator[None]:
    yield
    CUSTOM_CHECKS.clear()


class TooFew(Failure):
    title = "Too few"
    severity = Severity.LOW


def judged(*functions: Any) -> Judgement:
    judge = Judge([custom_check("mine", function) for function in functions])
    judgement = judge.verdict(Case(operation_of({}), "1"), Response(200, [], b""))
    assert judgement is not None
    return judgement


def found(function) -> list[Failure]:
    return list(judged(function).failures)


def test_a_check_with_the_name_of_a_built_in_is_refused() -> None:
    def not_a_server_error(ctx, response, case):
        pass

    with pytest.raises(IncorrectUsage, match="already registered"):
        check(not_a_server_error)


def test_checks_are_found_by_name() -> None:
    @check
    def small(ctx, response, case):
        pass

    assert CUSTOM_CHECKS["small"].source is small
    assert check(small) is small


def test_a_check_says_what_it_applies_to() -> None:
    @check(phases=["stateful"], modes=["positive"], statuses=[200, "4XX"])
    def small(ctx, response, case):
        pass

    applies = CUSTOM_CHECKS["small"].applies
    assert applies.phases == frozenset(["stateful"])
    assert applies.modes == frozenset([GenerationMode.POSITIVE])
    assert applies.statuses == ("200", "4XX")


def raising(ctx, response, case):
    raise TooFew("one", unique_key="few")


def returning(ctx, response, case):
    return TooFew("one", unique_key="few")


def listing(ctx, response, case):
    return [TooFew("one", unique_key="few")]


def grouping(ctx, response, case):
    raise FailureGroup("all of it", [TooFew("one", unique_key="few")])


@pytest.mark.parametrize("function", [raising, returning, listing, grouping])
def test_a_failure_is_raised_or_returned_alike(function) -> None:
    (failure,) = found(function)
    assert (failure.check, failure.title, failure.message) == ("mine", "Too few", "one")
    assert (failure.unique_key, failure.severity) == ("few", Severity.LOW)
    assert failure.__traceback__ is None


def test_an_assertion_is_a_failure_under_the_name_of_its_check() -> None:
    def check(ctx, response, case):
        assert response.status_code == 201, "not created"

    (failure,) = found(check)
    assert (failure.code, failure.title) == ("ST901", "Custom check failed: `mine`")
    assert failure.message.startswith("not created")


@pytest.mark.parametrize("answer", [None, True, 7, "all is well", []])
def test_other_answers_are_no_failures(answer) -> None:
    assert found(lambda ctx, response, case: answer) == []


def test_what_else_is_raised_is_an_error_of_the_check() -> None:
    judgement = judged(lambda ctx, response, case: [][1])
    ((name, error),) = judgement.errors
    assert (name, judgement.failures) == ("mine", ())
    assert isinstance(error, CheckError)
    assert str(error).startswith("check mine raised IndexError")


def test_a_check_that_raises_leaves_others_their_say() -> None:
    def fails(ctx, response, case):
        raise AssertionError("wrong")

    for mine in ([lambda *_: [][1], fails], [fails, lambda *_: [][1]]):
        judgement = judged(*mine)
        assert [one.message for one in judgement.failures] == ["wrong"]
        assert len(judgement.errors) == 1


def nothing(self):
    pass


MALFORMED: dict[str, dict[str, Any]] = {
    "check Mine has neither; a class check has `after_response`, `after_run`, or both": {},
    "check Mine has after_runs; a class check has": {"after_runs": nothing},
    "check Mine: after_response takes (self, context, response, case)": {"after_response": nothing},
    "check Mine needs both of `state(self)` and `merge(self, state)`, or neither": {
        "after_run": lambda self, context: None,
        "state": nothing,
    },
}


@pytest.mark.parametrize("sentence", MALFORMED)
def test_a_class_that_is_no_check_is_refused(sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        check(type("Mine", (), MALFORMED[sentence]))


def test_a_function_is_a_check_if_it_can_be_called_with_three_arguments() -> None:
    @check
    def variadic(*arguments): ...

    @check
    def optional(ctx, response, case, strict=False, **more): ...

    assert list(CUSTOM_CHECKS) == ["variadic", "optional"]
    with pytest.raises(TypeError, match=re.escape("which does not fit (response, case)")):
        check(lambda response, case: None)


class Unsure:
    def __init__(self, *, most: int) -> None:
        self.seen = most

    def after_run(self, context): ...


REFUSED = {
    "[checks.Unsure] has no option 'least'; it has 'enabled', 'most'": {"least": 1},
    "check Unsure cannot be made: TypeError": {},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_settings_that_a_class_does_not_take_are_refused(sentence: str) -> None:
    CUSTOM_CHECKS["Unsure"] = CustomCheck(Unsure)
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        class_checks(["Unsure"], {"Unsure": REFUSED[sentence]})


def test_a_failure_at_the_end_of_a_run_is_raised_or_returned_alike() -> None:
    for function in (raising, returning, listing, grouping):
        kind = type("Mine", (), {"after_run": lambda self, context, ask=function: ask(0, 0, 0)})
        (failure,) = after_run(ClassCheck("Mine", kind(), {}))
        assert (failure.check, failure.title) == ("Mine", "Too few")
