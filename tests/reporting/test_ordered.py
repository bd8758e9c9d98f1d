from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.corpus.records import Interaction
from checker.reporting.ordered import HANDOVER_S, LATENESS_S, OrderedTraffic

from .traffic import Workers


class Reading:
    """Cases in the order in which they are told, by a clock that is set."""

    def __init__(self, workers: Workers, first: int = 1) -> None:
        self.now = 0.0
        self.told: list[str] = []
        self.traffic = OrderedTraffic(workers.layout, first, lambda: self.now)

    @property
    def read(self) -> int:
        return self.traffic._count

    def look(self, *, at: float | None = None, is_over: bool = False) -> list[str]:
        self.now = self.now if at is None else at
        found = [one.case for one in self.traffic.ready(is_over)]
        self.told += found
        return found


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    with closing(Workers(tmp_path)) as found:
        yield found


def test_order_is_that_of_time_and_case_whoever_wrote_it(workers: Workers) -> None:
    rows = [(1, "d", 1.0), (2, "a", 2.0), (3, "c", 1.0)]
    for row in rows:
        workers.tell(*row)
    assert Reading(workers).look(is_over=True) == ["c", "d", "a"]


def test_what_may_still_be_preceded_is_read_and_held_back(workers: Workers) -> None:
    reading = Reading(workers)
    workers.tell(1, "late", 10.0)
    assert (reading.look(at=10.0), reading.read) == ([], 1)
    # Another worker hands over what it recorded before.
    workers.tell(2, "early", 9.0)
    assert reading.look(at=9.5 + LATENESS_S) == ["early"]
    assert reading.look(at=10.5 + LATENESS_S) == ["late"]
    assert reading.look(is_over=True) == []


def test_of_what_lies_there_already_nothing_is_held_longer_than_its_neighbours(
    workers: Workers,
) -> None:
    for number in range(50):
        workers.tell(1, f"a{number}", 2.0 * number)
        workers.tell(2, f"b{number}", 2.0 * number + 1)
    reading = Reading(workers)
    stream = reading.traffic.ready(is_over=True)
    assert [next(stream).case for _ in range(4)] == ["a0", "b0", "a1", "b1"]
    # Merged, not sorted in memory.
    assert reading.read <= 8


def test_what_comes_later_than_it_may_stands_where_it_came(workers: Workers) -> None:
    reading = Reading(workers)
    workers.tell(1, "a", 10.0)
    assert reading.look(at=20.0) == ["a"]
    workers.tell(2, "held up", 5.0)
    workers.tell(2, "then", 12.0)
    assert reading.look(at=30.0) == ["held up", "then"]


def test_half_a_frame_is_not_there_yet(workers: Workers) -> None:
    reading = Reading(workers)
    workers.tell(1, "a", 1.0)
    size = workers.path(1).stat().st_size
    workers.tell(1, "b", 2.0)
    data = workers.path(1).read_bytes()
    with workers.path(1).open("r+b") as file:
        file.truncate(size + 5)
        assert reading.look(at=100.0) == ["a"]
        file.seek(0)
        file.write(data)
    assert reading.look() == ["b"]


def test_traffic_of_earlier_runs_is_none_of_ours(workers: Workers) -> None:
    workers.tell(1, "before", 1.0)
    workers.tell(3, "a", 2.0)
    assert Reading(workers, first=2).look(is_over=True) == ["a"]


def test_who_is_told_to_stop_tells_no_more_and_counts_what_is_left(workers: Workers) -> None:
    for number in range(10):
        workers.tell(1 + number % 2, str(number), float(number))
    reading, told = Reading(workers), list[str]()
    for one in reading.traffic.ready(True, lambda: len(told) >= 4):
        told.append(one.case)
    assert told == ["0", "1", "2", "3"]
    assert reading.traffic.count_rest(lambda: False) == (6, True)
    # Merged, not read ahead.
    assert reading.read <= 6


def test_what_is_held_back_when_nobody_waits_any_more_is_counted_instead_of_told(
    workers: Workers,
) -> None:
    reading, told = Reading(workers), list[str]()
    for number in range(1000):
        workers.tell(1, f"{number:03}", number / 2000)
    assert reading.look(at=0.5) == []
    for one in reading.traffic.ready(True, lambda: len(told) >= 3):
        told.append(one.case)
    assert told == ["000", "001", "002"]
    assert reading.traffic.count_rest(lambda: False) == (997, True)


def test_what_all_workers_are_known_to_be_beyond_is_not_held_back(workers: Workers) -> None:
    reading = Reading(workers)
    for tenth in range(30):
        workers.record(1, f"a{tenth:02}", tenth / 10)
        workers.record(2, f"b{tenth:02}", tenth / 10)
    workers.flush()
    known = 2.9 - HANDOVER_S
    assert reading.look(at=2.9) == [
        f"{who}{n:02}" for n in range(30) if n / 10 < known for who in "ab"
    ]
    # One of them says nothing for a while: what it may still hand over comes first.
    workers.tell(1, "a30", 5.5)
    assert reading.look(at=5.5) == [f"{who}{n:02}" for n in (22, 23, 24) for who in "ab"]


def test_counting_ends_when_there_is_no_time_for_it(workers: Workers) -> None:
    for number in range(10):
        workers.tell(1, str(number), float(number))
    assert Reading(workers).traffic.count_rest(lambda: True) == (1, False)


steps = st.lists(
    st.tuples(
        st.sampled_from(["record", "record", "flush", "look"]),
        st.integers(1, 3),
        st.floats(0, LATENESS_S / 3),
    ),
    max_size=40,
)


@given(steps)
def test_whatever_is_read_when_all_comes_once_and_by_time(
    steps: list[tuple[str, int, float]],
) -> None:
    with TemporaryDirectory() as folder, closing(Workers(Path(folder))) as workers:
        reading = Reading(workers)
        recorded, flushed_at = list[tuple[float, str]](), 0.0
        for number, (step, worker, seconds) in enumerate(steps):
            reading.now += seconds
            # A worker whose loop turns hands over in time.
            if step == "flush" or reading.now - flushed_at > LATENESS_S / 2:
                workers.flush()
                flushed_at = reading.now
            if step == "record":
                case = f"{number:03}"
                workers.record(worker, case, reading.now)
                recorded.append((reading.now, case))
            elif step == "look":
                reading.look()
        workers.flush()
        reading.look(is_over=True)
        reading.traffic.close()
    assert reading.told == [case for _, case in sorted(recorded)]


def test_nobody_is_waited_for_who_records_as_fast_as_it_is_read(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = Reading(workers)
    workers.tell(1, "0", 0.0)

    hold = reading.traffic._hold

    def record_one_more(one: Interaction) -> None:
        reading.now += 1.0
        workers.tell(1, str(int(reading.now)), reading.now)
        hold(one)

    monkeypatch.setattr(reading.traffic, "_hold", record_one_more)
    for _ in range(10):
        reading.look()
    # Each look ends, and what is older than the lateness is told before the run is over.
    assert reading.told[:3] == ["0", "1", "2"]
    assert 0 < len(reading.traffic._held) <= LATENESS_S + 2
