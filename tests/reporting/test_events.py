"""The events of a run: by time, whoever wrote them, while the run goes on and afterwards."""

import gc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from checker.corpus.records import Interaction
from checker.reporting.events import RunEvents

from .traffic import Workers


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    with closing(Workers(tmp_path)) as found:
        yield found


def cases(events: RunEvents) -> list[str]:
    return [one.case for one in events.new() if isinstance(one, Interaction)]


def test_order_is_that_of_time_and_case_in_all_traffic(workers: Workers) -> None:
    for row in [(1, "d", 1.0), (2, "a", 2.0), (3, "c", 1.0)]:
        workers.tell(*row)
    assert cases(RunEvents(workers.layout, 1)) == ["c", "d", "a"]


def test_each_call_yields_what_is_new(workers: Workers) -> None:
    events = RunEvents(workers.layout, 1)
    assert cases(events) == []
    workers.tell(1, "a", 1.0)
    assert cases(events) == ["a"]
    workers.tell(2, "b", 3.0)
    workers.tell(1, "c", 2.0)
    assert cases(events) == ["c", "b"]
    assert cases(events) == []
    assert events.count == 3


def test_half_a_frame_is_not_there_yet(workers: Workers) -> None:
    events = RunEvents(workers.layout, 1)
    workers.tell(1, "a", 1.0)
    size = workers.path(1).stat().st_size
    workers.tell(1, "b", 2.0)
    data = workers.path(1).read_bytes()
    with workers.path(1).open("r+b") as file:
        file.truncate(size + 5)
        assert cases(events) == ["a"]
        file.seek(0)
        file.write(data)
    assert cases(events) == ["b"]


def test_traffic_of_earlier_runs_does_not_belong_to_the_run(workers: Workers) -> None:
    workers.tell(1, "before", 1.0)
    workers.tell(3, "a", 2.0)
    assert cases(RunEvents(workers.layout, 2)) == ["a"]


def test_traffic_is_merged_while_it_is_read(workers: Workers) -> None:
    for number in range(1_000):
        workers.tell(1 + number % 2, f"{number:03}", float(number))
    events = RunEvents(workers.layout, 1)
    new = (one for one in events.new() if isinstance(one, Interaction))
    assert [next(new).case for _ in range(3)] == ["000", "001", "002"]
    assert events.count == 3


def test_traffic_of_workers_that_follow_each_other_is_not_in_memory_together(workers: Workers) -> None:
    for number in range(2_000):
        workers.tell(1 + number // 100, f"{number:04}", float(number))
    events = RunEvents(workers.layout, 1)
    new = (one for one in events.new() if isinstance(one, Interaction))
    held = []
    for number, _ in enumerate(new):
        if number % 250 == 0:
            held.append(sum(isinstance(one, Interaction) for one in gc.get_objects()))
    assert len(held) == 8
    assert max(held) <= 200


def test_traffic_that_is_not_wanted_is_not_read(workers: Workers) -> None:
    workers.tell(1, "a", 1.0)
    assert cases(RunEvents(workers.layout, 1, has_traffic=False)) == []
