"""A process that runs command lines, whose memory can be looked at."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

import pytest

import checker

_ROOT = Path(checker.__file__).parent.parent
_PATIENCE_S = 540
"""Only for what never ends: no result depends on it."""


@dataclass(frozen=True)
class Ended:
    """How a command line ended."""

    code: int
    output: str
    bug: str
    """An exception that no part of the program had expected."""
    peak_mib: float


Run = Callable[..., Ended]


@pytest.fixture(scope="module")
def _driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator["subprocess.Popen[str]"]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHECKER_")}
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "NO_COLOR", "FORCE_COLOR"):
        kept.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.hostile.driver"],
        cwd=tmp_path_factory.mktemp("driver"),
        env=kept | {"PYTHONPATH": str(_ROOT), "COLUMNS": "80"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def drive(_driver: "subprocess.Popen[str]") -> Callable[..., Ended]:
    """Carry out a command line; its working directory is that of the driver."""
    assert _driver.stdin is not None
    assert _driver.stdout is not None
    into, out = _driver.stdin, _driver.stdout

    def drive(*arguments: str) -> Ended:
        into.write(json.dumps(arguments) + "\n")
        assert wait([out.fileno()], _PATIENCE_S), "it never ended"
        return Ended(**json.loads(out.readline()))

    return drive


@pytest.fixture
def run(drive: Callable[..., Ended], tmp_path: Path) -> Run:
    """Carry out `checker run` with these arguments and this configuration."""

    def run(*arguments: str, toml: str = "") -> Ended:
        config = tmp_path / "checker.toml"
        config.write_text(toml)
        chosen = ["--inline", "--seed", "1", "--phases", "fuzzing", "--mode", "positive"]
        return drive("--config-file", str(config), "run", *arguments, *chosen)

    return run
