"""Users' checks: how they are registered, and what counts as their failure."""

from collections.abc import Iterator

import pytest

from checker.checks.custom import CUSTOM_CHECKS, check, custom_check
from checker.checks.judge import Judge
from checker.core.case import Case
from checker.core.errors import CheckError, IncorrectUsage
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


def found(function) -> list[Failure]:
    judge = Judge([custom_check("mine", function)])
    judgement = judge.verdict(Case(operation_of({}), "1"), Response(200, [], b""))
    assert judgement is not None
    return list(judgement.failures)


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
    with pytest.raises(CheckError, match="check mine raised IndexError"):
        found(lambda ctx, response, case: [][1])
