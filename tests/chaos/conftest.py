"""A command line for each test, in a folder of its own."""

from pathlib import Path

import pytest

from tests.e2e.runner import Command


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path.resolve())
