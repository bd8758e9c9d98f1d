"""The results of valid cases: which operations refuse all of them alike, and which optional parts they are better sent without."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from sys import intern
from typing import Final

from msgspec import Struct, field

from checker.core.case import Case
from checker.core.digests import digest
from checker.core.phases import CaseSource
from checker.core.response import Response
from checker.core.system import later_pattern
from checker.generation.boundaries.values import likeness
from checker.health import TOO_MANY
from checker.refusals.reading import reason_of

Moment = tuple[int, int, int]
"""(phase, layer, index of a case)."""
ACCEPTED = ""
"""In place of a reason: the case was not refused."""
_ONE_IN: Final = 10
"""One case in so many is sent all the same: other operations may have changed the state of the target."""
_ENOUGH: Final = {CaseSource.LISTED: (12, _ONE_IN), CaseSource.DRAWN: (40, 4), CaseSource.CHAINED: (20, 4)}
"""Source of cases -> (refusals in a row for known reasons, of an operation that accepted nothing, after which one case in so many is sent).

Listed cases change one thing at a time, so that further ones are refused alike. Of a hundred drawn cases 60 remain: of operations that
accept one case in ten, one in 600 accepts none of them. A sequence that begins with a refusal ends there.
"""
_DULL = 20
"""Such refusals of an operation that accepted a case before: one that accepts 20 % of its cases rarely has so many."""
_DULL_INVENTED = 3
"""Such refusals after which a case that invents the name of a resource is not worth sending, where known ones were accepted."""
_WORDS = later_pattern(r"[^\W\d_]{3,}")
_MOST_WORDS = 8
"""Words of a reason that are compared: what follows is often about the value that was sent."""
MOST_PARTS = 60
"""Optional parts of one operation that are compared."""
_ENOUGH_WITH = 8
_ENOUGH_WITHOUT = 3
"""Cases with a part, and accepted ones without it, from which on the shares of accepted ones are compared."""
_WORSE = 0.6
"""A part is better left out if the share of accepted cases with it is so much of the share without it."""


class _Streak(Struct):
    """The first results of an operation, read once: each case asks for them."""

    count: int = 0
    met: set[str] = field(default_factory=set)
    """Their reasons."""
    dull: int = 0
    """Refusals in a row for reasons that were known, up to the last result."""

    def read(self, reasons: Iterable[str]) -> None:
        """Read further results."""
        for reason in reasons:
            self.dull = self.dull + 1 if reason != ACCEPTED and reason in self.met else 0
            self.met.add(reason)
            self.count += 1


class ValidCases(Struct):
    """The results of the valid cases of each operation, by the moments of the cases."""

    _results: dict[str, list[tuple[Moment, str, int]]] = field(default_factory=dict)
    """Operation -> (moment, reason of the refusal, bits of the parts) in order."""
    _reasons: dict[str, list[str]] = field(default_factory=dict)
    """Operation -> the reasons in the order in which they came."""
    _accepted_known: dict[str, Moment] = field(default_factory=dict)
    """Operation -> first accepted case that names a resource that an earlier response showed."""
    _streaks: dict[tuple[str, bool], _Streak] = field(default_factory=dict)
    """(operation, whether by moments or as they came) -> what was read so far."""

    def count(self, label: str, moment: Moment, reason: str, parts: int, *, is_known: bool = False) -> None:
        """Count a valid case, once for each moment. The order of the calls does not matter.

        `is_known`: an earlier response showed the resource that it names.
        """
        if is_known and reason == ACCEPTED:
            self._accepted_known[label] = min(moment, self._accepted_known.get(label, moment))
        # Workers keep the results of all operations, which have few reasons.
        reason = intern(reason)
        results = self._results.setdefault(label, [])
        at = bisect_left(results, moment, key=itemgetter(0))
        if at == len(results) or results[at][0] != moment:
            results.insert(at, (moment, reason, parts))
            streak = self._streaks.get((label, True))
            if streak is not None and at < streak.count:
                del self._streaks[label, True]
            self._reasons.setdefault(label, []).append(reason)

    def _before(self, label: str, moment: Moment) -> Sequence[tuple[Moment, str, int]]:
        results = self._results.get(label, [])
        return results[: bisect_left(results, moment, key=itemgetter(0))]

    def is_left_out(
        self, label: str, before: Moment | None, index: int, *, source: CaseSource, is_invented: bool = False
    ) -> bool:
        """Whether valid case `index` of a source is not worth sending, after the cases before a moment, or all that are known.

        `is_invented`: the resource that it names is made up.
        """
        streak = self._streak(label, before)
        enough, one_in = _ENOUGH[source]
        if ACCEPTED in streak.met and source is CaseSource.CHAINED:
            # Each sequence makes the resources that it needs.
            return False
        if ACCEPTED in streak.met:
            known_since = self._accepted_known.get(label)
            is_worse = is_invented and known_since is not None and (before is None or known_since < before)
            enough, one_in = _DULL_INVENTED if is_worse else _DULL, _ONE_IN
        return streak.dull >= enough and index % one_in > 0

    def _streak(self, label: str, before: Moment | None) -> _Streak:
        """Return what the results before a moment, or all that are known, say."""
        results, reasons = self._results.get(label, []), self._reasons.get(label, [])
        count = len(reasons) if before is None else bisect_left(results, before, key=itemgetter(0))
        key = label, before is not None
        streak = self._streaks.get(key)
        if streak is None or streak.count > count:
            streak = self._streaks[key] = _Streak()
        if before is None:
            streak.read(islice(reasons, streak.count, count))
        else:
            streak.read([reason for _, reason, _ in results[streak.count : count]])
        return streak

    def worse_with(self, label: str, before: Moment) -> Iterator[tuple[int, int]]:
        """Yield (number, accepted cases with it) of the parts with which far fewer cases before a moment were accepted than without."""
        results = self._before(label, before)
        accepted = sum(reason == ACCEPTED for _, reason, _ in results)
        count_with, accepted_with = [0] * MOST_PARTS, [0] * MOST_PARTS
        for _, reason, parts in results:
            while parts:
                part = parts.bit_length() - 1
                parts ^= 1 << part
                count_with[part] += 1
                accepted_with[part] += reason == ACCEPTED
        for part, (count, with_it) in enumerate(zip(count_with, accepted_with, strict=True)):
            without_it = accepted - with_it
            if count < _ENOUGH_WITH or without_it < _ENOUGH_WITHOUT:
                continue
            if with_it / count < _WORSE * without_it / (len(results) - count):
                yield part, with_it


def reason_for(case: Case, response: Response, status: int) -> str | None:
    """Return a key of the reason for which a valid case was refused, without the words of the request; `ACCEPTED` if it was not.

    None for 429: that refuses the pace of the run and says nothing of the case.
    """
    if status == TOO_MANY:
        return None
    if not 400 <= status < 500:
        return ACCEPTED
    sent = set(_WORDS.findall(likeness(case).lower()))
    said = [word for word in _WORDS.findall(reason_of(response).lower()) if word not in sent]
    return digest(str(status), *said[:_MOST_WORDS])[:8]
