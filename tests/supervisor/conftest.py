from pathlib import Path

import pytest

from tests.supervisor.running import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)
