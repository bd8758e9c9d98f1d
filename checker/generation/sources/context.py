"""The state of one draw: its depth, its work, and the values of earlier responses that it took."""

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
"""Labels of spans. A boolean before an `OPTIONAL` decides whether it is present; the boolean of an `ELEMENT` is its first choice."""

DEEPEST = 3  # Times that a recursive schema is entered again before only required parts are drawn.
_WORK = 5_000
_GLANCE = 16
_SECONDS = 1.0
_ATTEMPTS = 60


HOOK = "hook "  # Prefix of the pointer of a value that a hook of the user refused.


class Rejected(Exception):
    """No attempt gave a value that the schema admits."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)
        self.pointer = pointer


NO_VALUE: Final = (Unsatisfiable, BudgetSpent, Rejected)  # Errors of a schema for which no value was found.


class Unfinished(Rejected):
    """The schema refers to itself, and is being compiled."""


class GivenValue(Struct, frozen=True):
    """A value of this part comes from users or from the description, and was not drawn."""

    location: Location
    origin: Origin
    name: str = ANYTHING  # Name of the value in the provenance; `ANYTHING` if it is unknown.


class DrawContext(Struct):
    """State of one draw of one program."""

    pool: ValuePool | None = None
    bindings: list[Binding | GivenValue] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    """Current place in the body, as parts of a JSON pointer. Maintained only when values are reused."""
    is_reusing: bool = True
    """Whether values may be taken from the pool. Wrong bodies take none, and leave no choices for it."""
    naming: frozenset[tuple[str, ...]] = frozenset()
    """Values in the body that name resources, as parts of JSON pointers: invented ones name nothing that exists."""
    depth: int = 0
    work: int = 0
    since: float = 0.0  # Time at which the first `_GLANCE` attempts had been discarded.
    since_cpu: float | None = None  # CPU time `_SECONDS` after `since`.
    allowance: int = _WORK  # Attempts that may be discarded.
    seeded: int | None = (
        None  # Remaining budget of choices while the items of a long array are drawn from seeds; None otherwise.
    )
    violation: Violation | None = None  # The violation of the last negative part.
    alternative: int | None = None
    """Place of the security alternative that the last case meets; None for the usual one."""

    def begin(self, pool: ValuePool | None, work: int = 0) -> None:
        """Begin a draw, or a new attempt at it after `work` discarded ones."""
        self.pool = pool
        self.depth = 0
        self.work = work
        if self.bindings:
            self.bindings = []
        if self.path:
            self.path = []

    @contextmanager
    def aside(self, allowance: int = _WORK) -> Iterator[None]:
        """Draw a value that is not part of the running draw, with an allowance of its own for discarded attempts."""
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
        # Attempts are counted, but a slow validator may take a second of CPU time for a few.
        if self.work % _GLANCE == 0:
            now = perf_counter()
            if self.work == _GLANCE:
                self.since, self.since_cpu = now, None
            elif now - self.since > _SECONDS:
                # On a busy machine other processes take the time. The CPU clock is a system call, so it is read rarely.
                cpu = thread_time()
                if self.since_cpu is None:
                    self.since_cpu = cpu
                elif cpu - self.since_cpu > _SECONDS:
                    raise BudgetSpent(pointer)
        if self.work > self.allowance:
            raise BudgetSpent(pointer)


class Shared(Struct):
    """The state and the parts that programs share which draw one after the other."""

    context: DrawContext = field(default_factory=DrawContext)
    parts: WeakValueDictionary[object, Any] = field(default_factory=WeakValueDictionary)
    """Key of everything that a part depends on -> the part. References are weak: a large description has more parts than fit into memory."""


def retried(make: Draw, accepts: Callable[[Any], bool], context: DrawContext, pointer: str) -> Draw:
    """Return a draw that retries until a value is accepted. Raises `Rejected` after `_ATTEMPTS`."""

    def draw(source: Source) -> Any:
        bound = len(context.bindings)
        if source.__class__ is RandomSource:
            # Random cases need no spans; without them a case costs 16 us instead of 20.
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

    # Work is counted and not timed: the same seed must give the same cases on any machine.

    steps: int = 60_000  # The dearest operation of the corpora takes 4,000, the dearest schema of the store 62,000.
    thrift: int = 45_000  # Remaining steps below which only one alternative of each further schema is compiled.
    nodes: int = 0  # Compiled nodes, those of impossible alternatives included.

    @property
    def is_low(self) -> bool:
        """Whether alternatives have to be left out."""
        return self.steps < self.thrift

    @contextmanager
    def lent(self, steps: int, thrift: int = 0) -> Iterator[None]:
        """Limit the steps inside, and leave out alternatives below `thrift` remaining steps."""
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
