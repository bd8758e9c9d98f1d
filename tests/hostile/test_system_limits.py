"""Limits of the system: a run ends in one sentence, or well, and never in a traceback."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import checker
from checker.core.system import limit_reached
from tests.hostile.servers import Behaviour, page, serving

ROOT = Path(checker.__file__).parent.parent
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Small", "version": "1"},
    "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
}


def limited(folder: Path, kind: int, most: int) -> tuple[int, str]:
    """Exit code and output of a run in a process with a limit."""
    pages: dict[str, Behaviour] = {"/openapi.json": page(json.dumps(DOCUMENT).encode())}
    with serving({**pages, "/": page(b"")}) as url:
        ran = subprocess.run(
            [sys.executable, "-m", "checker", "run", f"{url}/openapi.json", "-n", "1"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(kind, (most, most)),
            check=False,
        )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize("most", [5, 10, 15])
@pytest.mark.thorough_beyond(1)
def test_too_few_files_are_told_in_one_sentence(tmp_path: Path, most: int) -> None:
    code, told = limited(tmp_path, resource.RLIMIT_NOFILE, most)
    assert code == 2, told
    assert told.count(f"too many open files: the system allows {most}; raise `ulimit -n`") == 1
    assert "Traceback" not in told
    assert "This is a bug" not in told


@pytest.mark.thorough
def test_a_run_ends_well_with_few_files(tmp_path: Path) -> None:
    code, told = limited(tmp_path, resource.RLIMIT_NOFILE, 30)
    assert code in (0, 1), told
    assert "Traceback" not in told


def test_too_little_memory_is_told_in_one_sentence(tmp_path: Path) -> None:
    code, told = limited(tmp_path, resource.RLIMIT_AS, 80 << 20)
    assert code == 2, told
    assert told.count("the system allows 80 MiB for each process; raise `ulimit -v`") == 1
    assert "Traceback" not in told


def test_other_errors_are_no_limits() -> None:
    assert not limit_reached(ZeroDivisionError())
    assert not limit_reached(FileNotFoundError(2, "No such file"))


def test_the_cause_of_an_error_tells_of_the_limit() -> None:
    error = RuntimeError("cannot be read")
    error.__cause__ = OSError(24, "Too many open files", "/proc/1/statm")
    assert limit_reached(error).startswith("too many open files: the system allows ")
