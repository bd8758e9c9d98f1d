"""Mutated answers through real lanes, read by everybody who reads answers."""

from collections import Counter
from dataclasses import dataclass, field

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import NetworkFailure
from checker.transport.http import HttpLanes
from tests.hostile.answering import answering
from tests.hostile.mutations import mutated
from tests.hostile.reading import Readers

_LANES = 4
# A port has as many connections as it remembers closed ones: each server has its share of them.
_PER_SERVER = 5000


@dataclass
class Fuzzed:
    """What became of the answers."""

    outcomes: Counter[str] = field(default_factory=Counter)
    """`answer`, or the kind of failure."""
    statuses: Counter[int] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    """Titles of what the checks said."""
    unread: dict[int, str] = field(default_factory=dict)
    """Numbers of answers that raised something in the lane: our own bugs."""

    @property
    def count(self) -> int:
        """Answers that were read."""
        return self.outcomes.total()


def fuzz(first: int, count: int) -> Fuzzed:
    """Answers from number `first` on, each sent, received, judged and written down once. Raises what a reader raises."""
    fuzzed, readers = Fuzzed(), Readers()
    for start in range(first, first + count, _PER_SERVER):
        _fuzz(range(start, min(start + _PER_SERVER, first + count)), fuzzed, readers)
    return fuzzed


def _fuzz(numbers: range, fuzzed: Fuzzed, readers: Readers) -> None:
    waiting = iter(numbers)
    flying: dict[int, int] = {}
    with answering(mutated) as port:
        lanes = HttpLanes(BaseUrl("http", "127.0.0.1", port, ""), HttpSettings(), _LANES)
        try:
            done = 0
            while done < len(numbers):
                for lane in range(_LANES):
                    if lane not in flying and (number := next(waiting, None)) is not None:
                        flying[lane] = number
                        lanes.start(lane, WireRequest("GET", b"/%d" % number, []))
                for lane, outcome in lanes.poll(1.0):
                    done += 1
                    number = flying.pop(lane)
                    if isinstance(outcome, NetworkFailure):
                        fuzzed.outcomes[outcome.kind.name.lower()] += 1
                        if outcome.cause is not None:
                            fuzzed.unread[number] = outcome.message
                    else:
                        fuzzed.outcomes["answer"] += 1
                        fuzzed.statuses[outcome.status_code] += 1
                    judgement = readers.read(outcome)
                    if judgement is not None:
                        fuzzed.findings.update(one.title for one in judgement.failures)
        finally:
            lanes.close()
