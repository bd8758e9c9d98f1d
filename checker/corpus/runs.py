"""The runs in a corpus: the first record of each supervisor's journal describes one."""

from pathlib import Path

from msgspec import Struct

from checker.corpus.files import TailFile
from checker.corpus.frames import scan
from checker.corpus.layout import RunLayout
from checker.corpus.records import Record, RunStarted

_FIRST_FRAME_BYTES = 1 << 16


class LastRun(Struct, frozen=True):
    """The run of a corpus that was begun, or gone on with, last."""

    started: RunStarted
    first: int
    """Incarnation of the supervisor that began it: nothing below belongs to the run."""
    journal: Path
    """Of the supervisor that went on with it last."""


def last_run(layout: RunLayout) -> LastRun | None:
    """The last run; None when a corpus has none, or only what was kept of those that are over."""
    begun = [
        (incarnation, path, record)
        for incarnation, path in layout.journal_paths()
        if isinstance(record := _first_record(TailFile(path)), RunStarted)
    ]
    if not begun:
        return None
    _, path, last = begun[-1]
    started = [(incarnation, run) for incarnation, _, run in begun if run.run == last.run]
    first, run = min(started, key=lambda pair: pair[0])
    return LastRun(run, first, path)


def _first_record(file: TailFile) -> Record | None:
    """A supervisor commits the beginning of its run as the first frame of its journal."""
    try:
        records = scan(file.read_from(0, _FIRST_FRAME_BYTES)).records
    finally:
        file.close()
    return records[0] if records else None
