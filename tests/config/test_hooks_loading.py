import sys

import pytest

from checker.config.user_code import load_all_hooks, load_hooks
from checker.core.errors import ConfigError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    # Only modules of the folder: libraries that were imported meanwhile would exist twice afterwards.
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def test_module_of_the_working_directory_is_importable(folder) -> None:
    (folder / "my_hooks_a.py").write_text("import sys; sys.loaded_by_test = 1")
    load_hooks("my_hooks_a")
    assert sys.__dict__.pop("loaded_by_test") == 1


def test_file_is_loaded_once(folder) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "hooks.py").write_text("import sys; sys.times = getattr(sys, 'times', 0) + 1")
    load_all_hooks(["inner/hooks.py", "./inner/../inner/hooks.py"])
    assert sys.__dict__.pop("times") == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def (", "SyntaxError: invalid syntax"),
        (
            "import checker.core.hooks as h\n@h.hook\ndef map_quer(ctx, query): ...",
            "TypeError: There is no hook with name 'map_quer'",
        ),
    ],
)
def test_whatever_goes_wrong_is_one_sentence(folder, source: str, reason: str) -> None:
    (folder / "bad.py").write_text(source)
    with pytest.raises(ConfigError) as caught:
        load_hooks("bad.py")
    assert str(caught.value).startswith(f"cannot load hooks from 'bad.py': {reason}")
    assert "\n" not in str(caught.value)


def test_missing_module_and_missing_file(folder) -> None:
    with pytest.raises(ConfigError, match="No module named 'no_such_hooks'"):
        load_hooks("no_such_hooks")
    with pytest.raises(ConfigError, match=r"there is no file no\.py"):
        load_hooks("no.py")
