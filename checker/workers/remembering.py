"""What earlier incarnations learned, taken in before the first case of `fuzz`."""

from collections.abc import Iterator
from contextlib import closing

from checker.corpus.layout import RunLayout
from checker.corpus.reader import Journals
from checker.corpus.records import Record, SignalsSeen, ValueGone, ValueSeen
from checker.corpus.signals import SignalSet
from checker.corpus.snapshot import read_snapshot
from checker.corpus.values import LiveValues


def remember(layout: RunLayout, signals: SignalSet, values: LiveValues) -> None:
    """Let signals of earlier nights be no news, and their values be offered again; stale ones sink by themselves."""
    for record in _earlier(layout):
        match record:
            case SignalsSeen():
                signals.learn(number for number, _ in record.ids)
            case ValueSeen() | ValueGone():
                values.absorb(record)
            case _:
                pass  # Everything else is of no use to a worker.


def _earlier(layout: RunLayout) -> Iterator[Record]:
    yield from read_snapshot(layout).records
    with closing(Journals(layout)) as journals:
        for _, record in journals.read_new():
            yield record
