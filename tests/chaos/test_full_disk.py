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
    "resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


def _fuzz(command: Command) -> Ran:
    # Findings keep their answers, and nothing else grows for long.
    with serving(target.defective(pause_s=0.0, padding=50_000), target.document(6)) as api:
        return command(
            "fuzz", api.document_url, "--continue-on-failure", "--max-time", "40", "--workers", "2"
        )


def _ends_with_a_sentence(ran: Ran, reason: str) -> None:
    assert ran.code == 2, ran.shown
    assert "Traceback" not in ran.shown
    (sentence,) = ran.stderr.splitlines()
    assert sentence.startswith(f"Error: the corpus cannot be written: {reason} at ")
    assert orphans(ran.directory) == []


def _tells_what_it_kept(ran: Ran) -> None:
    (corpus,) = ran.directory.glob(".checker/*")
    kept = evidence.findings(corpus)
    assert len(kept) > 3
    assert sorted(evidence.reported(ran.stdout).elements()) == sorted(kept.values())
    assert {finding.fingerprint for finding in ran.findings} == set(kept)


@pytest.mark.parametrize("limit", [0, 2_000, 100_000, 260_000])
def test_files_that_may_not_grow_end_a_run_with_a_sentence(command: Command, limit: int) -> None:
    """From the first file on; the last limit leaves room for work."""
    program = (sys.executable, "-c", _LIMITED.format(limit=limit), *command.program[1:])
    ran = _fuzz(replace(command, program=program))
    _ends_with_a_sentence(ran, "File too large")
    if limit == 260_000:
        _tells_what_it_kept(ran)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root of a Linux system can mount a small disk")
    path = tmp_path.resolve() / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)],
        capture_output=True,
        text=True,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def test_a_full_disk_ends_a_run_with_a_sentence(command: Command, small_disk: Path) -> None:
    ran = _fuzz(replace(command, directory=small_disk))
    _ends_with_a_sentence(ran, "No space left on device")
    _tells_what_it_kept(ran)


def test_a_disk_that_is_full_before_a_run_ends_it_with_a_sentence(
    command: Command, small_disk: Path
) -> None:
    with contextlib.suppress(OSError):
        (small_disk / "ballast").write_bytes(bytes(2 << 20))
    _ends_with_a_sentence(_fuzz(replace(command, directory=small_disk)), "No space left on device")
