import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Connection

import psutil
import pytest

from checker.workers.limits import Limits, Memory, die_with_parents

FORKSERVER = multiprocessing.get_context("forkserver")


def measured(connection: Connection) -> None:
    roomy, tight = Limits(1 << 40, 1 << 40), Limits(1 << 40, -1, once_s=1e9)
    connection.send([roomy.exceeded(1.0), tight.exceeded(1.0), tight.exceeded(1.5), tight.exceeded(2.0)])
    faulthandler.cancel_dump_traceback_later()


def test_memory_is_measured_once_a_second() -> None:
    reading, writing = FORKSERVER.Pipe(duplex=False)
    process = FORKSERVER.Process(target=measured, args=(writing,))
    process.start()
    assert reading.recv() == [False, True, False, True]
    process.join()
    process.close()
    reading.close()
    writing.close()


def test_nothing_is_limited_inline() -> None:
    assert not Limits(1, 0).exceeded(1.0)


@pytest.mark.parametrize(
    ("now_bytes", "now_s", "leaves"),
    [
        (150, 100.0, False),
        (151, 30.0, True),
        # A successor would take two seconds once more, for nine times as much work.
        (151, 28.0, False),
        (1_001, 10.0, True),
    ],
)
def test_who_grew_leaves_when_it_is_worth_another_opening(now_bytes: int, now_s: float, *, leaves: bool) -> None:
    memory = Memory(most_bytes=1_000, growth_bytes=50, opened_bytes=100, opened_s=10.0, again_s=2.0)
    assert memory.is_spent(now_bytes, now_s) is leaves


def test_a_worker_of_a_large_description_may_take_twice_what_it_opened_with() -> None:
    memory = Memory(most_bytes=400, growth_bytes=1_000, opened_bytes=300, opened_s=0.0, again_s=0.0)
    assert [memory.is_spent(now, 100.0) for now in (600, 601)] == [False, True]
    small = memory._replace(opened_bytes=100)
    assert [small.is_spent(now, 100.0) for now in (400, 401)] == [False, True]


def holding_the_interpreter() -> None:
    Limits(1 << 40, 1 << 40, watchdog_s=0.2).exceeded(1.0)
    os.close(2)
    # One native call that neither ends nor lets go of the interpreter.
    sum(range(10**12))


def test_the_watchdog_ends_a_native_call_that_holds_the_interpreter() -> None:
    process = FORKSERVER.Process(target=holding_the_interpreter)
    process.start()
    process.join()
    assert process.exitcode == 1
    process.close()


PARENT = """
import multiprocessing, sys, time
sys.path[:0] = {path!r}
from test_limits import sleeper
if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    reading, writing = context.Pipe(duplex=False)
    context.Process(target=sleeper, args=(writing,)).start()
    print(reading.recv(), flush=True)
    time.sleep(100_000)
"""


def sleeper(connection: Connection) -> None:
    die_with_parents()
    connection.send(os.getpid())
    # One native call that neither ends nor lets go of the interpreter.
    sum(range(10**12))


def test_a_worker_dies_with_its_supervisor() -> None:
    source = PARENT.format(path=[os.path.dirname(__file__)])
    parent = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    # It would go on for hours.
    while is_running(worker):
        time.sleep(0.01)


def is_running(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
