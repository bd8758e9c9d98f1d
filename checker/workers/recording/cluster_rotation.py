"""Whose turn it is in a cluster of operations (`fuzz`): what always refuses, or never changes, comes less often. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from checker.core.operation import Label
from checker.workers.messages import OperationReport

DULL_CASES = 16
"""Cases of one operation in one lease, all refused alike, after which it is dull."""
_NEVER = 1 << 62
DULL, CONSTANT = 8, 16
"""Every how many rounds it is the turn of an operation that is dull, and of one that has a single case."""
DULL_PRODUCER, CONSTANT_PRODUCER = 2, 4
"""Of one whose answers others need."""


class ClusterRotation(Struct):
    """Goes round the operations of a cluster for one lease, and notes what came of each."""

    labels: Sequence[Label]
    """The case with an index is of operation `labels[index % len(labels)]`."""
    producers: Collection[Label] = ()
    pauses: dict[Label, int] = field(default_factory=dict)
    """Operation -> every how many rounds it is its turn; each time if it is not there."""
    _answered: Counter[tuple[str, int]] = field(default_factory=Counter)
    """(operation, status) -> cases; 0: no answer."""
    _fresh: Counter[Label] = field(default_factory=Counter)
    """Operation -> cases that showed something new."""
    _lively: set[Label] = field(default_factory=set)
    """Operations that showed something new since the last count."""
    _constant: set[Label] = field(default_factory=set)
    _waiting: set[Label] = field(default_factory=set)

    def passes(self, label: Label, index: int) -> bool:
        """Whether it is not the turn of an operation at this index."""
        return index // len(self.labels) % self.pauses.get(label, 1) > 0

    def showed(self, label: Label) -> None:
        """A case of it showed something new."""
        self._fresh[label] += 1
        self._lively.add(label)

    def is_constant(self, label: Label) -> bool:
        """Note that all of its cases are the same; whether those of all others are, too."""
        self._constant.add(label)
        self._settle(label)
        return len(self._constant) == len(set(self.labels))

    def wait(self, label: Label) -> None:
        """Make no further case of it while one waits long."""
        self._waiting.add(label)
        self._settle(label)

    def landed(self, label: Label) -> None:
        """Nobody waits for it any more."""
        self._waiting.discard(label)
        self._settle(label)

    def count(self, statuses: Mapping[tuple[str, int], int]) -> bool:
        """Add answers; whether there is no operation left but dull ones and those that have a single case."""
        self._answered.update(statuses)
        for label in self.labels:
            self._settle(label)
        self._lively.clear()
        return all(label in self._constant or self._is_dull(label) for label in self.labels)

    def reports(self, given_up: Collection[Label]) -> tuple[OperationReport, ...]:
        """What came of each operation; of those that were `given_up` nothing may have been made at all."""
        found = []
        for label in dict.fromkeys(self.labels):
            cases = sum(count for (of, _), count in self._answered.items() if of == label)
            is_dead = label in given_up and not cases
            refused = self._refusal(label) is not None and not self._fresh[label]
            found.append(OperationReport(label, cases, is_refused=refused, is_dead=is_dead))
        return tuple(found)

    def _settle(self, label: Label) -> None:
        """Say how often it is its turn from now on."""
        is_producer = label in self.producers
        pause = 1
        if label in self._waiting:
            pause = _NEVER
        elif label in self._constant:
            pause = CONSTANT_PRODUCER if is_producer else CONSTANT
        elif self._is_dull(label):
            pause = DULL_PRODUCER if is_producer else DULL
        if pause > 1:
            self.pauses[label] = pause
        else:
            self.pauses.pop(label, None)

    def _is_dull(self, label: Label) -> bool:
        refusal = self._refusal(label)
        if refusal is None or label in self._lively:
            return False
        return self._answered[label, refusal] >= DULL_CASES

    def _refusal(self, label: Label) -> int | None:
        """The status of all its answers, if they refuse (0: if there is none)."""
        statuses = [status for of, status in self._answered if of == label]
        if len(statuses) != 1 or 0 < statuses[0] < 400:
            return None
        return statuses[0]
