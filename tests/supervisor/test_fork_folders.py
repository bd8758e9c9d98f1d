"""A killed process leaves its temporary folder; the next run removes it, and no folder of another program."""

import tempfile
from pathlib import Path

import pytest

from checker.corpus.files import Lock, take_lock
from checker.supervisor.launchers import remove_folders_of_dead


def test_only_locked_folders_whose_process_is_dead_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ("checker-locked-dead", "checker-locked-live", "checker-other", "pymp-dead")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").touch()
    held = take_lock(tmp_path / "checker-locked-live" / "lock")
    assert isinstance(held, Lock)
    remove_folders_of_dead()
    assert {one.name for one in tmp_path.iterdir()} == set(names[1:])
    held.release()
    remove_folders_of_dead()
    assert {one.name for one in tmp_path.iterdir()} == set(names[2:])
