"""Known failures: failures that users accepted until a day, so that they fail no run."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from checker.core.graphs import grouped

VERSION: Final = "v1-"  # Version of the algorithm that makes fingerprints, in the names of failures.


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
    first_seen: str = ""  # A day, such as `2026-11-22`.
    last_seen: str = ""
    expires: str = ""  # The last day on which it is known; empty: no limit.

    def is_expired(self, today: str) -> bool:
        """Whether the last day of the entry is over."""
        return bool(self.expires) and self.expires < today

    @property
    def name(self) -> str:
        """Return the name for messages: the fingerprint, or the cause."""
        return self.fingerprint or f"{self.check} {self.rule or ''}".strip()

    @property
    def place(self) -> str:
        """The operation, or words for any operation."""
        return self.operation or "every operation"


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
        known = [one for one in self.entries if one.operation and not one.is_expired(self.today)]
        named = ((one.operation, one.fingerprint.removeprefix(VERSION)) for one in known)
        return {label: frozenset(names) for label, names in grouped(named).items()}
