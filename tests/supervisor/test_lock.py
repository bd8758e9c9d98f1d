import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from checker.core.errors import UsageError
from checker.corpus.layout import RunLayout
from checker.supervisor.lock import Ownership, kill_leftovers


@pytest.fixture
def layout(tmp_path: Path) -> RunLayout:
    return RunLayout(tmp_path / "corpus")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100_000)"]) as process:
        yield process
        process.kill()


def listed(process: subprocess.Popen[bytes], later_s: float = 0.0) -> bytes:
    return f"{process.pid} {psutil.Process(process.pid).create_time() + later_s!r}\n".encode()


def test_the_second_owner_is_refused_and_told_who_holds_it(layout: RunLayout) -> None:
    with Ownership(layout), pytest.raises(UsageError, match=rf"pid {os.getpid()}"), Ownership(layout):
        pass


def test_the_corpus_is_free_again_afterwards(layout: RunLayout) -> None:
    for _ in range(2):
        with Ownership(layout), pytest.raises(UsageError), Ownership(layout):
            pass


def test_leftovers_of_a_dead_owner_are_killed(layout: RunLayout, sleeper: subprocess.Popen[bytes]) -> None:
    layout.create()
    (layout.root / "processes").write_bytes(listed(sleeper))
    with Ownership(layout):
        assert sleeper.wait() == -9


def test_a_process_that_only_has_the_same_pid_is_left_alone(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    path = tmp_path / "processes"
    path.write_bytes(listed(sleeper, later_s=-100.0))
    assert kill_leftovers(path) == []
    assert sleeper.poll() is None


def test_torn_and_foreign_lines_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "processes"
    path.write_bytes(b"\xff\n12 x\n\n-1 0\n1")
    assert kill_leftovers(path) == []
    assert kill_leftovers(tmp_path / "absent") == []


def test_registered_processes_are_listed(layout: RunLayout, sleeper: subprocess.Popen[bytes]) -> None:
    with Ownership(layout) as ownership:
        ownership.register(sleeper.pid)
        lines = (layout.root / "processes").read_text().splitlines()
        assert [int(line.split()[0]) for line in lines] == [os.getpid(), sleeper.pid]
        assert float(lines[1].split()[1]) == psutil.Process(sleeper.pid).create_time()
