"""The process that writes reports: whatever becomes of it, or of who started it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from checker.core.reports import WritingProgress
from checker.reporting import following
from checker.reporting.following import Finished, FollowingReports
from checker.reporting.writing import FollowedRun, WrittenReports
from tests import cassettes
from tests.waiting import wait_until

from .samples import AT, changed, opened, settings, started
from .traffic import Workers

RUN = FollowedRun(1, changed(started(), seed=7), opened())


def never() -> bool:
    return False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports" / "cassette.yaml"


@contextmanager
def writer(tmp_path: Path, path: Path, **limits: Any) -> Iterator[FollowingReports]:
    workers = Workers(tmp_path / "corpus")
    for number in range(5):
        workers.tell(1, f"c{number}", AT + number)
    asked = settings(corpus_dir=str(tmp_path / "corpus"), **limits)
    with closing(FollowingReports(asked, RUN, [("vcr", str(path))])) as reports:
        yield reports


def ids(path: Path) -> list[str]:
    document = cassettes.read(path.read_text())
    assert document["seed"] == 7
    return [one["correlation_id"] for one in document["http_interactions"]]


def pid_of(reports: FollowingReports) -> int:
    assert reports._process is not None
    assert reports._process.pid is not None
    return reports._process.pid


def partials(path: Path) -> list[str]:
    return [entry.name for entry in path.parent.iterdir()] if path.parent.exists() else []


def test_a_cassette_is_there_when_it_is_finished(tmp_path: Path, path: Path) -> None:
    with writer(tmp_path, path) as reports:
        assert reports.progress() is None
        assert reports.finish(None, never) == Finished()
        assert ids(path) == ["c0", "c1", "c2", "c3", "c4"]
    assert partials(path) == ["cassette.yaml"]


def test_a_process_that_is_killed_costs_nothing(tmp_path: Path, path: Path) -> None:
    with writer(tmp_path, path) as reports:
        wait_until(lambda: partials(path))
        os.kill(pid_of(reports), signal.SIGKILL)
        assert reports.finish(None, never) == Finished()
    assert ids(path) == ["c0", "c1", "c2", "c3", "c4"]
    assert partials(path) == ["cassette.yaml"]


def test_what_asks_the_run_to_end_does_not_end_its_cassette(tmp_path: Path, path: Path) -> None:
    with writer(tmp_path, path) as reports:
        wait_until(lambda: partials(path))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(pid_of(reports), number)
        assert reports.finish(None, never) == Finished()


def test_who_has_a_time_limit_hears_how_far_it_is_until_nobody_writes(
    tmp_path: Path, path: Path
) -> None:
    with writer(tmp_path, path, max_time_s=600.0) as reports:
        assert reports.progress() == WritingProgress(0, 0.0, is_idle=False)
        wait_until(lambda: getattr(reports.progress(), "written", None) == 5)
        progress = reports.progress()
        assert progress is not None
        assert progress.each_s > 0
        os.kill(pid_of(reports), signal.SIGKILL)
        wait_until(lambda: reports.progress() is None)
        assert reports.finish(None, never) == Finished()
    assert len(ids(path)) == 5


def test_a_cassette_that_nobody_waits_for_is_given_up(tmp_path: Path, path: Path) -> None:
    with writer(tmp_path, path) as reports:
        found = reports.finish(None, lambda: True)
    assert found.problems == {str(path): f"{path}: the vcr report was not written: interrupted"}


def test_of_a_cassette_that_is_not_finished_nothing_stays(tmp_path: Path, path: Path) -> None:
    with writer(tmp_path, path) as reports:
        wait_until(lambda: partials(path))
        pid = pid_of(reports)
    assert partials(path) == []
    assert not psutil.pid_exists(pid)


def test_a_cassette_dies_with_its_run(tmp_path: Path, path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.reporting.test_following import pid_of, writer\n"
        "with writer(Path(sys.argv[1]), Path(sys.argv[2])) as reports:\n"
        "    print(pid_of(reports), flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        wait_until(lambda: partials(path))
        process.kill()
        wait_until(lambda: not psutil.pid_exists(pid))
    assert partials(path) == []


def test_the_sentence_about_what_is_missing(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [WrittenReports(3, left_out=1200), WrittenReports(3, left_out=7, is_counted=False)]
    monkeypatch.setattr(
        following.FollowingReports, "_answer", lambda *_: answers.pop(0), raising=True
    )
    with writer(tmp_path, path) as reports:
        texts = [reports.finish(None, never).notes[0].text for _ in range(2)]
    assert texts == [
        f"{path}: {count} interactions are left out, the last ones: there was no time left to write them"
        for count in ("1,200", "at least 7")
    ]
