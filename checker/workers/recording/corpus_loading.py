"""What earlier incarnations learned, taken in before the first case of `fuzz`."""

from collections.abc import Iterable
from contextlib import closing

from checker.corpus.layout import RunLayout
from checker.corpus.learned import SignalsSeen, ValueGone, ValueSeen
from checker.corpus.reader import Journals
from checker.corpus.records import Note, Record
from checker.corpus.signals import SignalSet
from checker.corpus.snapshot import read_snapshot
from checker.corpus.values import LiveValues


def remember(layout: RunLayout, signals: SignalSet, values: LiveValues) -> list[Note]:
    """Let signals of earlier nights be no news, and their values be offered again; stale ones sink by themselves.

    A note for each file that is damaged.
    """
    snapshot = read_snapshot(layout)
    _take_in(snapshot.records, signals, values)
    with closing(Journals(layout)) as journals:
        _take_in((record for _, record in journals.read_new()), signals, values)
        return [*snapshot.notes, *journals.notes()]


def _take_in(records: Iterable[Record], signals: SignalSet, values: LiveValues) -> None:
    for record in records:
        match record:
            case SignalsSeen():
                signals.learn(number for number, _ in record.ids)
            case ValueSeen() | ValueGone():
                values.absorb(record)
            case _:
                pass  # Everything else is of no use to a worker.
