import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from checker.corpus.inflight import INLINE_BYTES, InflightReader, InflightWriter, Progress, Slot, Stage

TASK = "00000000000000a1"


def test_a_reader_sees_what_each_lane_does(tmp_path: Path) -> None:
    writer, reader = InflightWriter(tmp_path / "s", 2), InflightReader(tmp_path / "s")
    writer.enter(1, Stage.MAKE, TASK, 7)
    made = reader.slots()[1]
    assert (made.stage, made.task, made.index, made.recipe) == (Stage.MAKE, TASK, 7, None)
    writer.recipe(1, b"choices")
    writer.enter(1, Stage.SEND, TASK, 7)
    sent = reader.slots()[1]
    assert (sent.stage, sent.recipe) == (Stage.SEND, b"choices")
    assert made.since_ns <= sent.since_ns
    assert (reader.acting_lane, reader.pid) == (1, os.getpid())
    writer.clear_acting()
    assert reader.acting_lane is None
    writer.leave(1)
    assert [slot.stage for slot in reader.slots()] == [Stage.IDLE, Stage.IDLE]


def test_making_the_next_case_forgets_the_recipe_of_the_last(tmp_path: Path) -> None:
    writer, reader = InflightWriter(tmp_path / "s", 1), InflightReader(tmp_path / "s")
    writer.recipe(0, b"old")
    writer.begin(0, TASK, 8, 9)
    assert reader.slots()[0].recipe is None


@pytest.mark.parametrize("size", [0, 1, INLINE_BYTES, INLINE_BYTES + 1, 100_000])
def test_recipes_of_any_size_are_left_whole(tmp_path: Path, size: int) -> None:
    writer, reader = InflightWriter(tmp_path / "s", 2), InflightReader(tmp_path / "s")
    writer.enter(1, Stage.SEND, TASK, 1)
    writer.recipe(1, choices := os.urandom(size))
    assert reader.slots()[1].recipe == choices
    writer.close()
    assert list(tmp_path.iterdir()) == []


def test_a_spill_file_of_another_case_is_no_recipe(tmp_path: Path) -> None:
    writer, reader = InflightWriter(tmp_path / "s", 1), InflightReader(tmp_path / "s")
    writer.enter(0, Stage.SEND, TASK, 1)
    writer.recipe(0, bytes(20_000))
    (spill,) = (path for path in tmp_path.iterdir() if path.name != "s")
    spill.write_bytes(spill.read_bytes()[:-1] + b"x")
    assert reader.slots()[0].recipe is None


def test_progress_names_the_last_tasks(tmp_path: Path) -> None:
    writer, reader = InflightWriter(tmp_path / "s", 1), InflightReader(tmp_path / "s")
    for number in range(1, 200):
        writer.begin(0, f"{number:016x}", number, number)
    writer.begin(0, f"{199:016x}", 199, 200)
    found = reader.progress()
    assert len(found) == 128
    assert found[f"{199:016x}"] == Progress(200)
    assert f"{1:016x}" not in found


def test_tallies_outlive_the_worker_and_begin_anew_with_another_task(tmp_path: Path) -> None:
    writer, reader = InflightWriter(tmp_path / "s", 1), InflightReader(tmp_path / "s")
    for number in range(1, 129):
        writer.tally(f"{number:016x}", number, 200 + number % 2, 3 * number)
    assert reader.tallies()[f"{128:016x}"] == (128, 200, 384)
    assert reader.tallies()[f"{1:016x}"] == (1, 201, 3)
    assert reader.progress() == {}
    writer.begin(0, f"{129:016x}", 4, 5)
    assert reader.tallies()[f"{129:016x}"] == (0, 0, 0)
    assert f"{1:016x}" not in reader.tallies()
    assert reader.progress() == {f"{129:016x}": Progress(5)}


def test_a_task_that_ended_early_says_where(tmp_path: Path) -> None:
    writer, reader = InflightWriter(tmp_path / "s", 1), InflightReader(tmp_path / "s")
    ended, other = f"{7:016x}", f"{8:016x}"
    writer.begin(0, ended, 3, 4)
    writer.end(ended, 4)
    writer.begin(0, other, 0, 1)
    assert reader.progress() == {ended: Progress(4, is_ended=True), other: Progress(1)}


def test_what_is_made_again_is_counted_beside_the_next_index(tmp_path: Path) -> None:
    writer, reader = InflightWriter(tmp_path / "s", 1), InflightReader(tmp_path / "s")
    task = f"{7:016x}"
    writer.begin(0, task, 3, (1 << 32) - 1, 5)
    assert reader.progress() == {task: Progress((1 << 32) - 1, 5)}
    writer.begin(0, task, 9, 10, 70_000)
    assert reader.progress() == {task: Progress(10, 70_000)}


@pytest.mark.parametrize("content", [None, b"", b"x" * 10_000, bytes(4096)])
def test_an_absent_or_damaged_file_is_nothing_in_flight(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "s").write_bytes(content)
    reader = InflightReader(tmp_path / "s")
    assert (reader.slots(), reader.acting_lane, reader.heartbeat_ns) == ([], None, 0)
    assert reader.progress() == {} or content is not None


CHILD = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from checker.corpus.inflight import InflightWriter, Stage
    writer = InflightWriter(Path(sys.argv[1]), 1)
    print("ready", flush=True)
    number = 0
    while True:
        number += 1
        task = f"{number:016x}"
        writer.begin(0, task, number, number)
        writer.recipe(0, b"%d" % number)
        writer.enter(0, Stage.SEND, task, number)
    """
)


def test_a_killed_writer_never_leaves_a_mix(tmp_path: Path) -> None:
    for round_number in range(3):
        path = tmp_path / f"s{round_number}"
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        reader = InflightReader(path)
        for _ in range(500):
            assert_no_mix(reader.slots()[0])
        child.send_signal(signal.SIGKILL)
        child.communicate()
        slot = reader.slots()[0]
        assert_no_mix(slot)
        assert slot.stage is not Stage.SEND or slot.recipe == b"%d" % slot.index
        assert all(int(task, 16) == one.reached for task, one in reader.progress().items())


def assert_no_mix(slot: Slot) -> None:
    assert slot.stage is Stage.IDLE or int(slot.task, 16) == slot.index
