"""Entries: sequences that showed something new, kept within a number of bytes."""

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush

from checker.corpus.codec import RecordEncoder
from checker.corpus.records import CorpusEntry

SHELF_BYTES = 16 << 20


def favoured(entries: Iterable[CorpusEntry]) -> list[CorpusEntry]:
    """A small set of entries that shows every id which any of them shows: greedy, most new ids for their cost first.

    The same for any order of `entries`.
    """
    # By their texts: a literal in a binding may be a list, which has no hash.
    ordered = sorted({repr(entry): entry for entry in entries}.values(), key=_key)
    uncovered = {number for entry in ordered for number in entry.ids}
    heap = [(-_worth(entry, uncovered), place) for place, entry in enumerate(ordered)]
    heapify(heap)
    kept = []
    while heap and uncovered:
        worth, place = heappop(heap)
        entry = ordered[place]
        now = -_worth(entry, uncovered)
        if not now:
            continue
        if now > worth:
            # Others have covered some of its ids meanwhile: it waits for its turn again.
            heappush(heap, (now, place))
            continue
        uncovered.difference_update(entry.ids)
        kept.append(entry)
    return kept


class Shelf:
    """The entries of one worker, bounded by bytes."""

    def __init__(self, limit_bytes: int = SHELF_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._encode = RecordEncoder().encode
        self._entries: dict[bytes, CorpusEntry] = {}
        """Encoded -> entry."""
        self._cheapest: dict[int, float] = {}
        self.size = 0
        """Bytes of all entries, as they are written."""

    def admit(self, entry: CorpusEntry) -> bool:
        """Keep an entry that shows an id first, or shows one at less than half the cost known."""
        cost = _cost(entry)
        better = [
            number
            for number in entry.ids
            if (known := self._cheapest.get(number)) is None or cost < known / 2
        ]
        encoded = self._encode(entry)
        if not better or len(encoded) > self._limit_bytes or encoded in self._entries:
            return False
        for number in better:
            self._cheapest[number] = cost
        self._entries[encoded] = entry
        self.size += len(encoded)
        if self.size > self._limit_bytes:
            self._cull()
        return True

    def __iter__(self) -> Iterator[CorpusEntry]:
        return iter(list(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    def _cull(self) -> None:
        """Keep the favoured ones, the best first, up to three quarters of the space."""
        room = self._limit_bytes * 3 // 4
        kept = favoured(self._entries.values())
        self._entries, self._cheapest, self.size = {}, {}, 0
        for entry in kept:
            encoded = self._encode(entry)
            if self.size + len(encoded) > room:
                continue
            self._entries[encoded] = entry
            self.size += len(encoded)
            for number in entry.ids:
                self._cheapest[number] = min(_cost(entry), self._cheapest.get(number, _cost(entry)))


def _cost(entry: CorpusEntry) -> float:
    """Seconds, with a floor: what is faster than the clock's noise is equally cheap."""
    return min(max(0.001, entry.cost_s), 3600.0) * max(len(entry.steps), 1)


def _worth(entry: CorpusEntry, uncovered: set[int]) -> float:
    return sum(number in uncovered for number in set(entry.ids)) / _cost(entry)


def _key(entry: CorpusEntry) -> tuple[float, str, str]:
    return (_cost(entry), entry.label, repr(entry))
