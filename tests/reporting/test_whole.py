import os
from pathlib import Path

import pytest

from checker.core.errors import UsageError
from checker.reporting.writing import check_writable, whole_file


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report"
    with whole_file(path) as file:
        file.write("a")
        assert not path.exists()
    assert [path.read_text()] == ["a"]
    assert os.listdir(path.parent) == ["report"]


@pytest.mark.parametrize("error", [OSError, ZeroDivisionError, KeyboardInterrupt])
def test_of_a_file_that_is_not_finished_nothing_stays(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "report"
    path.write_text("of before")
    with pytest.raises(error), whole_file(path) as file:  # noqa: PT012 - the context is the thing
        file.write("half")
        raise error
    assert path.read_text() == "of before"
    assert os.listdir(tmp_path) == ["report"]


def test_what_is_no_file_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    check_writable(path)
    with whole_file(path) as file:
        file.write("a")
    assert os.read(reading, 9) == b"a"
    assert path.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]
    os.close(reading)


def test_a_place_that_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it is a directory"):
        check_writable(tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        check_writable(blocked / "report")
    check_writable(tmp_path / "reports" / "report")
    assert list((tmp_path / "reports").iterdir()) == []
