"""The state of one draw: its depth, its work, and the values of earlier responses that it took."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any, Final

from msgspec import Struct, field

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import ANYTHING, Binding, Origin, ValuePool, Violation
from checker.core.operation import Location
from checker.generation.sources.choices import Draw, RandomSource, Source

__all__ = [
    "ATTEMPT",
    "CASE",
    "COMPONENT",
    "DEEPEST",
    "ELEMENT",
    "NODE",
    "NO_VALUE",
    "OPTIONAL",
    "Budget",
    "Draw",
    "DrawContext",
    "GivenValue",
    "Rejected",
    "Unfinished",
    "retried",
]  # fmt: skip

NODE, ELEMENT, OPTIONAL, ATTEMPT, COMPONENT, CASE = range(1001, 1007)
"""Labels of spans. The boolean before an `OPTIONAL` says whether it is there; that of an `ELEMENT` is its first choice."""

DEEPEST = 3
"""Times that a recursive schema is entered again before only what is required is drawn."""
_WORK = 5_000
_GLANCE = 16
_SECONDS = 1.0
_ATTEMPTS = 60


HOOK = "hook "
"""Begins the pointer of what a hook of the user did not take."""


class Rejected(Exception):
    """No attempt gave a value that the schema admits: this draw came to nothing."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)
        self.pointer = pointer


NO_VALUE: Final = (Unsatisfiable, BudgetSpent, Rejected)
"""Errors of a schema for which no value was found."""


class Unfinished(Rejected):
    """The schema refers to itself, and is being compiled."""


class GivenValue(Struct, frozen=True):
    """A value in this part was not drawn: users or the description gave it."""

    location: Location
    origin: Origin
    name: str = ANYTHING
    """Which one, as provenance says it; `ANYTHING` where nobody knows."""


class DrawContext(Struct):
    """State of one draw of one program."""

    pool: ValuePool | None = None
    bindings: list[Binding | GivenValue] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    """Where in the body we are, as parts of a JSON pointer. Kept only when values are reused."""
    naming: Collection[tuple[str, ...]] = ()
    """Values in the body that name resources, as parts of JSON pointers: what is made up there leads nowhere."""
    depth: int = 0
    work: int = 0
    since: float = 0.0
    """When the first `_GLANCE` attempts had been discarded."""
    since_cpu: float | None = None
    """CPU time when that was `_SECONDS` ago."""
    allowance: int = _WORK
    """Attempts that may be discarded."""
    seeded: int | None = None
    """Choices that what is drawn from seeds may still take; None outside of it."""
    violation: Violation | None = None
    """What the last negative part breaks."""
    alternative: int | None = None
    """Which of the alternatives that its operation asks of its callers the last case meets; None for the usual one."""

    def begin(self, pool: ValuePool | None, work: int = 0) -> None:
        """A new draw, or a new attempt at it after so many discarded ones."""
        self.pool = pool
        self.depth = 0
        self.work = work
        if self.bindings:
            self.bindings = []
        if self.path:
            self.path = []

    @contextmanager
    def aside(self, allowance: int = _WORK) -> Iterator[None]:
        """Draw something aside that is no part of the running draw, and may discard so many attempts."""
        kept = (self.pool, self.bindings, self.path, self.depth, self.work)
        limits = (self.allowance, self.since, self.since_cpu)
        self.bindings, self.path, self.allowance = [], [], allowance
        try:
            yield
        finally:
            self.pool, self.bindings, self.path, self.depth, self.work = kept
            self.allowance, self.since, self.since_cpu = limits

    def spend(self, pointer: str) -> None:
        """Count a discarded attempt. Raises `BudgetSpent`."""
        self.work += 1
        if self.work % _GLANCE == 0:
            self._look_at_the_clock(pointer)
        if self.work > self.allowance:
            raise BudgetSpent(pointer)

    def _look_at_the_clock(self, pointer: str) -> None:
        """Attempts are cheap unless a validator is slow: only then is time what ends them."""
        now = perf_counter()
        if self.work == _GLANCE:
            self.since, self.since_cpu = now, None
        elif now - self.since > _SECONDS:
            # The clock of the CPU is a system call, and other processes may have taken the time.
            cpu = thread_time()
            if self.since_cpu is None:
                self.since_cpu = cpu
            elif cpu - self.since_cpu > _SECONDS:
                raise BudgetSpent(pointer)


def retried(
    make: Draw, accepts: Callable[[Any], bool], context: DrawContext, pointer: str, attempts: int = _ATTEMPTS
) -> Draw:
    """Draws until a value is accepted, for a bounded number of times."""

    def draw(source: Source) -> Any:
        bound = len(context.bindings)
        if source.__class__ is RandomSource:
            # Nobody asks chance for its spans; without them a case costs 16 us instead of 20.
            choices = source.choices
            start = len(choices)
            for _ in range(attempts):
                value = make(source)
                if accepts(value):
                    return value
                del choices[start:]
                del context.bindings[bound:]
                context.spend(pointer)
            raise Rejected(pointer)
        for _ in range(attempts):
            source.start_span(ATTEMPT)
            value = make(source)
            if accepts(value):
                source.stop_span()
                return value
            source.stop_span(True)
            del context.bindings[bound:]
            context.spend(pointer)
        raise Rejected(pointer)

    return draw


_NODE_BYTES = 4 << 10
"""Of a compiled node with its validators and plans: 3.2 to 5.0 KiB in seven large descriptions (`benchmarks/program_cache.py`).
Steps say less, 0.7 to 1.8 KiB each: many of them read forms that operations share.
"""


class Budget(Struct):
    """Work that compiling one operation may take, in steps of some 50 us: a schema that is read, a node that is compiled."""

    steps: int = 60_000
    """The dearest operation of the corpora takes 4,000, the dearest schema of the store 62,000."""
    thrift: int = 45_000
    """When so many steps are left, of the alternatives that are still to come one each has to do."""
    nodes: int = 0
    """Nodes that were compiled, those of alternatives that came to nothing included."""

    @property
    def program_bytes(self) -> int:
        """Estimate of the memory that the compiled program takes."""
        return (1 + self.nodes) * _NODE_BYTES

    @property
    def is_low(self) -> bool:
        """True when alternatives have to be left out."""
        return self.steps < self.thrift

    @contextmanager
    def lent(self, steps: int, thrift: int = 0) -> Iterator[None]:
        """At most so many steps inside, and thrift when so many of them are left."""
        kept, granted = (self.steps, self.thrift), min(steps, self.steps)
        self.steps, self.thrift = granted, thrift
        try:
            yield
        finally:
            self.steps, self.thrift = kept[0] - (granted - self.steps), kept[1]

    def spend(self, pointer: str, steps: int = 1) -> None:
        """Count what is done. Raises `BudgetSpent`."""
        self.steps -= steps
        if self.steps < 0:
            self.steps = -1
            raise BudgetSpent(pointer)

    def spend_node(self, pointer: str) -> None:
        """Count a node that is compiled. Raises `BudgetSpent`."""
        self.spend(pointer)
        self.nodes += 1
