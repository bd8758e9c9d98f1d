"""Entries: sequences that showed something new, and the few of them that show it all."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from checker.corpus.records import CorpusEntry


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


def _cost(entry: CorpusEntry) -> float:
    """Seconds, with a floor: what is faster than the clock's noise is equally cheap."""
    return min(max(0.001, entry.cost_s), 3600.0) * max(len(entry.steps), 1)


def _worth(entry: CorpusEntry, uncovered: set[int]) -> float:
    return sum(number in uncovered for number in set(entry.ids)) / _cost(entry)


def _key(entry: CorpusEntry) -> tuple[float, str, str]:
    return (_cost(entry), entry.label, repr(entry))
