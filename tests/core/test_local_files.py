"""Files that users name."""

import os
import socket
from pathlib import Path

import pytest

from checker.core.errors import UnreadableFile
from checker.core.system import pieces_of, read_local, shown_size


def refused(path: str | Path, most_bytes: int = 100) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read_local(path, "a cassette", most_bytes=most_bytes)
    return str(caught.value)


def test_content_comes_whole_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    assert read_local(path, "a cassette", most_bytes=100) == b"x" * 100
    said = f"{path} holds more than 99 bytes; give a cassette of at most that"
    assert refused(path, 99) == said


def test_what_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert "holds more than 2 MiB" in refused(path, 2 << 20)


def test_what_is_no_regular_file_is_named_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe").endswith("is a named pipe; give the path of a cassette")
    assert refused(tmp_path).endswith("is a directory; give the path of a cassette in it")
    assert refused("/dev/zero") == "/dev/zero is a device; give the path of a cassette"
    with socket.socket(socket.AF_UNIX) as listening:
        folder = os.getcwd()
        # Names of sockets are short.
        os.chdir(tmp_path)
        try:
            listening.bind("socket")
        finally:
            os.chdir(folder)
        assert refused(tmp_path / "socket").endswith("is a socket; give the path of a cassette")


def test_what_cannot_be_found_is_one_sentence(tmp_path: Path) -> None:
    assert refused(tmp_path / "none").endswith("does not exist; give the path of a cassette")
    assert "is no path" in refused("a\0b")
    assert "File name too long" in refused("a" * 5000)


def test_large_files_come_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(3 << 20))
    assert [len(piece) for piece in pieces_of(path, "a cassette")] == [1 << 20] * 3


def test_sizes_are_shown_as_they_were_set() -> None:
    assert [shown_size(size) for size in (1 << 30, 3 << 20, 1 << 10, 1000)] == ["1 GiB", "3 MiB", "1 KiB", "1000 bytes"]
