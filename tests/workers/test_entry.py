import multiprocessing
import os
import signal
import subprocess
import sys
from multiprocessing import Pipe
from pathlib import Path

import pytest

from checker.config.settings import RunSettings
from checker.core.system import STOP_SIGNALS
from checker.workers.entry import live, main
from checker.workers.messages import Drain, Leaving, LeavingKind
from checker.workers.queues import Receiver, Sender
from tests.asking import saying

SETTINGS = RunSettings(location="somewhere", kind="run", seed=7, operations=saying(headers={"a": "b"}))
FORKSERVER = multiprocessing.get_context("forkserver")


def telling(incarnation: int, settings: RunSettings, down: Receiver, up: Sender) -> None:
    down.wait()
    for number in STOP_SIGNALS:
        os.kill(os.getpid(), number)
    child = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"]
    ended = subprocess.run(child, check=False).returncode
    equal = settings == SETTINGS
    up.send(Leaving(LeavingKind.BUG, f"{incarnation} {ended} {equal} {down.get_nowait()}"))


def test_a_process_lives_one_incarnation_and_leaves_stopping_to_others() -> None:
    down_reading, down_writing = FORKSERVER.Pipe(duplex=False)
    up_reading, up_writing = FORKSERVER.Pipe(duplex=False)
    process = FORKSERVER.Process(target=main, args=(3, SETTINGS, down_reading, up_writing, telling))
    process.start()
    down_reading.close()
    up_writing.close()
    sender, receiver = Sender(down_writing), Receiver(up_reading)
    sender.send(Drain())
    assert receiver.wait(None)
    assert receiver.get_nowait() == Leaving(LeavingKind.BUG, f"3 -15 True {Drain()!r}")
    process.join()
    assert process.exitcode == 0
    assert receiver.get_nowait() is None
    assert receiver.closed
    sender.close()
    receiver.close()
    process.close()


def failing(incarnation: int, settings: RunSettings, down: Receiver, up: Sender) -> None:
    raise ZeroDivisionError


def test_whatever_happens_the_other_side_sees_the_end() -> None:
    down_reading, down_writing = Pipe(duplex=False)
    up_reading, up_writing = Pipe(duplex=False)
    sender, receiver = Sender(down_writing), Receiver(up_reading)
    with pytest.raises(ZeroDivisionError):
        live(1, SETTINGS, (Receiver(down_reading), Sender(up_writing)), failing)
    assert receiver.get_nowait() is None
    assert receiver.closed
    sender.send(Drain())
    assert sender.closed
    receiver.close()


def test_the_supervisor_does_not_import_what_can_crash_or_hang() -> None:
    source = (
        "import sys, checker.supervisor.supervisor;"
        "print([name for name in ('hypothesis', 'pycurl', 'httpx', 'jsonschema', 'jsonschema_rs',"
        " 'checker.openapi', 'checker.phases', 'checker.workers.loop') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_worker_brings_only_what_every_run_needs() -> None:
    code = (
        "import sys, checker.workers.starting.preloaded;"
        " print([name for name in ('asyncio', 'hypothesis', 'urllib3', 'pytest', 'rich') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_fetching_a_description_brings_no_command_line_of_the_client() -> None:
    code = (
        "import sys, checker.kinds.redirect_chain;"
        " print([name for name in ('click', 'rich', 'pygments', 'httpx._main') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_files_of_the_working_directory_do_not_stand_for_libraries(tmp_path: Path) -> None:
    (tmp_path / "jsonschema.py").write_text("raise SystemExit('not the library')")
    code = "import checker.workers.starting.preloaded"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_import_that_never_ends_is_ended_by_the_kernel() -> None:
    code = "from checker.core.system import ended_after\nwith ended_after(0.05):\n    while True: pass"
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGPROF


def test_the_bound_on_imports_ends_with_them() -> None:
    code = "import signal, checker.workers.starting.preloaded; print(signal.getitimer(signal.ITIMER_PROF))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "(0.0, 0.0)\n"
