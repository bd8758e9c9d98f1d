"""Known failures: failures that users accepted until a day, so that they fail no run."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.graphs import grouped
from checker.core.templates import matches

_VERSION: Final = "v1"
TRIES: Final = 3  # Most tries of a failure of an earlier run before it counts as gone.
_LARGEST_CHANCE: Final = 0.05
"""Largest accepted probability that an existing failure shows in none of them and is called fixed."""
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


class Tried(Protocol):
    """The number of times that a failure was tried again."""

    @property
    def reproduced(self) -> bool | None: ...
    @property
    def hits(self) -> int: ...
    @property
    def tries(self) -> int: ...


class Seen(Protocol):
    """The identity of a failure that a run has seen."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def check(self) -> str: ...
    @property
    def unique_key(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def investigation(self) -> Tried: ...


def is_intermittent(tried: Tried) -> bool:
    """Whether the commands of a failure showed it only some of the times that they were sent."""
    return tried.reproduced is False or tried.hits < tried.tries


def shows_surely(tried: Tried) -> bool:
    """Whether an existing failure would show in one of `TRIES`, judged by how often its commands showed it."""
    if not is_intermittent(tried):
        return True
    return tried.tries > 0 and (1 - tried.hits / tried.tries) ** TRIES <= _LARGEST_CHANCE


class KnownFailure(Struct, frozen=True):
    """One entry of a baseline: a failure at one operation, or, without an operation, a cause at any operation."""

    check: str = ""
    rule: str | None = None  # The rule that is broken: `500`, `items/required`; None: any.
    text: str | None = None  # Template of the error text (`core.templates`); None: any.
    operation: str = ""  # Label; empty: any.
    fingerprint: str = ""
    """Fingerprint of the failure or of its cause, with the version of the algorithm: `v1-9a689dd49443c3d5`."""
    title: str = ""
    reason: str = ""
    owner: str = ""
    ticket: str = ""
    first_seen: str = ""  # Days, as in `2026-11-22`.
    last_seen: str = ""
    expires: str = ""  # The last day on which it is known; empty: no limit.

    def is_expired(self, today: str) -> bool:
        """Whether its last day is over."""
        return bool(self.expires) and self.expires < today

    @property
    def name(self) -> str:
        """Return the name for messages: the fingerprint, or the cause."""
        return self.fingerprint or f"{self.check} {self.rule or ''}".strip()

    @property
    def place(self) -> str:
        """The operation, or words for any operation."""
        return self.operation or "every operation"

    def covers(self, seen: Seen) -> bool:
        """Whether this entry means the failure. Error texts that differ only in parts that change between runs are equal."""
        if self.fingerprint and self.fingerprint in ids_of(seen):
            return True
        return (
            bool(self.check)
            and self.check == seen.check
            and self.operation in ("", seen.label)
            and self.rule in (None, seen.unique_key)
            and (
                self.text is None
                or self.text == seen.text
                or matches(self.text, seen.text)
                or matches(seen.text, self.text)
            )
        )


def failure_id(seen: Seen) -> str:
    """Return the id of a failure, the same for every seed, number of workers and mode: `v1-9a689dd49443c3d5`."""
    return f"{_VERSION}-{seen.fingerprint}"


def ids_of(seen: Seen) -> tuple[str, ...]:
    """Return the id of a failure, and that of its cause where it has one."""
    return (failure_id(seen), f"{_VERSION}-{seen.cause}") if seen.cause else (failure_id(seen),)


def entry_for(seen: Seen, today: str) -> KnownFailure:
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


def cause_entry_for(seen: Seen, today: str) -> KnownFailure:
    """Return an entry for the cause of a failure, for any operation."""
    return replace(entry_for(seen, today), operation="", fingerprint=ids_of(seen)[-1])


class Baseline(Struct, frozen=True):
    """The known failures that a run compares its failures with."""

    source: str = ""  # Path of the file, or name of the run; empty: there is no baseline.
    today: str = ""
    entries: tuple[KnownFailure, ...] = ()
    is_run: bool = False  # Whether it is another run, not a file.
    is_new: bool = False  # Whether the file is not there yet: this run makes it, and none of its failures fails.
    updates: bool = False  # Whether new failures are added.
    prunes: bool = False  # Whether entries that did not show again are removed.
    allows_intermittent: bool = False  # Whether failures that occur only sometimes do not fail the run.

    def __bool__(self) -> bool:
        return bool(self.source)

    def fingerprints(self) -> Mapping[str, frozenset[str]]:
        """Return operation -> fingerprints of its failures that are known today."""
        version = f"{_VERSION}-"
        known = [one for one in self.entries if one.operation and not one.is_expired(self.today)]
        named = ((one.operation, one.fingerprint.removeprefix(version)) for one in known)
        return {label: frozenset(names) for label, names in grouped(named).items()}


class KnownFailures(Struct):
    """Looks failures up in a baseline."""

    baseline: Baseline
    _by_fingerprint: dict[str, list[KnownFailure]] = field(default_factory=dict)
    _by_check: dict[str, list[KnownFailure]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_fingerprint = grouped((entry.fingerprint, entry) for entry in self.baseline.entries)
        self._by_check = grouped((entry.check, entry) for entry in self.baseline.entries)

    def entry_of(self, seen: Seen) -> KnownFailure | None:
        """Return the entry of a failure: a valid one before an expired one, one of an operation before one of a cause."""
        today = self.baseline.today
        return min(self._entries(seen), key=lambda one: (one.is_expired(today), not one.operation), default=None)

    def standing(self, seen: Seen) -> KnownStatus:
        """Return the status of a failure."""
        entry = self.entry_of(seen)
        if entry is not None:
            return KnownStatus.EXPIRED if entry.is_expired(self.baseline.today) else KnownStatus.KNOWN
        if self.baseline.allows_intermittent and is_intermittent(seen.investigation):
            return KnownStatus.ALLOWED
        # Failures of the run as a whole, and those that depend on the load of the machine, are not recorded.
        is_recordable = bool(seen.phase) and seen.check not in _NEVER_KNOWN
        return KnownStatus.RECORDED if self.baseline.updates and is_recordable else KnownStatus.NEW

    def fails(self, seen: Seen) -> bool:
        return self.standing(seen) in FAILING

    def compared(self, seen: Iterable[Seen], tested: Iterable[str], *, is_whole: bool) -> "Compared":
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

    def _entries(self, seen: Seen) -> Iterator[KnownFailure]:
        named = [one for name in ids_of(seen) for one in self._by_fingerprint.get(name, ())]
        yield from named
        known = set(map(id, named))
        for entry in self._by_check.get(seen.check, ()):
            if id(entry) not in known and entry.covers(seen):
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
