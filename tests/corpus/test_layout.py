from pathlib import Path

from checker.corpus.layout import RunLayout


def test_a_repository_ignores_a_corpus(tmp_path: Path) -> None:
    RunLayout(tmp_path / "items").create()
    assert (tmp_path / "items" / ".gitignore").read_text() == "*\n"


def test_the_list_of_ignored_files_stays_as_the_user_wrote_it(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("!known\n")
    RunLayout(tmp_path).create()
    assert (tmp_path / ".gitignore").read_text() == "!known\n"
