"""A configuration above the working directory names code that runs: only a trusted owner's file is used."""

import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import checker
from checker.cli import checker as command_line
from checker.config.reading import distrust, find_file

ME, FOLDER_OWNER, STRANGER = 1000, 1001, 1002
FILE, LINK = stat.S_IFREG, stat.S_IFLNK


def found(kind: int, mode: int, owner: int) -> os.stat_result:
    return os.stat_result((kind | mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("of_file", "is_used"),
    [
        (found(FILE, 0o644, ME), True),
        (found(FILE, 0o664, ME), True),
        (found(FILE, 0o644, FOLDER_OWNER), True),
        (found(LINK, 0o777, ME), True),
        (found(FILE, 0o644, STRANGER), False),
        (found(FILE, 0o600, STRANGER), False),
        (found(LINK, 0o777, STRANGER), False),
        (found(FILE, 0o644, 0), False),
        (found(FILE, 0o666, ME), False),
        (found(FILE, 0o602, FOLDER_OWNER), False),
    ],
)
def test_owner_and_mode_decide(of_file, is_used) -> None:
    assert (distrust(of_file, {ME, FOLDER_OWNER}) == "") is is_used


def of_stranger(file: Path) -> None:
    """Give a file to another user; without root, make it a link to a file of root."""
    if os.geteuid() == 0:
        os.chown(file, STRANGER, STRANGER)
    else:
        file.unlink()
        file.symlink_to("/etc/passwd")


def writable_for_all(file: Path) -> None:
    file.chmod(0o666)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory below a repository whose `checker.toml` runs code that leaves a mark."""
    inner = tmp_path / "repo" / "service"
    inner.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w').close()\n")
    (inner / "openapi.json").write_text(
        json.dumps({"openapi": "3.0.0", "info": {"title": "a", "version": "1"}, "paths": {"/a": {"get": {}}}})
    )
    monkeypatch.chdir(inner)
    monkeypatch.delenv("CHECKER_HOOKS", raising=False)
    configuration = inner.parent / "checker.toml"
    configuration.write_text(f"hooks = {str(tmp_path / 'evil.py')!r}\n")
    return inner


def listed(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, [*arguments, "list", "openapi.json"])


@pytest.mark.parametrize("spoil", [of_stranger, writable_for_all])
def test_code_from_a_folder_above_does_not_run(project, spoil) -> None:
    configuration = project.parent / "checker.toml"
    spoil(configuration)
    result = listed()
    assert result.exit_code == 2
    assert f"{configuration} was found above {project}, but " in result.stderr
    assert "pass it as `--config-file`" in result.stderr
    with pytest.raises(checker.errors.ConfigError, match="was found above"):
        checker.openapi.from_path("openapi.json")
    assert not (project.parents[1] / "mark").exists()


def test_own_configuration_from_a_folder_above_is_used(project) -> None:
    assert listed().exit_code == 0
    assert (project.parents[1] / "mark").exists()


def test_named_configuration_is_used_as_it_is(project) -> None:
    configuration = project.parent / "checker.toml"
    writable_for_all(configuration)
    assert listed("--config-file", str(configuration)).exit_code == 0
    assert (project.parents[1] / "mark").exists()


def test_configuration_in_the_working_directory_is_used_as_it_is(project) -> None:
    own = project / "checker.toml"
    own.write_text("seed = 3")
    writable_for_all(own)
    assert find_file(project) == own


@pytest.mark.parametrize(
    ("repository", "home", "reaches"),
    [
        ("a", "a/b/c", "a"),
        ("a/b", "", "a/b"),
        (None, "a/b", "a/b"),
        (None, "a/b/c", "a/b/c"),
        (None, "elsewhere", "a/b/c"),
    ],
)
def test_search_ends_at_the_repository_else_at_the_home_folder(tmp_path, repository, home, reaches) -> None:
    tmp_path = tmp_path.resolve()
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    if repository:
        (tmp_path / repository / ".git").mkdir()
    files = {}
    for folder in (inner, *inner.parents[:3]):
        files[folder] = folder / "checker.toml"
        files[folder].write_text("")
    last = tmp_path / reaches
    for folder in (inner, *inner.parents[:3]):
        expected = files[folder] if folder == last or folder.is_relative_to(last) else None
        assert find_file(inner, tmp_path / home) == expected
        files[folder].unlink()
