"""The results of valid cases: which operations refuse all of them for the same reasons, and which optional parts are better omitted."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import itemgetter
from sys import intern
from typing import Final, NamedTuple

from msgspec import Struct, field

from checker.core.case import Case
from checker.core.digests import digest
from checker.core.phases import CaseSource
from checker.core.response import Response
from checker.core.system import later_pattern
from checker.generation.boundaries.values import likeness
from checker.health import TOO_MANY
from checker.refusals.reading import reason_of

Moment = tuple[int, int, int]  # (phase, layer, index of a case).
ACCEPTED = ""  # Stands in place of a reason if the case was not refused.
ONE_IN: Final = 10
"""One in this many cases is sent nevertheless, because other operations may have changed the state of the target."""
_ENOUGH: Final = {CaseSource.LISTED: (4, ONE_IN), CaseSource.DRAWN: (20, 4), CaseSource.CHAINED: (20, ONE_IN)}
"""Source of cases -> number of refusals in a row for known reasons. After these, only one case in this many of an operation that accepted nothing is sent.

Listed cases change one thing of a case that was refused for another reason. Of a hundred drawn cases, 40 remain. Of the
operations that accept one case in ten, one in 70 accepts none of the 40. A sequence that begins with a refusal ends there.
"""
_AT_ONE_PLACE = 3
"""Refusals with the same reason after which a listed case is not sent if it varies the same place or has the same name in the path."""
_DULL = 20
"""Refusals with the same reason after which an operation gets no further case although it accepted one before.

An operation that accepts 20 % of its cases rarely refuses this many in a row.
"""
_INVENTED_IN_VAIN = {True: 3, False: 8}
"""Whether known names were accepted, or the operation removes resources -> number of cases with invented names of missing resources, after which no further one is sent.
"""
_WORDS = later_pattern(r"[^\W\d_]{3,}")
_MOST_WORDS = 8  # Words of a reason that are compared. Later words are often about the value that was sent.
MOST_PARTS = 60  # Optional parts of one operation that are compared.
_ENOUGH_WITH = 8
_ENOUGH_WITHOUT = 3
"""Cases with a part, and accepted cases without it, that are needed to compare the shares of accepted cases."""
_WORSE = 0.6  # A part is omitted if the share of accepted cases with it is below this factor of the share without it.


class _Result(NamedTuple):
    """The result of a valid case."""

    moment: Moment
    reason: str
    parts: int  # The optional parts of the case, as bits.
    is_known: bool  # Whether an earlier response contained the resource that it names.
    is_gone: bool  # Whether the resource does not exist, or was removed.
    names: int  # A digest of the names in the path of the case; 0 without names.
    place: int  # A digest of the place that a list varies; 0 if no place is varied.


class _Streak(Struct):
    """The first results of an operation. The results are read once, because every case asks for them."""

    count: int = 0
    met: set[str] = field(default_factory=set)  # Reasons of the refusals.
    dull: int = 0  # Refusals in a row for known reasons, up to the last result.
    accepts_known: bool = False
    accepts_invented: bool = False
    missing: int = 0  # Cases with invented names whose resources do not exist.
    gone: dict[int, int] = field(default_factory=dict)
    """Digest of names -> results in which the resource did not exist or was removed, without a later acceptance."""
    places: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Digest of a place that a list varies -> (last reason there, how often in a row)."""

    def read(self, results: Iterable[_Result]) -> None:
        for _, reason, _, is_known, is_gone, names, place in results:
            is_accepted = reason == ACCEPTED
            self.dull = self.dull + 1 if not is_accepted and reason in self.met else 0
            self.met.add(reason)
            self.count += 1
            self.accepts_known |= is_accepted and is_known
            self.accepts_invented |= is_accepted and not is_known
            self.missing += is_gone and not (is_accepted or is_known)
            if is_gone and names:
                self.gone[names] = self.gone.get(names, 0) + 1
            elif is_accepted:
                self.gone.pop(names, None)
            if place:
                last, count = self.places.get(place, (ACCEPTED, 0))
                self.places[place] = reason, count + 1 if reason == last else 1

    def invents_in_vain(self, *, is_removal: bool) -> bool:
        """Whether resources with invented names do not exist. Except for removals, names from earlier responses must be accepted.

        A removal accepts each known name only once, so for removals it is enough that no invented name exists.
        """
        return not self.accepts_invented and self.missing >= _INVENTED_IN_VAIN[self.accepts_known or is_removal]


class Named(Struct, frozen=True):
    """The way in which a case names its resource."""

    names: int = 0  # A digest of the names in its path.
    is_invented: bool = False  # Whether the name is invented.
    is_removal: bool = False  # Whether the case removes the resource.


_UNNAMED: Final = Named()


class ValidCases(Struct):
    """The results of the valid cases of each operation, ordered by the moments of the cases."""

    refused: set[str] = field(default_factory=set)
    """Operations that refused a case, or removed its resource. Most operations did neither, and the set is looked up before each case."""
    _results: dict[str, list[_Result]] = field(default_factory=dict)  # Operation -> its results, by moment.
    _came: dict[str, list[_Result]] = field(default_factory=dict)
    """Operation -> its results in the order of their arrival."""
    _streaks: dict[tuple[str, bool], _Streak] = field(default_factory=dict)
    """(operation, whether by moment or by arrival) -> the results read so far."""

    def count(
        self,
        label: str,
        moment: Moment,
        reason: str,
        parts: int,
        *,
        is_known: bool = False,
        is_gone: bool = False,
        names: int = 0,
        place: int = 0,
    ) -> None:
        """Count a valid case, once for each moment. The order of the calls does not matter.

        `is_known`: an earlier response contained the resource that the case names; `is_gone`: the resource does not exist, or
        was removed; `names`: digest of the names in its path; `place`: digest of the place that a list varies, 0 for none.
        """
        # Workers keep the results of all operations, which have few different reasons.
        reason = intern(reason)
        if is_gone or reason != ACCEPTED:
            self.refused.add(label)
        results = self._results.setdefault(label, [])
        at = bisect_left(results, moment, key=itemgetter(0))
        if at == len(results) or results[at][0] != moment:
            result = _Result(moment, reason, parts, is_known, is_gone, names, place)
            results.insert(at, result)
            streak = self._streaks.get((label, True))
            if streak is not None and at < streak.count:
                del self._streaks[label, True]
            self._came.setdefault(label, []).append(result)

    def is_left_out(
        self,
        label: str,
        before: Moment | None,
        index: int,
        *,
        source: CaseSource,
        named: Named = _UNNAMED,
        place: int = 0,
        is_bare: bool = False,
    ) -> bool:
        """Whether valid case `index` of a source is not worth sending, judging by the cases before a moment, or by all known cases.

        `place` as in `count`; `is_bare`: the operation has no inputs.
        """
        streak = self._streak(label, before)
        enough, one_in = _ENOUGH[source]
        if ACCEPTED in streak.met and source is CaseSource.CHAINED:
            # Each sequence creates the resources that it needs.
            return False
        if is_bare and streak.met and ACCEPTED not in streak.met:
            # All cases are equal.
            return index % ONE_IN > 0
        # A list varies the body beside the name, and the body may be judged first.
        is_gone = streak.gone.get(named.names, 0) >= (_AT_ONE_PLACE if source is CaseSource.LISTED else 1)
        last, count = streak.places.get(place, (ACCEPTED, 0))
        is_refused_alike = last != ACCEPTED and count >= _AT_ONE_PLACE
        if is_gone or is_refused_alike or (named.is_invented and streak.invents_in_vain(is_removal=named.is_removal)):
            return index % ONE_IN > 0
        if ACCEPTED in streak.met:
            enough, one_in = _DULL, ONE_IN
        return streak.dull >= enough and index % one_in > 0

    def _streak(self, label: str, before: Moment | None) -> _Streak:
        """Return the summary of the results before a moment, or of all known results."""
        results, came = self._results.get(label, []), self._came.get(label, [])
        count = len(came) if before is None else bisect_left(results, before, key=itemgetter(0))
        key = label, before is not None
        streak = self._streaks.get(key)
        if streak is None or streak.count > count:
            streak = self._streaks[key] = _Streak()
        if streak.count == count:
            return streak
        streak.read(islice(came if before is None else results, streak.count, count))
        return streak

    def worse_with(self, label: str, before: Moment) -> Iterator[tuple[int, int]]:
        """Yield (number, accepted cases with it) of the parts with which far fewer cases before a moment were accepted than without."""
        results = self._results.get(label, [])
        results = results[: bisect_left(results, before, key=itemgetter(0))]
        accepted = sum(one.reason == ACCEPTED for one in results)
        count_with, accepted_with = [0] * MOST_PARTS, [0] * MOST_PARTS
        for _, reason, parts, *_ in results:
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
    """Return a key of the reason for which a valid case was refused, without words of the request; `ACCEPTED` if it was accepted.

    None for 429, which depends on the pace of the run and not on the case. None also for 5xx, because a service without
    a feature returns 501 for all cases that it does not refuse.
    """
    if status == TOO_MANY or status >= 500:
        return None
    if status < 400:
        return ACCEPTED
    sent = set(_WORDS.findall(likeness(case).lower()))
    said = [word for word in _WORDS.findall(reason_of(response).lower()) if word not in sent]
    return digest(str(status), *said[:_MOST_WORDS])[:8]
