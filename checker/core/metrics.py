"""Metrics that cases should maximise: `response_time`, and functions of users."""

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Final, TypeVar

from msgspec import Struct

from checker.core.case import Case
from checker.core.coroutines import refuse_coroutine
from checker.core.errors import IncorrectUsage, MetricError
from checker.core.registry import Registry
from checker.core.response import Response


class MetricContext(Struct, frozen=True):
    """The arguments of a metric."""

    case: Case
    response: Response


MetricFunction = Callable[[MetricContext], float]
Registered = TypeVar("Registered", bound=MetricFunction)


def response_time(ctx: MetricContext) -> float:
    """Seconds until the response was there."""
    return ctx.response.elapsed


BUILT_IN: Final[dict[str, MetricFunction]] = {"response_time": response_time}
METRICS: Final[Registry[MetricFunction]] = Registry("metric", built_in=BUILT_IN)
"""Metrics of users, by name."""


def metric(function: Registered) -> Registered:
    """Register a function `(ctx) -> float` under its name, for `generation.maximize`. Gives it back.

    Values that are not finite say nothing. Raises `IncorrectUsage`.
    """
    name = getattr(function, "__name__", "")
    if not name:
        raise IncorrectUsage(f"`checker.metric` takes a function, got {function!r}")
    refuse_coroutine(function, f"metric {name!r}")
    METRICS.add(name, function)
    return function


def metric_named(name: str) -> MetricFunction:
    """The metric of a name. Raises `IncorrectUsage` with those that there are."""
    found = BUILT_IN.get(name) or METRICS.get(name)
    if found is None:
        known = ", ".join((*BUILT_IN, *METRICS))
        raise IncorrectUsage(f"there is no metric {name!r}; known are: {known}")
    return found


def observed(names: Iterable[str], case: Case, response: Response) -> dict[str, float]:
    """Return the values of metrics for an exchange, by name. Raises `MetricError`, `IncorrectUsage`."""
    context, found = MetricContext(case, response), {}
    for name in names:
        function = metric_named(name)
        try:
            value = float(function(context))
        except Exception as error:
            raise MetricError(name, error) from error
        if isfinite(value):
            found[name] = value
    return found
