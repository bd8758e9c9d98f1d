"""A working directory that allows no writing: images of CI mount the code so."""

from pathlib import Path

import pytest

from checker.commands.run import with_writable_corpus
from tests.asking import run_settings


def test_what_is_learned_goes_where_something_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = run_settings("openapi.json", folder=".checker/api")
    asked: list[Path] = []

    def may_write(path: Path) -> bool:
        asked.append(path)
        return len(asked) > 1

    changed = with_writable_corpus(settings, may_write)
    assert asked == [tmp_path]
    folder = Path(changed.corpus.folder)
    assert folder.is_dir()
    assert tmp_path not in folder.parents
    assert capsys.readouterr().err == (f"{tmp_path} cannot be written: what this run learns is kept in {folder}\n")
    folder.rmdir()
    (tmp_path / ".checker" / "api").mkdir(parents=True)
    assert with_writable_corpus(settings, may_write) is settings
    assert asked[1:] == [tmp_path / ".checker" / "api"]
