import time
from pathlib import Path

import psutil
import pytest

from checker.core.process_age import process_age_s


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not say")
def test_the_age_of_a_process_is_that_since_it_was_made() -> None:
    made_at, tick_s = psutil.Process().create_time(), 0.02
    least = time.time() - made_at
    age = process_age_s()
    assert least - tick_s <= age <= time.time() - made_at + tick_s


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
