"""`kill -9` at the moment that is wanted: a worker is stopped, looked at, and killed if it is where it should be."""

import contextlib
import random
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from checker.corpus.inflight import InflightReader, Stage
from tests.chaos import evidence
from tests.e2e.runner import NEVER_S, Command, Ran
from tests.waiting import wait_until

STAGES = (Stage.MAKE, Stage.SEND, Stage.JUDGE, Stage.RECORD, Stage.SHRINK, Stage.CONFIRM)
ORPHANS_S = 45.0
"""Less than the watchdog of a worker, which ends it sooner or later."""
_LOOKS = 50
_MOST_AWAITED = 6
"""Findings: the API that is tested has more of them, but not without end."""
_LONG_S = 30.0
"""What a run plans for: short, so that every operation soon has its turn."""


@dataclass
class Kill:
    """One death, and what was on record when it came."""

    victim: str
    """`worker` or `supervisor`."""
    stage: Stage
    new: frozenset[str] = frozenset()
    """Fingerprints that were on record now, and not at the kill before."""
    orphans: int = 0
    lost: int = 0
    """Of `new`, what the last report does not tell."""
    duplicated: int = 0
    """Of `new`, what it tells more than once."""


@dataclass
class Campaign:
    """Kills of one corpus, and the report of the last run in it."""

    directory: Path
    kills: list[Kill] = field(default_factory=list)
    ran: Ran | None = None
    orphans: int = 0
    """After the end."""

    @property
    def corpus(self) -> Path:
        """Of the only API that was tested here."""
        (found,) = self.directory.glob(".checker/*")
        return found

    @property
    def seen(self) -> frozenset[str]:
        """Fingerprints that somebody could read at the moment of a kill."""
        return frozenset().union(*(kill.new for kill in self.kills))


def kill_workers(command: Command, location: str, stages: Sequence[Stage], *, seed: int) -> Campaign:
    """One run in which workers die at these stages; it goes on until it finds more, and is interrupted."""
    chance = random.Random(seed)
    campaign = Campaign(command.directory)
    with command.started(*_fuzz(location)) as process:
        for stage in stages:
            _wait_for_findings(campaign, process)
            worker = stopped_at(stage, process, command.directory, chance)
            worker.kill()
            _note(campaign, Kill("worker", stage))
        ran = _ended(campaign, command, process)
    return _judged(campaign, ran)


def kill_supervisors(command: Command, location: str, stages: Sequence[Stage], *, seed: int) -> Campaign:
    """Runs whose supervisor dies while a worker is at these stages, and one that finds more than they and is interrupted."""
    chance = random.Random(seed)
    campaign = Campaign(command.directory)
    for stage in stages:
        with command.started(*_fuzz(location)) as process:
            _wait_for_findings(campaign, process)
            worker = stopped_at(stage, process, command.directory, chance)
            process.kill()
            process.wait()
            with contextlib.suppress(psutil.NoSuchProcess):
                # It dies before it gets any further: the signal is waiting for it.
                worker.resume()
            kill = Kill("supervisor", stage, orphans=len(orphans(command.directory)))
        _note(campaign, kill)
    with command.started(*_fuzz(location)) as process:
        ran = _ended(campaign, command, process)
    return _judged(campaign, ran)


def stopped_at(
    stage: Stage, process: "subprocess.Popen[str]", directory: Path, chance: random.Random
) -> psutil.Process:
    """A worker that stands still at this stage."""
    deadline = time.monotonic() + NEVER_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "the run is over"
        for worker, slots in _workers(process, directory, chance):
            if _is_caught(worker, slots, stage):
                return worker
        time.sleep(chance.uniform(0.0, 0.003))
    raise AssertionError(f"no worker was ever seen at {stage.name}")


def orphans(directory: Path, within_s: float = ORPHANS_S) -> list[psutil.Process]:
    """Processes that live in this folder, which nobody but our commands entered, and do not end."""
    deadline = time.monotonic() + within_s
    while (found := list(_living(directory))) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def _wait_for_findings(campaign: Campaign, process: "subprocess.Popen[str]") -> None:
    """Let a run find what can be lost: two things before the first kill, and one more before each of the next few."""
    least = min(len(campaign.kills) + 2, _MOST_AWAITED)

    def is_enough() -> bool:
        corpora = campaign.directory.glob(".checker/*")
        return sum(len(evidence.findings(corpus)) for corpus in corpora) >= least

    wait_until(lambda: process.poll() is not None or is_enough())


def _ended(campaign: Campaign, command: Command, process: "subprocess.Popen[str]") -> Ran:
    """Interrupt a run once it found what nobody knew at the last kill: life went on."""
    wait_until(lambda: process.poll() is not None or evidence.findings(campaign.corpus).keys() - campaign.seen)
    process.send_signal(signal.SIGINT)
    return command.finished(process)


def _judged(campaign: Campaign, ran: Ran) -> Campaign:
    """Compare what was on record at each kill with the report and with the fold."""
    said, told = evidence.findings(campaign.corpus), evidence.reported(ran.stdout)
    kept = ran.view.findings
    for kill in campaign.kills:
        counts = [told[said[name]] if name in kept else 0 for name in kill.new]
        kill.lost = counts.count(0)
        kill.duplicated = sum(1 for count in counts if count > 1)
    campaign.ran = ran
    campaign.orphans = len(orphans(campaign.directory))
    return campaign


def _note(campaign: Campaign, kill: Kill) -> None:
    """What is on record after the kill was there at the kill, or came from others meanwhile: all of it must stay."""
    kill.new = frozenset(evidence.findings(campaign.corpus)) - campaign.seen
    campaign.kills.append(kill)


def _workers(
    process: "subprocess.Popen[str]", directory: Path, chance: random.Random
) -> Iterator[tuple[psutil.Process, InflightReader]]:
    """Live descendants that say what they do, in any order."""
    paths = list(directory.glob(".checker/*/inflight/*.slots"))
    chance.shuffle(paths)
    for path in paths:
        slots = InflightReader(path)
        with contextlib.suppress(psutil.NoSuchProcess):
            worker = psutil.Process(slots.pid) if slots.pid else None
            if worker is not None and any(one.pid == process.pid for one in worker.parents()):
                yield worker, slots


def _is_caught(worker: psutil.Process, slots: InflightReader, stage: Stage) -> bool:
    """Stop a worker that seems to be at this stage; if it is, it stays so.

    Stopping one without a look would keep it from ever getting to the rare stages.
    """
    if not any(_stage_of(slots) is stage for _ in range(_LOOKS)):
        return False
    try:
        worker.suspend()
        while worker.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
            pass
        if worker.status() == psutil.STATUS_STOPPED and _stage_of(slots) is stage:
            return True
        worker.resume()
    except psutil.NoSuchProcess:
        pass
    return False


def _stage_of(slots: InflightReader) -> Stage | None:
    """Of the case whose code runs; when nobody's does, answers are waited for."""
    lane, stages = slots.acting_lane, [slot.stage for slot in slots.slots()]
    if lane is not None and lane < len(stages):
        return stages[lane]
    return Stage.SEND if Stage.SEND in stages else None


def _living(directory: Path) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()) == directory:
                yield process


def _fuzz(location: str) -> list[str]:
    more = ["--continue-on-failure", "--max-time", str(_LONG_S), "--seed", "1", "--workers", "2"]
    return ["fuzz", location, *more]
