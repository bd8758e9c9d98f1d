"""The inputs that were sent before, for `generation.unique-inputs`."""

from collections import defaultdict
from hashlib import blake2b

from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.operation import Label
from checker.generation.boundaries.values import likeness

ATTEMPTS = 30
"""Cases that are drawn for one index before an operation counts as exhausted."""
_MOST = 1_000_000
"""Inputs that are remembered of one operation: 32 MiB or so; then we start again."""


class Exhausted(CheckerError):
    """An operation gives nothing new any more: no error, but the end of its turn."""

    def __init__(self, label: Label) -> None:
        super().__init__(f"{label} has no more inputs that were not sent before")


def key_of(case: Case) -> bytes:
    """Equal for cases that make the same request."""
    return blake2b(likeness(case).encode("utf-8", "surrogatepass"), digest_size=12).digest()


class Novelty:
    """Inputs that this worker has made."""

    def __init__(self) -> None:
        self._seen: dict[Label, set[bytes]] = defaultdict(set)

    def is_new(self, label: Label, case: Case) -> bool:
        """True the first time that a request is seen."""
        seen = self._seen[label]
        key = key_of(case)
        if key in seen:
            return False
        if len(seen) >= _MOST:
            seen.clear()
        seen.add(key)
        return True
