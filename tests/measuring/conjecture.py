"""A record of choices, replayed by Hypothesis."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis.control import BuildContext
from hypothesis.errors import StopTest
from hypothesis.internal.conjecture.data import ConjectureData, Status

from checker.core.meta import Choice
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Rejected
from checker.generation.sources.hypothesis import HypothesisSource

Value = TypeVar("Value")


def replay_through_conjecture(
    draw: Callable[[Source], Value], choices: Sequence[Choice]
) -> tuple[Value | None, str, bool]:
    """Return value, status and whether exactly these choices were drawn, when Hypothesis replays a record."""
    data = ConjectureData.for_choices(tuple(choices))
    value: Value | None = None
    try:
        with BuildContext(data, is_final=False, wrapped_test=replay_through_conjecture):
            value = draw(HypothesisSource(data))
        data.freeze()
    except StopTest:
        pass
    except Rejected:
        return None, Status.INVALID.name, False
    is_exact = data.misaligned_at is None and len(data.choices) == len(choices)
    return value, data.status.name, is_exact
