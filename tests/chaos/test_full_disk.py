"""A full disk ends a run with one sentence; everything that was acknowledged before is kept, and told."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.apps.serving import serving
from tests.chaos import evidence, target
from tests.chaos.killing import orphans
from tests.e2e.runner import Command, Ran

_LIMITED = (
    "import os, resource, sys; "
    "os.environ['PYTHONDONTWRITEBYTECODE'] = '1'; "
    "resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
"""Python would keep the compiled modules that it could not write whole, and every other test would trip over them."""

FULL = "No space left on device"


def _fuzz(command: Command) -> Ran:
    # Findings keep their answers, and nothing else grows for long.
    with serving(target.defective(pause_s=0.0, padding=50_000), target.document(6)) as api:
        return command("fuzz", api.document_url, "--continue-on-failure", "--max-time", "40", "--workers", "2")


def _sentence(ran: Ran) -> str:
    """The one that a run ends with that cannot go on; nobody is left behind."""
    assert ran.code == 2, ran.shown
    assert "Traceback" not in ran.shown
    assert orphans(ran.directory) == []
    (sentence,) = ran.stderr.splitlines()
    return sentence


def _kept(ran: Ran) -> list[evidence.Said]:
    """What was acknowledged, by what is told of it: as many as are worth a test, and whole in the fold, too."""
    (corpus,) = ran.directory.glob(".checker/*")
    kept = evidence.findings(corpus)
    assert len(kept) > 3
    assert {finding.fingerprint for finding in ran.findings} == set(kept)
    return sorted(kept.values())


@pytest.mark.parametrize("limit", [0, 2_000, 100_000, 260_000])
@pytest.mark.thorough_beyond(1)
def test_files_that_may_not_grow_end_a_run_with_a_sentence(command: Command, limit: int) -> None:
    """From the first file on; the last limit leaves room for work."""
    program = (sys.executable, "-c", _LIMITED.format(limit=limit), *command.program[1:])
    ran = _fuzz(replace(command, program=program))
    assert _sentence(ran).startswith("Error: the corpus cannot be written: File too large at ")
    if limit == 260_000:
        assert sorted(evidence.reported(ran.stdout).elements()) == _kept(ran)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("a disk of one megabyte is mounted for this test, which only root of a Linux system may do")
    path = tmp_path.resolve() / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(
            f"this system refuses to mount the disk of one megabyte that this test fills: {mounted.stderr.strip()}"
        )
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


@pytest.mark.thorough
def test_a_full_disk_ends_a_run_with_a_sentence(command: Command, small_disk: Path) -> None:
    ran = _fuzz(replace(command, directory=small_disk))
    assert _sentence(ran).startswith(f"Error: the corpus cannot be written: {FULL} at ")
    assert sorted(evidence.reported(ran.stdout).elements()) == _kept(ran)


def test_a_disk_that_is_full_before_a_run_ends_it_with_a_sentence(command: Command, small_disk: Path) -> None:
    with contextlib.suppress(OSError):
        (small_disk / "ballast").write_bytes(bytes(2 << 20))
    ran = _fuzz(replace(command, directory=small_disk))
    assert _sentence(ran).startswith(f"Error: the corpus cannot be written: {FULL} at ")
