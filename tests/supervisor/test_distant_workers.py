"""Workers that share no folder with their supervisor: their handle brings everything over."""

from pathlib import Path

import pytest

from checker.config.settings import RunSettings
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding, Quarantined
from checker.supervisor.launchers import ProcessLauncher, ProcessWorker
from checker.supervisor.lock import Ownership
from checker.workers.messages import Up
from tests.supervisor.running import END, Run, all_cases
from tests.supervisor.toys import toy_work


class DistantWorker(ProcessWorker):
    """Writes into a folder of its own; what it writes there arrives here before what it says afterwards."""

    def __init__(self, launcher: "DistantLauncher", number: int, settings: RunSettings) -> None:
        self._here = RunLayout(Path(settings.corpus.folder))
        self._there = RunLayout(launcher.elsewhere / str(number))
        self._sent: dict[str, int] = {}
        there = settings.with_changes(corpus={"folder": str(self._there.root)})
        super().__init__(launcher.context, number, there, toy_work)

    def hear(self) -> tuple[list[Up], bool]:
        """Messages, after the frames of the journal that were written before them."""
        said, is_last = super().hear()
        for _, path in self._there.journal_paths():
            frames = path.read_bytes()[self._sent.get(path.name, 0) :]
            self._sent[path.name] = self._sent.get(path.name, 0) + len(frames)
            with (self._here.journals / path.name).open("ab") as journal:
                journal.write(frames)
        return said, is_last


class DistantLauncher(ProcessLauncher):
    """Starts workers that live elsewhere."""

    def __init__(self, elsewhere: Path) -> None:
        super().__init__(toy_work)
        self.elsewhere = elsewhere
        self.context = self._context

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> DistantWorker:
        """A worker elsewhere: no process of this machine, as far as anybody here knows."""
        worker = DistantWorker(self, incarnation, settings)
        self._started(worker)
        return worker


@pytest.fixture
def launcher(tmp_path: Path) -> DistantLauncher:
    return DistantLauncher(tmp_path / "elsewhere")


def test_every_case_and_finding_arrives(run: Run, launcher: DistantLauncher) -> None:
    outcome = run(END[1], launcher=launcher, workers=2)
    assert run.told.cases == all_cases()
    assert [one.fingerprint for one in run.told.of(Finding)] == ["GET /users-found"]
    assert outcome.exit_code == 1


def test_what_a_dead_one_was_doing_is_known(run: Run, launcher: DistantLauncher) -> None:
    outcome = run(("kill", "GET /users:2"), launcher=launcher, workers=2)
    (blamed,) = run.told.of(Quarantined)
    assert (blamed.label, blamed.index) == ("GET /users", 2)
    assert outcome.view.cases == sum(all_cases().values()) - 1
    assert not list(launcher.elsewhere.glob("*/inflight/*"))
