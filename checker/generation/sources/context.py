"""The state of one draw: its depth, its discarded work, and the values of earlier responses that it used."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any, Final
from weakref import WeakValueDictionary

from msgspec import Struct, field

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import ANYTHING, Binding, Origin, ValuePool, Violation
from checker.core.operation import Location
from checker.generation.sources.choices import Draw as Draw
from checker.generation.sources.choices import RandomSource, Source

ELEMENT, OPTIONAL, ATTEMPT = range(1002, 1005)
"""Labels of spans. The boolean before an `OPTIONAL` decides whether the part is present. The boolean of an `ELEMENT` is its first choice."""

DEEPEST = 3  # Times that a recursive schema is entered again before only required parts are drawn.
_WORK = 5_000
_GLANCE = 16
_SECONDS = 1.0
_ATTEMPTS = 60


HOOK = "hook "  # Prefix of the pointer of a value that a user's hook rejected.


class Rejected(Exception):
    """No attempt gave a value that the schema admits."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)
        self.pointer = pointer


NO_VALUE: Final = (Unsatisfiable, BudgetSpent, Rejected)  # Errors that mean that no value of a schema was found.


class Unfinished(Rejected):
    """A recursive schema is drawn before its compilation is finished."""


class GivenValue(Struct, frozen=True):
    """Part of a case with a value from users or from the description that was not drawn."""

    location: Location
    origin: Origin
    name: str = ANYTHING  # Name of the value in the provenance; `ANYTHING` if it is unknown.


class DrawContext(Struct):
    """State of one draw of one program."""

    pool: ValuePool | None = None
    bindings: list[Binding | GivenValue] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    """Current place in the body, as tokens of a JSON pointer. The path is kept up to date only if values of responses are reused."""
    is_reusing: bool = True
    """Whether pool values may be taken. Invalid bodies take no pool values and record no choice for them."""
    naming: frozenset[tuple[str, ...]] = frozenset()
    """Places of the body whose values name resources, as tokens of JSON pointers. Invented values at these places name no existing resource."""
    depth: int = 0
    work: int = 0
    since: float = 0.0  # When the first `_GLANCE` attempts had been discarded.
    since_cpu: float | None = None  # CPU time `_SECONDS` after `since`.
    allowance: int = _WORK  # Attempts that may be discarded.
    seeded: int | None = None
    """Remaining budget of choices while the items of a long array are drawn from seeds; None otherwise."""
    violation: Violation | None = None  # What the last negative part violates.
    alternative: int | None = None
    """Index of the security alternative that the last case meets; None for the usual one."""

    def begin(self, pool: ValuePool | None, work: int = 0) -> None:
        """Begin a draw, or a new attempt after `work` discarded ones."""
        self.pool = pool
        self.depth = 0
        self.work = work
        if self.bindings:
            self.bindings = []
        if self.path:
            self.path = []

    @contextmanager
    def aside(self, allowance: int = _WORK) -> Iterator[None]:
        """Draw a value outside the running draw. The inner draw has its own allowance for discarded attempts."""
        kept = (self.pool, self.bindings, self.path, self.depth, self.work)
        limits = (self.allowance, self.since, self.since_cpu, self.is_reusing)
        self.bindings, self.path, self.allowance, self.is_reusing = [], [], allowance, False
        try:
            yield
        finally:
            self.pool, self.bindings, self.path, self.depth, self.work = kept
            self.allowance, self.since, self.since_cpu, self.is_reusing = limits

    def spend(self, pointer: str) -> None:
        """Count a discarded attempt. Raises `BudgetSpent`."""
        self.work += 1
        # Attempts are counted. A slow validator may take a second of CPU time for a few, so the time is checked as well.
        if self.work % _GLANCE == 0:
            now = perf_counter()
            if self.work == _GLANCE:
                self.since, self.since_cpu = now, None
            elif now - self.since > _SECONDS:
                # On a busy machine, wall time passes in other processes. The CPU clock is read rarely, as a system call.
                cpu = thread_time()
                if self.since_cpu is None:
                    self.since_cpu = cpu
                elif cpu - self.since_cpu > _SECONDS:
                    raise BudgetSpent(pointer)
        if self.work > self.allowance:
            raise BudgetSpent(pointer)


class Shared(Struct):
    """The state and the parts that programs share. Such programs must not draw at the same time."""

    context: DrawContext = field(default_factory=DrawContext)
    parts: WeakValueDictionary[object, Any] = field(default_factory=WeakValueDictionary)
    """Key of everything that a part depends on -> the part. References are weak, because the parts of a large description do
    not fit into memory.
    """


def retried(make: Draw, accepts: Callable[[Any], bool], context: DrawContext, pointer: str) -> Draw:
    """Return a draw that retries until a value is accepted. Raises `Rejected` after `_ATTEMPTS`."""

    def draw(source: Source) -> Any:
        bound = len(context.bindings)
        if source.__class__ is RandomSource:
            # Random cases need no spans. Without them a case takes 16 us instead of 20.
            choices = source.choices
            start = len(choices)
            for _ in range(_ATTEMPTS):
                value = make(source)
                if accepts(value):
                    return value
                del choices[start:]
                del context.bindings[bound:]
                context.spend(pointer)
            raise Rejected(pointer)
        for _ in range(_ATTEMPTS):
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


class Budget(Struct):
    """The work that compiling one operation may take, in steps of about 50 us: reading a schema, compiling a node."""

    # Work is counted and not timed, because the same seed must give the same cases on any machine.

    steps: int = 60_000  # The dearest operation of the corpora takes 4,000, the dearest schema of the store 62,000.
    thrift: int = 45_000  # With fewer remaining steps, one alternative of each further schema is compiled.
    nodes: int = 0  # Compiled nodes, including those of impossible alternatives.

    @property
    def is_low(self) -> bool:
        """Whether to leave out alternatives."""
        return self.steps < self.thrift

    @contextmanager
    def lent(self, steps: int, thrift: int = 0) -> Iterator[None]:
        """Limit the steps inside the block, and leave out alternatives below `thrift` remaining steps."""
        kept, granted = (self.steps, self.thrift), min(steps, self.steps)
        self.steps, self.thrift = granted, thrift
        try:
            yield
        finally:
            self.steps, self.thrift = kept[0] - (granted - self.steps), kept[1]

    def spend(self, pointer: str, steps: int = 1) -> None:
        """Count steps. Raises `BudgetSpent`."""
        self.steps -= steps
        if self.steps < 0:
            self.steps = -1
            raise BudgetSpent(pointer)

    def spend_node(self, pointer: str) -> None:
        """Count a compiled node. Raises `BudgetSpent`."""
        self.spend(pointer)
        self.nodes += 1
