"""Failures of a run compared with the known ones."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.graphs import grouped
from checker.core.known import VERSION, Baseline, KnownFailure
from checker.core.templates import matches
from checker.corpus.records import Finding, Investigation

TRIES: Final = 3  # Most tries of a failure of an earlier run before it counts as gone.
_LARGEST_CHANCE: Final = 0.05
"""Largest accepted probability that an existing failure does not show in any of `TRIES` and is wrongly called fixed."""
MAX_RESPONSE_TIME: Final = "max_response_time"
_NEVER_KNOWN: Final = (MAX_RESPONSE_TIME,)  # Checks whose failures depend on how busy a machine is.


class KnownStatus(StrEnum):
    """The status of a failure with respect to the known ones."""

    NEW = "new"
    KNOWN = "known"
    EXPIRED = "expired"  # Known until a day in the past, so it fails the run again.
    RECORDED = "recorded"
    """Added to the baseline by this run, so it is known from now on and does not fail this run."""
    ALLOWED = "allowed"  # Occurs only sometimes, which `checks.intermittent = "report"` allows.


FAILING: Final = (KnownStatus.NEW, KnownStatus.EXPIRED)  # The statuses that fail a run.


def is_intermittent(tried: Investigation) -> bool:
    """Whether the commands of a failure showed it only some of the times that they were sent."""
    return tried.reproduced is False or tried.hits < tried.tries


def shows_surely(tried: Investigation) -> bool:
    """Whether an existing failure would show in one of `TRIES`, judged by how often its commands showed it."""
    if tried.needs_state:
        return False
    if not is_intermittent(tried):
        return True
    return tried.tries > 0 and (1 - tried.hits / tried.tries) ** TRIES <= _LARGEST_CHANCE


def failure_id(seen: Finding) -> str:
    """Return the id of a failure, the same for every seed, number of workers and mode: `v1-9a689dd49443c3d5`."""
    return f"{VERSION}{seen.fingerprint}"


def ids_of(seen: Finding) -> tuple[str, ...]:
    """Return the id of a failure, and that of its cause where it has one."""
    return (failure_id(seen), f"{VERSION}{seen.cause}") if seen.cause else (failure_id(seen),)


def covers(entry: KnownFailure, seen: Finding) -> bool:
    """Whether an entry means a failure. Error texts that differ only in parts that change between runs are equal."""
    if entry.fingerprint and entry.fingerprint in ids_of(seen):
        return True
    return (
        bool(entry.check)
        and entry.check == seen.check
        and entry.operation in ("", seen.label)
        and entry.rule in (None, seen.unique_key)
        and (
            entry.text is None
            or entry.text == seen.text
            or matches(entry.text, seen.text)
            or matches(seen.text, entry.text)
        )
    )


def entry_for(seen: Finding, today: str) -> KnownFailure:
    """Return an entry for a failure that was seen today."""
    return KnownFailure(
        check=seen.check,
        rule=seen.unique_key,
        text=seen.text,
        operation=seen.label,
        fingerprint=failure_id(seen),
        title=seen.title,
        first_seen=today,
        last_seen=today,
    )


def cause_entry_for(seen: Finding, today: str) -> KnownFailure:
    """Return an entry for the cause of a failure, for any operation."""
    return replace(entry_for(seen, today), operation="", fingerprint=ids_of(seen)[-1])


class KnownFailures(Struct):
    """Looks failures up in a baseline."""

    baseline: Baseline
    _by_fingerprint: dict[str, list[KnownFailure]] = field(default_factory=dict)
    _by_check: dict[str, list[KnownFailure]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_fingerprint = grouped((entry.fingerprint, entry) for entry in self.baseline.entries)
        self._by_check = grouped((entry.check, entry) for entry in self.baseline.entries)

    def entry_of(self, seen: Finding) -> KnownFailure | None:
        """Return the entry of a failure: a valid one before an expired one, one of an operation before one of a cause."""
        today = self.baseline.today
        return min(self._entries(seen), key=lambda one: (one.is_expired(today), not one.operation), default=None)

    def standing(self, seen: Finding) -> KnownStatus:
        """Return the status of a failure."""
        entry = self.entry_of(seen)
        if entry is not None:
            return KnownStatus.EXPIRED if entry.is_expired(self.baseline.today) else KnownStatus.KNOWN
        if self.baseline.allows_intermittent and is_intermittent(seen.investigation):
            return KnownStatus.ALLOWED
        # Failures of the run as a whole, and those that depend on the load of the machine, are not recorded.
        is_recordable = bool(seen.phase) and seen.check not in _NEVER_KNOWN
        return KnownStatus.RECORDED if self.baseline.updates and is_recordable else KnownStatus.NEW

    def fails(self, seen: Finding) -> bool:
        return self.standing(seen) in FAILING

    def compared(self, seen: Iterable[Finding], tested: Iterable[str], *, is_whole: bool) -> "Compared":
        """Return all failures of a run. `tested`: operations with cases; `is_whole`: whether it was complete."""
        states: dict[str, KnownStatus] = {}
        hit: set[int] = set()
        for one in seen:
            states[one.fingerprint] = self.standing(one)
            hit.update(map(id, self._entries(one)))
        labels = set(tested)
        unseen = [entry for entry in self.baseline.entries if id(entry) not in hit]
        gone = [one for one in unseen if (one.operation in labels if one.operation else is_whole)]
        missed = [one for one in unseen if one not in gone]
        return Compared(self.baseline, states, tuple(gone), tuple(missed))

    def _entries(self, seen: Finding) -> Iterator[KnownFailure]:
        named = [one for name in ids_of(seen) for one in self._by_fingerprint.get(name, ())]
        yield from named
        known = set(map(id, named))
        for entry in self._by_check.get(seen.check, ()):
            if id(entry) not in known and covers(entry, seen):
                yield entry


class Compared(Struct, frozen=True):
    """A run compared with its baseline."""

    baseline: Baseline
    states: Mapping[str, KnownStatus]  # By fingerprint of each failure.
    gone: tuple[KnownFailure, ...] = ()
    """Entries that did not show again although their operations were tested: fixed, or rare."""
    unobserved: tuple[KnownFailure, ...] = ()  # Entries of operations that were not tested.

    def count(self, standing: KnownStatus) -> int:
        """Return the number of failures of a status."""
        return sum(state is standing for state in self.states.values())

    def fails(self, fingerprint: str) -> bool:
        """Whether a failure fails the run."""
        return self.states.get(fingerprint, KnownStatus.NEW) in FAILING
