from pathlib import Path

from checker.corpus.layout import RunLayout


def test_a_repository_ignores_the_folder_of_corpora(tmp_path: Path) -> None:
    RunLayout(tmp_path / ".checker" / "items").create()
    assert (tmp_path / ".checker" / ".gitignore").read_text() == "*\n"


def test_the_list_of_ignored_files_stays_as_the_user_wrote_it(tmp_path: Path) -> None:
    (tmp_path / ".checker").mkdir()
    (tmp_path / ".checker" / ".gitignore").write_text("!known\n")
    RunLayout(tmp_path / ".checker" / "items").create()
    assert (tmp_path / ".checker" / ".gitignore").read_text() == "!known\n"


def test_a_folder_that_the_user_chose_gets_no_list_of_ignored_files(tmp_path: Path) -> None:
    RunLayout(tmp_path / "mine").create()
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
