"""A command line for each test, in a folder of its own, with a clock that does not end it."""

import sys
from pathlib import Path

import pytest

from tests.e2e.runner import Command

SLOW_CLOCK = str(Path(__file__).with_name("slow_clock.py"))


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path.resolve(), program=(sys.executable, SLOW_CLOCK))
