"""Processes that run command lines and consider documents, whose memory can be looked at."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

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


@contextmanager
def _answering(module: str, directory: Path) -> Iterator[Callable[..., Any]]:
    """Asks a process that runs this module: a line of JSON in, a line of JSON out."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHECKER_")}
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "NO_COLOR", "FORCE_COLOR"):
        kept.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=directory,
        env=kept | {"PYTHONPATH": str(_ROOT), "COLUMNS": "80"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    into, out = process.stdin, process.stdout

    def ask(*words: str) -> Any:
        into.write(json.dumps(words) + "\n")
        assert wait([out.fileno()], _PATIENCE_S), "it never ended"
        return json.loads(out.readline())

    try:
        yield ask
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def consider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., dict[str, Any]]]:
    """What becomes of a document, by its family and its name."""
    with _answering("tests.hostile.considering", tmp_path_factory.mktemp("considering")) as ask:
        yield ask


@pytest.fixture(scope="module")
def _driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    with _answering("tests.hostile.driver", tmp_path_factory.mktemp("driver")) as ask:
        yield ask


@pytest.fixture
def drive(_driver: Callable[..., Any]) -> Callable[..., Ended]:
    """Carry out a command line; its working directory is that of the driver."""
    return lambda *arguments: Ended(**_driver(*arguments))


@pytest.fixture
def run(drive: Callable[..., Ended], tmp_path: Path) -> Run:
    """Carry out `checker run` with these arguments and this configuration."""

    def run(*arguments: str, toml: str = "") -> Ended:
        config = tmp_path / "checker.toml"
        config.write_text(toml)
        chosen = ["--inline", "--seed", "1", "--phases", "fuzzing", "--mode", "positive"]
        return drive("--config-file", str(config), "run", *arguments, *chosen)

    return run
