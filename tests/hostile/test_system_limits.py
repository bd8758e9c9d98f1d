"""Limits of the system: a run ends in one sentence, or well, and never in a traceback."""

import json
import os
import resource
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from resource import RLIMIT_AS, RLIMIT_NOFILE

import pytest
import zstandard

import checker
from checker.core.system import limit_reached
from tests.e2e.runner import Command
from tests.hostile.servers import Behaviour, page, serving

ROOT = Path(checker.__file__).parent.parent
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Small", "version": "1"},
    "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
}
_PATIENCE_S = 540
"""Only for a command that hangs: no result depends on it."""


def limited(folder: Path, kind: int, most: int, command: str) -> tuple[int, str]:
    """Return the exit code and the output of a command in a process with a limit."""
    pages: dict[str, Behaviour] = {"/openapi.json": page(json.dumps(DOCUMENT).encode())}
    with serving({**pages, "/": page(b"", status="500 Failed")}) as url:
        words = command.replace("URL", f"{url}/openapi.json").split()
        if words[0] in ("report", "replay"):
            made = Command(folder).run(f"{url}/openapi.json", "-n", "1", "--report", "vcr", inline=True)
            assert made.code == 1, made.shown
            (cassette,) = folder.rglob("vcr-*.yaml")
            words = [str(cassette) if one == "CASSETTE" else one for one in words]
        ran = subprocess.run(
            [sys.executable, "-m", "checker", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(kind, (most, most)),
            check=False,
            timeout=_PATIENCE_S,
        )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("kind", "most", "command"),
    [
        (RLIMIT_NOFILE, 5, "fuzz URL -w 4"),
        (RLIMIT_NOFILE, 5, "report"),
        (RLIMIT_NOFILE, 5, "replay CASSETTE"),
        (RLIMIT_NOFILE, 10, "run URL -n 1"),
        (RLIMIT_NOFILE, 16, "run URL -n 1 -w 4"),
        (RLIMIT_AS, 32 << 20, "report"),
        (RLIMIT_AS, 48 << 20, "replay CASSETTE"),
        (RLIMIT_AS, 48 << 20, "run URL -n 1 -w 4"),
        (RLIMIT_AS, 80 << 20, "fuzz URL -w 4"),
        (RLIMIT_AS, 104 << 20, "run URL -n 1 -w 4"),
    ],
)
@pytest.mark.thorough_beyond(1)
def test_a_limit_is_told_in_one_sentence_or_does_not_matter(tmp_path: Path, kind: int, most: int, command: str) -> None:
    code, told = limited(tmp_path, kind, most, command)
    assert code in (0, 1, 2), told
    told_limit = (
        f"too many open files: the system allows {most}; raise `ulimit -n`"
        if kind == RLIMIT_NOFILE
        else f"not enough memory: the system allows {most >> 20} MiB for each process; raise `ulimit -v`"
    )
    assert told.count(told_limit) == (code == 2), told
    assert "Traceback" not in told
    assert "This is a bug" not in told


@pytest.mark.thorough
def test_a_run_ends_well_with_few_files(tmp_path: Path) -> None:
    code, told = limited(tmp_path, RLIMIT_NOFILE, 30, "run URL -n 1")
    assert code in (0, 1), told
    assert "Traceback" not in told


def test_other_errors_are_no_limits() -> None:
    assert not limit_reached(ZeroDivisionError())
    assert not limit_reached(FileNotFoundError(2, "No such file"))


def test_the_cause_of_an_error_tells_of_the_limit() -> None:
    error = RuntimeError("cannot be read")
    error.__cause__ = OSError(24, "Too many open files", "/proc/1/statm")
    assert limit_reached(error).startswith("too many open files: the system allows ")


def test_an_error_of_the_compression_tells_of_the_limit_of_memory() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 50, hard))
    try:
        error = zstandard.ZstdError("cannot compress: Allocation error : not enough memory")
        assert limit_reached(error).endswith("raise `ulimit -v`")
        assert not limit_reached(zstandard.ZstdError("cannot compress: Src size is incorrect"))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_an_error_of_an_import_tells_of_the_limit_of_memory() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 50, hard))
    try:
        with pytest.raises(ValueError, match="AnnAssign") as raised:
            import_module("tests.hostile.broken_module")
        assert limit_reached(raised.value).endswith("raise `ulimit -v`")
        assert not limit_reached(ValueError("of another place"))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert not limit_reached(raised.value)


@pytest.mark.parametrize("text", ["can't start new thread", "unable to start watchdog thread"])
def test_a_thread_that_cannot_start_tells_of_the_limit(text: str) -> None:
    assert "raise `ulimit" in limit_reached(RuntimeError(text))
