import os
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest

from checker.__main__ import process_age_s

_TELLS = """
import time
from checker.__main__ import process_age_s
used = time.process_time()
print("begun", flush=True)
input()
print(process_age_s(), used, flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not say")
def test_the_age_of_a_process_is_that_since_it_was_made() -> None:
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    with subprocess.Popen([sys.executable, "-c", _TELLS], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        begun = time.clock_gettime(time.CLOCK_BOOTTIME)
        # Longer than its start computes: what a process used is not how old it is.
        time.sleep(0.5)
        least = time.clock_gettime(time.CLOCK_BOOTTIME) - begun
        process.stdin.write(b"now\n")
        process.stdin.flush()
        age, used = map(float, process.stdout.readline().split())
        most = time.clock_gettime(time.CLOCK_BOOTTIME) - before
    assert used + least <= age + tick_s
    assert age <= most + tick_s


def test_a_name_with_spaces_and_parentheses_hides_nothing(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    # As old as the system: no process of it has used more.
    stat.write_bytes(b"1 (a) b (c) S " + b"0 " * 18 + b"0 1 1\n")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before <= process_age_s(stat) <= time.clock_gettime(time.CLOCK_BOOTTIME)


@pytest.mark.parametrize("content", [b"", b"1 (a) S 0 0\n", b"1 (a) S " + b"x " * 30])
def test_where_nobody_says_it_is_what_it_used(tmp_path: Path, content: bytes) -> None:
    stat = tmp_path / "stat"
    stat.write_bytes(content)
    before = time.process_time()
    assert before <= process_age_s(stat) <= time.process_time()
    stat.unlink()
    assert process_age_s(stat) <= time.process_time()
