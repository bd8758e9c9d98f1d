"""Files that the settings name reach other machines, under names that exist there."""

import contextlib
import subprocess
import sys
from pathlib import Path

from checker.config.config import Config
from checker.fleet.luggage import Luggage, copy_packages
from tests.asking import run_settings


def test_files_outside_of_the_working_directory_get_places_with_what_they_refer_to(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for path, text in {
        there / "api" / "openapi.yaml": "paths: {$ref: '../parts/paths.yaml'}",
        there / "parts" / "paths.yaml": "/a: {$ref: 'more%20parts.yaml#/a'}\n/b: {$ref: 'http://x/b.yaml'}",
        there / "parts" / "more parts.yaml": "a: {}",
        there / "api" / "old.yaml": "paths: {}",
        there / "client.pem": "key",
        there / "unused.py": "",
        here / "hooks" / "mine.py": "import beside",
        here / "hooks" / "beside.py": "",
        here / "pack" / "inner" / "own.py": "",
        here / "other.py": "",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    layers = Config.from_dict({"request-cert": str(there / "client.pem")}, environment={}).operation_layers()
    description = there / "api" / "openapi.yaml"
    with contextlib.chdir(here):
        settings = run_settings(
            str(description),
            hooks=("hooks/mine.py", "pack.inner.own"),
            operations=layers,
            changed_since=str(there / "api" / "old.yaml"),
        )
        luggage = Luggage(settings)
        named = luggage.settings(settings)
        assert {piece.place for piece in luggage.pieces()} == {
            "outside/0/api/openapi.yaml",
            "outside/0/parts/paths.yaml",
            "outside/0/parts/more parts.yaml",
            "outside/0/client.pem",
            "outside/1/old.yaml",
            "hooks/mine.py",
            "hooks/beside.py",
            "pack/inner/own.py",
        }
    assert named.location == "outside/0/api/openapi.yaml"
    assert named.selection.changed_since == "outside/1/old.yaml"
    assert named.hooks == settings.hooks
    assert named.common.http.cert == "outside/0/client.pem"


def test_what_is_no_file_keeps_its_name(tmp_path: Path) -> None:
    settings = run_settings("http://127.0.0.1:1/openapi.json", hooks=("installed.module",))
    with contextlib.chdir(tmp_path):
        luggage = Luggage(settings)
    assert not list(luggage.pieces())
    assert luggage.settings(settings) == settings


def test_copied_packages_are_all_that_a_worker_needs(tmp_path: Path) -> None:
    copy_packages(tmp_path)
    text = "import sys; sys.path.append(sys.argv[1]); import checker.fleet.agent, checker.workers.starting.preloaded as one; print(one.__file__)"
    # Without the packages that are installed here.
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", text, tmp_path], capture_output=True, text=True, check=False
    )
    assert ran.stdout.startswith(str(tmp_path)), ran.stderr
