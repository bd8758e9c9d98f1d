"""Cases from recipes: a task seed and an index, or recorded choices and bindings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from checker.core.case import Case
from checker.core.digests import case_id
from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import Label, Location, Operation
from checker.core.pool import ValuePool
from checker.core.sequence import Choice, Step
from checker.generation.hooks import ComponentHooks
from checker.generation.meaning.store import FormStore
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.replay import ReplaySource
from checker.kinds.protocol import ApiOperation, CaseProgram
from checker.phases.novelty import ATTEMPTS, Exhausted, Novelty

_APART = 1 << 40
"""Between seeds of one index; no task has so many."""
PoolView = Callable[[Operation], ValuePool]
"""Values of earlier responses as one operation may use them."""


@dataclass(slots=True)
class Made:
    """A case with the recipe that makes it again. Not frozen: one is made for each request, and that takes a microsecond."""

    case: Case
    label: Label
    choices: Sequence[Choice]
    bindings: tuple[Binding, ...]

    @property
    def step(self) -> Step:
        """The recipe, for keeps."""
        return Step(self.label, tuple(self.choices), self.bindings)


@dataclass(frozen=True, slots=True)
class BoundPool:
    """The values that a recorded case took: a pool that answers from its bindings."""

    bindings: Mapping[tuple[Location, str], Binding]

    @classmethod
    def of(cls, bindings: tuple[Binding, ...]) -> "BoundPool":
        """Pool of these bindings."""
        return cls({(binding.location, binding.name): binding for binding in bindings})

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """What was taken there, whatever the index."""
        return self.bindings.get((location, name))


@dataclass(frozen=True, slots=True)
class _Newest:
    """A pool that answers with its latest value: what the step before has just shown."""

    pool: ValuePool

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """The best value, whatever the index."""
        return self.pool.pick(location, name, 0)


@dataclass(frozen=True, slots=True)
class GenerationRules:
    """How cases are generated, operation by operation."""

    of: Callable[[Operation, str], GenerationSettings]
    """Settings of an operation in a phase, asked for when its cases are first made there."""
    by_phase: bool = False
    """Whether they differ from phase to phase."""
    some_unique: bool = False
    """Whether any operation has `unique_inputs`."""

    @classmethod
    def alike(cls, settings: GenerationSettings) -> "GenerationRules":
        """The same settings for all operations."""
        return cls(lambda operation, phase: settings, some_unique=settings.unique_inputs)


class CaseFactory:
    """Compiles operations when they are first asked for, and draws their cases."""

    def __init__(
        self,
        operations: Mapping[Label, ApiOperation],
        rules: "GenerationRules",
        hooks: Callable[[Operation], ComponentHooks],
        pools: PoolView | None,
        *,
        compiled: Callable[[CaseProgram], None] = lambda program: None,
    ) -> None:
        self._operations = operations
        self._rules = rules
        self._hooks = hooks
        self._pools = pools
        """None when nothing is reused."""
        self._compiled = compiled
        self._programs: dict[Label, CaseProgram] = {}
        """Empty where they differ from phase to phase."""
        self._of_phases: dict[tuple[Label, str], CaseProgram] = {}
        self._unique: set[tuple[Label, str]] = set()
        """(operation, phase) pairs that may send nothing twice."""
        self._store = FormStore()
        self._novelty = Novelty()
        self._random = RandomSource(0)

    def program(self, label: Label, phase: str) -> CaseProgram:
        """The draw program of an operation in a phase. Raises `Unsatisfiable`, `BudgetSpent`, `HookError`."""
        place = (label, phase if self._rules.by_phase else "")
        program = self._of_phases.get(place)
        if program is None:
            operation = self._operations[label]
            settings = self._rules.of(operation, phase)
            program = operation.compile(settings, hooks=self._hooks(operation), store=self._store)
            self._of_phases[place] = program
            if not self._rules.by_phase:
                self._programs[label] = program
            if settings.unique_inputs:
                self._unique.add(place)
            self._compiled(program)
        return program

    def make(
        self, label: Label, task_seed: int, index: int, phase: PhaseInfo, *, newest: bool = False
    ) -> Made:
        """Case `index` of a task: the same for ever, whoever makes it. `newest` prefers the latest values."""
        program = self._programs.get(label) or self.program(label, phase.name)
        source = self._random
        source.reset(task_seed + index)
        pool = None if self._pools is None else self._pools(program.operation)
        if newest and pool is not None:
            pool = _Newest(pool)
        case = program.draw(source, case_id(task_seed, index), phase, pool)
        bindings = case.meta.bindings if case.meta is not None else ()
        return Made(case, label, source.choices, bindings)

    def make_new(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> Made:
        """Case `index`, or where inputs have to be unique the first one that was not made before. Raises `Exhausted`."""
        place = (label, phase.name if self._rules.by_phase else "")
        for attempt in range(ATTEMPTS):
            made = self.make(label, task_seed + attempt * _APART, index, phase)
            made.case.id = case_id(task_seed, index)
            if place not in self._unique or self._novelty.is_new(label, made.case):
                return made
        raise Exhausted(label)

    @property
    def is_unique(self) -> bool:
        """Whether `make_new` makes sure of anything."""
        return self._rules.some_unique

    def remake(self, step: Step, *, name: str, phase: PhaseInfo) -> Made:
        """The case that a step records, under a new id."""
        return self.redraw(step, name=name, phase=phase)(ReplaySource(step.choices))

    def redraw(self, step: Step, *, name: str, phase: PhaseInfo) -> Callable[[Source], Made]:
        """What draws cases like the recorded one, with the values that it took, from any source."""
        program = self.program(step.label, phase.name)
        pool = BoundPool.of(step.bindings) if step.bindings else None

        def drawn(source: Source) -> Made:
            case = program.draw(source, case_id=name, phase=phase, pool=pool)
            return Made(case, step.label, source.choices, step.bindings)

        return drawn
