"""Signals go to child processes only: each test is a program of its own."""

import subprocess
import sys

import pytest

from checker.core.system import STOP_SIGNALS

HEAD = """
import signal
from checker.core.system import *
number = signal.Signals({number})
if number is signal.SIGHUP: signal.signal(number, signal.SIG_DFL)
"""
"""The tests themselves may run under `nohup`."""
STOPS = pytest.mark.parametrize("number", STOP_SIGNALS, ids=lambda number: number.name)


def outcome(program: str, number: int) -> tuple[int, str, str]:
    arguments = [sys.executable, "-c", HEAD.format(number=int(number)) + program]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@STOPS
def test_interrupts_are_counted_and_handlers_put_back(number: int) -> None:
    program = (
        "before = signal.getsignal(number)\n"
        "with Interrupts() as interrupts:\n"
        "    for _ in range(3): signal.raise_signal(number)\n"
        "print(interrupts.count, signal.getsignal(number) is before)"
    )
    assert outcome(program, number) == (0, "3 True\n", "")


@STOPS
def test_the_report_takes_one_more_and_not_two(number: int) -> None:
    program = (
        "with Interrupts() as interrupts:\n"
        "    signal.raise_signal(number)\n"
        "    interrupts.take_one_more()\n"
        "    signal.raise_signal(number)\n"
        "    print(interrupts.count)\n"
        "    try: signal.raise_signal(number)\n"
        "    except KeyboardInterrupt: print('raised')\n"
    )
    assert outcome(program, number) == (0, "2\nraised\n", "")


@STOPS
def test_before_a_run_they_raise_and_after_it_they_end(number: int) -> None:
    program = (
        "raise_interrupts()\n"
        "try: signal.raise_signal(number)\n"
        "except KeyboardInterrupt: print('raised', flush=True)\n"
        "end_at_interrupts()\n"
        "signal.raise_signal(number)\n"
        "print('still there')"
    )
    assert outcome(program, number) == (-number, "raised\n", "")


def test_nohup_is_obeyed() -> None:
    program = (
        "signal.signal(number, signal.SIG_IGN)\n"
        "raise_interrupts()\n"
        "with Interrupts() as interrupts: signal.raise_signal(number)\n"
        "end_at_interrupts()\n"
        "signal.raise_signal(number)\n"
        "print(interrupts.count)"
    )
    number = next(one for one in STOP_SIGNALS if one.name == "SIGHUP")
    assert outcome(program, number) == (0, "0\n", "")
