"""What class checks keep, and what becomes of it: by the records alone."""

import re
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from checker.checks.custom import ClassCheck
from checker.corpus.codec import pack
from checker.corpus.records import CheckState, Finding, OperationError
from checker.workers.class_checks import MOST_STATE, ClassChecks, encoded


class Merged:
    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def state(self):
        return dict(self.seen)

    def merge(self, state):
        self.seen.update(state)

    def after_run(self, context):
        raise AssertionError(f"{self.seen.total()}")


class Alone:
    def __init__(self) -> None:
        self.seen: object = 0

    def after_run(self, context):
        assert not self.seen, f"{self.seen}"


def checks(*instances: object) -> ClassChecks:
    return ClassChecks(tuple(ClassCheck(type(one).__name__, one, {}) for one in instances))


def kept(check: str, *states: object) -> list[tuple[int, CheckState]]:
    return [(number, CheckState(check, pack(encoded(state)))) for number, state in enumerate(states)]


def test_a_state_is_written_when_it_changed() -> None:
    merged = Merged()
    of_worker = checks(merged)
    assert len(list(of_worker.news())) == 1
    assert list(of_worker.news()) == []
    merged.seen["a"] += 1
    assert [one.state for one in of_worker.news()] == [pack(encoded({"a": 1}))]


def test_the_last_state_of_each_worker_counts_once() -> None:
    states = [*kept("Merged", {"a": 1}, {"a": 2}), *kept("Merged", {"a": 3})]
    (finding,) = checks(Merged()).conclusion(states)
    assert isinstance(finding, Finding)
    assert (finding.label, finding.message.split("\n")[0]) == ("Run checks", "5")


def test_what_cannot_be_merged_is_told_when_a_worker_was_replaced() -> None:
    alone = checks(Alone())
    assert alone.works_alone == "Alone"
    (finding,) = alone.conclusion(kept("Alone", {"seen": 3}))
    assert isinstance(finding, Finding)
    (error,) = checks(Alone()).conclusion(kept("Alone", {"seen": 3}, {"seen": 4}))
    assert isinstance(error, OperationError)
    assert "it has no `merge`, and 2 workers had a part of the run" in error.message


class Text(str):
    """A text of a class of its own."""


LOOP: list[object] = []
LOOP.append(LOOP)


class Colour(Enum):
    RED = 1


class Pair(NamedTuple):
    left: int
    right: set[int]


@dataclass(frozen=True)
class Point:
    x: int
    seen: frozenset[str] = frozenset()


STATES: tuple[object, ...] = (
    {1, 2},
    frozenset({("a", 1)}),
    ("a", ["b"], b"c"),
    bytearray(b"a"),
    {("GET", 1): {"a"}, None: 1.5, 2: True},
    Counter({"a": 2, ("b", 1): 1}),
    OrderedDict(a=1, b=2),
    defaultdict(set, {"a": {1}}),
    defaultdict(Counter),
    deque([1, {2}], maxlen=3),
    datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    datetime(2026, 1, 2),
    date(2026, 1, 2),
    time(1, 2, 3),
    timedelta(days=-1, microseconds=5),
    Decimal("1.50"),
    Fraction(1, 3),
    UUID(int=7),
    Path("a/b"),
    complex(1, 2),
    range(1, 9, 2),
    2**80,
    "\ud800",
    Colour.RED,
    Pair(1, {2}),
    Point(1, frozenset({"a"})),
    {"a": [{"b": (Point(2), {Colour.RED: {Pair(1, set()).left}})}]},
)


@pytest.mark.parametrize("state", STATES, ids=repr)
def test_a_state_keeps_its_types(state: object) -> None:
    given, taken = Alone(), Alone()
    given.seen = state
    (record,) = checks(given).news()
    assert record.lost == ""
    list(checks(taken).conclusion([(1, record)]))
    assert taken.seen == state
    assert repr(taken.seen) == repr(state)
    assert type(taken.seen) is type(state)


def test_a_state_of_a_class_that_is_not_loaded_is_an_error() -> None:
    state = CheckState("Alone", pack(["dict", ["seen", ["dataclass", "antigravity", "Nothing"]]]))
    (error,) = checks(Alone()).conclusion([(1, state)])
    assert isinstance(error, OperationError)
    assert "its state cannot be read" in error.message
    assert "antigravity" not in sys.modules


def test_a_state_that_nobody_can_keep_is_lost_and_told() -> None:
    for state, why in (
        (object(), "`seen` holds a `object`, which cannot be sent from a worker"),
        (re.compile("a"), "`seen` holds a `Pattern`"),
        (defaultdict(lambda: 1), "`seen` holds a `defaultdict` with a function of its own"),
        ({"a": [Text("b")]}, "`seen` holds a `Text`"),
        (LOOP, "`seen` contains itself"),
        ("x" * MOST_STATE, "bytes; at most"),
    ):
        alone = Alone()
        alone.seen = state
        (record,) = checks(alone).news()
        assert why in record.lost
        (error,) = checks(Alone()).conclusion([(1, record)])
        assert isinstance(error, OperationError)
        assert "`after_run` was not called" in error.message
