"""What the findings of a run cost its supervisor: CPU of turns in which nothing new came, with 10 findings and with 1,000.

    python -m benchmarks.supervisor_turns

A turn reads the journals, looks for settled findings and asks whether the run ends, as `Supervisor.run` does. Required:
with 1,000 findings a turn costs at most twice as much as with 10, and so does the turn that reads one more finding.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from checker.config.config import Config
from checker.config.settings import RunSettings
from checker.corpus.journal import JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding
from checker.supervisor.endings import Ending
from checker.supervisor.lifecycle import RunLifecycle
from checker.supervisor.supervisor import SettledNews
from checker.workers.messages import Opened
from tests.corpus.generated import finding

FEW, MANY = 10, 1_000
TURNS = 300
ROUNDS = 5
LIMIT = 2.0
_GOES_ON = Config.from_dict({"continue-on-failure": True}).operation_layers()
_SETTINGS = RunSettings("x", "fuzz", 1, operations=_GOES_ON)


class Turns:
    """The supervisor of a run with so many findings, as far as findings concern it."""

    def __init__(self, folder: Path, count: int) -> None:
        layout = RunLayout(folder)
        layout.create()
        self._lifecycle = RunLifecycle(layout, _SETTINGS.with_changes(corpus={"folder": str(folder)}), _unheard)
        worker = self._lifecycle.next_incarnation()
        self._journal = JournalWriter(layout.journal(worker, 1))
        self._lifecycle.start()
        self._lifecycle.begin(Opened(str(self._journal.path), "d", "http://x", (), False))
        self._ending, self._settled = Ending(_SETTINGS), SettledNews()
        self._count = 0
        self.write(count)
        self._lifecycle.read()

    def write(self, count: int) -> None:
        """Let a worker find so many failures more, and look into each."""
        records: list[Finding] = []
        for number in range(self._count, self._count + count):
            name = f"f{number}"
            records += [finding(name), finding(name, at=2.0, stage="minimised")]
        self._journal.hand_over(*records)
        self._count += count

    def turn(self) -> None:
        """What a turn of the supervisor does."""
        self._lifecycle.read()
        self._settled.read(self._lifecycle.view)
        self._ending.next_order(self._lifecycle.view, 1.0, 1.0, 0)

    def close(self) -> None:
        """Give the files back."""
        self._journal.close()
        self._lifecycle.close()


def _unheard(*_: object) -> None:
    """Take a record without showing it."""


def main() -> int:
    """Print the figures; exit code 1 when a limit is broken."""
    ratios = []
    with tempfile.TemporaryDirectory() as scratch:
        sides = [Turns(Path(scratch, str(count)), count) for count in (FEW, MANY)]
        for title, prepare in (("nothing new", _nothing), ("one finding more", _one_more)):
            few_us, many_us = _measured(sides, prepare)
            ratios.append(many_us / few_us)
            print(
                f"{title}: {few_us:.0f} us of CPU for a turn with {FEW} findings, {many_us:.0f} with {MANY:,}: "
                f"{many_us / few_us:.2f} times as much (limit {LIMIT:g})"
            )
        for side in sides:
            side.close()
    return int(max(ratios) > LIMIT)


def _nothing(turns: Turns) -> None:
    """Leave the journal as it is."""


def _one_more(turns: Turns) -> None:
    turns.write(1)


def _measured(sides: list[Turns], prepare: Callable[[Turns], None]) -> list[float]:
    """Return the us of CPU that a turn of each side takes, measured in alternating rounds."""
    rounds: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for side, found in zip(sides, rounds, strict=True):
            spent_s = 0.0
            for _ in range(TURNS // ROUNDS):
                prepare(side)
                began = time.process_time()
                side.turn()
                spent_s += time.process_time() - began
            found.append(1e6 * spent_s / (TURNS // ROUNDS))
    return [median(found) for found in rounds]


if __name__ == "__main__":
    sys.exit(main())
