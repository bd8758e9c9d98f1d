"""Versions of findings, and which of them are told: several findings may be sights of one defect."""

from collections.abc import Collection, Mapping

from msgspec import Struct, field

from checker.corpus.records import Finding

Rank = tuple[bool, int, float, int, int]
"""Whether it is told, stage, time, incarnation, ordinal: what one worker withdraws hides nothing that another confirmed."""
FirstSeen = tuple[float, int, int]
"""Time, incarnation, ordinal."""


class _Sight(Struct):
    best: Finding
    rank: Rank
    first: FirstSeen


class Sights(Struct, eq=False):
    """The best version of each finding, by defects. A record costs work for the findings of its own defect alone."""

    changes: list[str] = field(default_factory=list)
    """Fingerprints whose version is new or that are told or not told any more, in the order of the records.

    A reader that remembers how many it has read looks at the others only.
    """
    _sights: dict[str, _Sight] = field(default_factory=dict)
    _defects: dict[str, str] = field(default_factory=dict)
    """Fingerprint -> the one that it is a sight of in the end."""
    _members: dict[str, set[str]] = field(default_factory=dict)
    """The reverse of `_defects`."""
    _told: dict[str, str] = field(default_factory=dict)
    """Defect -> the fingerprint that is told of it."""

    def __eq__(self, other: object) -> bool:
        """Whether the same is known, in whatever order it came."""
        return isinstance(other, Sights) and self._sights == other._sights

    __hash__ = None  # type: ignore[assignment]

    @property
    def best(self) -> Mapping[str, Finding]:
        """Fingerprint -> best version of all that was ever found."""
        return {name: sight.best for name, sight in self._sights.items()}

    @property
    def told(self) -> Collection[str]:
        """One fingerprint of each defect."""
        return self._told.values()

    def version(self, name: str) -> Finding:
        """Return the best version of a finding."""
        return self._sights[name].best

    def is_told(self, name: str) -> bool:
        """Whether a finding is the one that is told of its defect."""
        return self._told.get(self._defects[name]) == name

    def first_seen(self, name: str) -> tuple[FirstSeen, str]:
        """Return what findings are ordered by."""
        return self._sights[name].first, name

    def absorb(self, record: Finding, rank: Rank, first: FirstSeen) -> None:
        """Take one more version of a finding."""
        name = record.fingerprint
        known = self._sights.get(name)
        if known is None:
            self._sights[name] = _Sight(record, rank, first)
            self._sort(name)
        else:
            before = known.first, known.best.same_as, known.best.withdrawn
            known.first = min(known.first, first)
            if rank > known.rank:
                known.best, known.rank = record, rank
            if (known.first, known.best.same_as, known.best.withdrawn) != before:
                self._sort(name)
        self.changes.append(name)

    def _sort(self, name: str) -> None:
        """Find the defects anew of a finding and of those that may refer to it: they had the same defect before."""
        before = self._defects.get(name, name)
        defects = {before}
        for one in {name, *self._members.pop(before, ())}:
            defect = self._defects[one] = self._end(one)
            self._members.setdefault(defect, set()).add(one)
            defects.add(defect)
        for defect in defects:
            was, is_now = self._told.pop(defect, None), self._teller(defect)
            if is_now is not None:
                self._told[defect] = is_now
            if was != is_now:
                self.changes += [one for one in (was, is_now) if one not in (None, name)]

    def _end(self, name: str) -> str:
        """Return what a finding is a sight of in the end; the least one if that goes round in circles."""
        way: dict[str, None] = {}
        while name not in way:
            way[name] = None
            known = self._sights.get(name)
            if known is None or not known.best.same_as:
                return name
            name = known.best.same_as
        circle = list(way)
        return min(circle[circle.index(name) :])

    def _teller(self, defect: str) -> str | None:
        """Return the finding that is told of a defect; None if all of its sights are withdrawn."""
        known = self._sights.get(defect)
        if known is not None and not (known.best.withdrawn or known.best.same_as):
            return defect
        # What they refer to was lost, or withdrawn, with its worker, or two workers named each other's.
        names = self._members.get(defect, ())
        left = (one for one in names if not self._sights[one].best.withdrawn)
        return min(left, key=self.first_seen, default=None)
