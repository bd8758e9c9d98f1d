import io
import os
import threading

import pytest

from checker.core.system import LenientStream


def test_a_pipe_that_somebody_made_non_blocking_loses_nothing() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    text = "".join(f"{number}\n" for number in range(200_000))
    assert len(text) > 1 << 20, "more than a pipe holds"

    def write() -> None:
        with io.TextIOWrapper(io.BufferedWriter(LenientStream(writing)), encoding="ascii") as stream:
            stream.write(text)
        os.close(writing)

    writer = threading.Thread(target=write)
    writer.start()
    with open(reading, encoding="ascii") as stream:
        assert stream.read() == text
    writer.join()


def test_a_reader_that_leaves_is_no_problem() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    outlet = LenientStream(writing)
    assert outlet.write(b"abc") == 3
    assert outlet.problem == ""
    os.close(writing)


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="the disk that is full is /dev/full, which this system does not have"
)
def test_what_cannot_be_written_is_taken_and_remembered() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    outlet = LenientStream(full)
    assert [outlet.write(b"abc"), outlet.write(b"")] == [3, 0]
    assert outlet.problem == "No space left on device"
    os.close(full)
