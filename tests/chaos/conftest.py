"""A command line for each test, in a folder of its own, with a clock that does not end it."""

from pathlib import Path

import pytest

from tests.e2e.runner import SLOW_CLOCK, Command


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path.resolve(), program=SLOW_CLOCK)
