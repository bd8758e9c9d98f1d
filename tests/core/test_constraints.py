"""Whether values break the constraints that refusals state."""

from checker.core.constraints import constraint, is_broken_by
from checker.core.request import Location


def test_multiples_are_compared_by_their_digits() -> None:
    rows = (
        (0.01, 19.99, False), (0.1, 0.3, False), (0.1, 0.35, True), (500, 1500, False), (500, 1, True), (2, True, False),
        (0.01, 10**400, False), (10**310, 1.5, True), (0.5, float("inf"), False),
    )  # fmt: skip
    for step, value, is_broken in rows:
        rule = constraint(Location.BODY, ["price"], "multipleOf", step)
        assert rule is not None
        assert is_broken_by(rule, {"price": value}) is is_broken, (step, value)
