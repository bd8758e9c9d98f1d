"""The distribution: it builds to the same bytes, the index can show its page, and it works where nothing else is installed."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMIT_TIME = "1735689600"
"""Seconds since the epoch that files of both builds carry."""


def built(folder: Path) -> list[Path]:
    """Build the source archive and, from it, the wheel."""
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, ROOT],
        env=os.environ | {"SOURCE_DATE_EPOCH": COMMIT_TIME},
        check=True,
        capture_output=True,
    )
    return [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return built(tmp_path_factory.mktemp("first"))


@pytest.mark.thorough
def test_two_builds_have_the_same_bytes(distributions: list[Path], tmp_path: Path) -> None:
    again = built(tmp_path)
    assert [path.suffix for path in again] == [".whl", ".gz"]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in distributions]


@pytest.mark.thorough
def test_the_index_can_show_the_page_of_the_distribution(distributions: list[Path]) -> None:
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *distributions], check=True)


@pytest.mark.thorough
def test_the_wheel_holds_every_file_of_the_package(distributions: list[Path]) -> None:
    packaged = {name for name in zipfile.ZipFile(distributions[0]).namelist() if name.startswith("checker/")}
    tracked = subprocess.run(["git", "ls-files", "checker"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert packaged == set(tracked.stdout.splitlines())


@pytest.mark.thorough
def test_the_wheel_alone_finds_a_defect_of_the_demo_in_its_first_requests(
    distributions: list[Path], tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / "bin"
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([programs / "python", "-m", "pip", "install", *quiet, distributions[0]], check=True)
    subprocess.run([programs / "python", "-m", "pip", "check"], check=True)
    done = subprocess.run(
        [programs / "checker", "demo", "--max-failures", "1"],
        cwd=tmp_path, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done
    assert "Server error" in done.stdout
    requests = re.search(r"^  ([\d,]+) requests", done.stdout, re.MULTILINE)
    assert requests is not None, done.stdout
    assert int(requests[1].replace(",", "")) <= 200


def test_the_page_of_the_distribution_is_short_and_has_no_relative_link() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert len(text.splitlines()) <= 120
    assert [link for link in links if not link.startswith("https://")] == []
