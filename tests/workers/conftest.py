"""Workers that look at their orders, or at their house, each round: not by the clock."""

from collections.abc import Iterator

import pytest

from checker.workers import loop


@pytest.fixture(autouse=True, scope="module")
def _orders_are_looked_at_each_round() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop, "_ORDERS_S", 0.0)
        yield


@pytest.fixture
def housekeeping_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_HOUSEKEEPING_S", 0.0)
