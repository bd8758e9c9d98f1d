"""Metrics of users: by name, of an exchange, each a number."""

import pytest

import checker
from checker.core.hooks import METRICS, observed


@pytest.fixture(autouse=True)
def forget():
    yield
    METRICS.clear()


@pytest.fixture
def exchange(api):
    schema = checker.openapi.from_dict(
        {
            "openapi": "3.0.3",
            "info": {"title": "A", "version": "1"},
            "paths": {"/items": {"get": {"responses": {"200": {"description": ""}}}}},
        }
    )
    case = schema["/items"]["GET"].Case(query={"q": "abc"})
    return case, case.call(base_url=api.url)


def test_metrics_are_asked_by_name(exchange) -> None:
    @checker.metric
    def size(ctx: checker.MetricContext) -> float:
        return len(ctx.response.content) + len(ctx.case.query["q"])

    case, response = exchange
    found = observed(["size", "response_time"], case, response)
    assert found == {"size": len(response.content) + 3, "response_time": response.elapsed}
    assert size(checker.MetricContext(case, response)) == found["size"]


def test_a_metric_that_sends_requests_is_not_asked_about_them(exchange, api) -> None:
    @checker.metric
    def after_all(ctx: checker.MetricContext) -> float:
        again = ctx.case.call(base_url=api.url)
        return len(observed(["after_all", "response_time"], ctx.case, again))

    assert observed(["after_all"], *exchange) == {"after_all": 1.0}


def test_what_is_no_number_says_nothing(exchange) -> None:
    @checker.metric
    def endless(ctx: checker.MetricContext) -> float:
        return float("inf")

    assert observed(["endless"], *exchange) == {}


def test_names_are_taken_once() -> None:
    @checker.metric
    def size(ctx: checker.MetricContext) -> float:
        return 0.0

    assert checker.metric(size) is size
    with pytest.raises(checker.errors.IncorrectUsage, match="'size' is already registered"):

        @checker.metric
        def size(ctx: checker.MetricContext) -> float:
            return 1.0

    with pytest.raises(checker.errors.IncorrectUsage, match="'response_time' is already"):

        @checker.metric
        def response_time(ctx: checker.MetricContext) -> float:
            return 1.0

    with pytest.raises(checker.errors.IncorrectUsage, match="takes a function, got 3"):
        checker.metric(3)  # type: ignore[type-var]


def test_unknown_names_are_told_with_those_that_there_are(exchange) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="known are: response_time"):
        observed(["latency"], *exchange)


def test_a_metric_that_raises_is_named(exchange) -> None:
    @checker.metric
    def broken(ctx: checker.MetricContext) -> float:
        raise LookupError("no such thing")

    with pytest.raises(checker.errors.MetricError, match="metric broken raised LookupError"):
        observed(["broken"], *exchange)
