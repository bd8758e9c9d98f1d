"""What a worker may hold and send, whatever the target does."""

import os
from pathlib import Path

from checker.corpus.journal import JournalWriter
from checker.corpus.learned import ValueSeen
from tests.workers.harness import workplace


def test_journals_of_earlier_workers_stay_closed(tmp_path: Path) -> None:
    with workplace(tmp_path) as context:
        context.recorder.follow([_journal_of(tmp_path, number) for number in range(20)])
        before = len(os.listdir("/dev/fd"))
        context.recorder.tick(10.0)
        assert len(os.listdir("/dev/fd")) == before


def _journal_of(folder: Path, number: int) -> str:
    journal = JournalWriter(folder / f"{number}.journal")
    journal.append(ValueSeen("GET /things", "id", "1", ""))
    journal.close()
    return str(journal.path)
