"""What is damaged on disk is told; what a kill tears is not."""

import os
import re
from pathlib import Path

from checker.corpus.layout import RunLayout
from checker.corpus.snapshot import compact
from checker.demo import Server
from tests.e2e.runner import Command, Ran


def flip(path: Path) -> None:
    """Change one bit of the last byte."""
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def damaged_in(ran: Ran) -> list[str]:
    lines = [line for line in ran.stdout.splitlines() if " is damaged: " in line]
    return sorted(Path(line.split()[1]).suffix for line in lines)


def warnings_of(ran: Ran) -> int:
    """As the last line counts them."""
    counted = re.search(r"(\d+) warnings?", ran.stdout.splitlines()[-1])
    return 0 if counted is None else int(counted[1])


def test_each_damaged_file_is_one_warning_and_a_torn_one_is_none(command: Command) -> None:
    with Server() as demo:
        night = ("fuzz", demo.document_url, "--mode", "positive", "--workers", "1", "--report", "vcr")
        command.here(*night, "--seed", "1")
        layout = RunLayout(next(command.directory.glob(".checker/*")))
        compact(layout)
        whole = command.here(*night, "--seed", "2")
        # As if the supervisor had been killed: the run is gone on with.
        journals = [path for _, path in layout.journal_paths()]
        os.truncate(journals[0], journals[0].stat().st_size - 1)
        for path in (layout.snapshot, journals[1], layout.traffic_paths()[-1][1]):
            flip(path)
        damaged = command.here(*night, "--seed", "2")
    assert damaged_in(whole) == []
    assert damaged_in(damaged) == ["", ".journal", ".traffic"], damaged.shown
    assert warnings_of(damaged) == warnings_of(whole) + 3
    assert whole.code == damaged.code == 1
