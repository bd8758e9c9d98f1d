"""Cases from recipes: a task seed and an index, or what a step records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from checker.core.case import Case
from checker.core.digests import case_id, digest
from checker.core.errors import CheckerError
from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import Label, Location, Operation
from checker.core.phases import CaseSource, Phase
from checker.core.sequence import Choice, Drawn, Listed, Literal, Recipe, Step
from checker.generation.hooks import ComponentHooks
from checker.generation.meaning.store import FormStore
from checker.generation.program import (
    GenerationSettings,
    OperationProgram,
    ValuePool,
    compile_operation,
)
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.replay import ReplaySource
from checker.generation.sources.simplest import SimplestSource
from checker.phases.listing import CaseLists, Lister, ListingContext, lister_of
from checker.phases.literals import literal_case, literal_of
from checker.phases.novelty import ATTEMPTS, Exhausted, Novelty
from checker.phases.places import without

_APART = 1 << 40
"""Between seeds of one index; no task has so many."""
PoolView = Callable[[Operation], ValuePool]
"""Values of earlier responses as one operation may use them."""


CaseMaker = Callable[[Label, int, int, PhaseInfo], "Made"]
"""Makes a case of (operation, seed of the task, index, phase)."""


class FilteredOut(CheckerError):
    """A hook of the user does not want this case."""


class OutOfDate(CheckerError):
    """A recipe does not make what it made once: the description, or the settings, are others now."""


@dataclass(slots=True)
class Made:
    """A case with the recipe that makes it again. Not frozen: one is made for each request, and that takes a microsecond."""

    case: Case
    label: Label
    choices: Sequence[Choice]
    """Empty for what was not drawn."""
    bindings: tuple[Binding, ...]
    other: Listed | Literal | None = None
    """The recipe of what was not drawn."""

    @property
    def recipe(self) -> Recipe:
        """What makes the case again."""
        return self.other or Drawn(tuple(self.choices))

    @property
    def step(self) -> Step:
        """The recipe with all that belongs to it, for keeps."""
        return Step(self.label, self.recipe, self.bindings)


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


@dataclass
class CaseFactory:
    """Compiles operations when they are first asked for, and makes their cases."""

    operations: Mapping[Label, Operation]
    settings: GenerationSettings
    hooks: Callable[[Operation], ComponentHooks]
    pools: PoolView | None
    """None when nothing is reused."""
    compiled: Callable[[OperationProgram], None] = lambda program: None
    """Told of each program."""
    lister: Callable[[str], Lister] = lister_of
    """What lists the cases of a phase, by its name."""
    _programs: dict[Label, OperationProgram] = field(default_factory=dict)
    _store: FormStore = field(default_factory=FormStore)
    _lists: CaseLists = field(init=False)
    _novelty: Novelty | None = field(init=False)
    _random: RandomSource = field(default_factory=lambda: RandomSource(0))

    def __post_init__(self) -> None:
        self._lists = CaseLists(ListingContext(self.settings, self._store), self.lister)
        self._novelty = Novelty() if self.settings.unique_inputs else None

    def program(self, label: Label) -> OperationProgram:
        """The draw program of an operation. Raises `Unsatisfiable`, `BudgetSpent`, `HookError`."""
        program = self._programs.get(label)
        if program is None:
            operation = self.operations[label]
            program = compile_operation(
                operation, self.settings, hooks=self.hooks(operation), store=self._store
            )
            self._programs[label] = program
            self.compiled(program)
        return program

    def make(
        self, label: Label, task_seed: int, index: int, phase: PhaseInfo, *, newest: bool = False
    ) -> Made:
        """Case `index` of a task: the same for ever, whoever makes it. `newest` prefers the latest values."""
        program = self._programs.get(label) or self.program(label)
        source = self._random
        source.reset(task_seed + index)
        pool = None if self.pools is None else self.pools(program.operation)
        if newest and pool is not None:
            pool = _Newest(pool)
        case = program.draw(source, case_id(task_seed, index), phase, pool)
        bindings = case.meta.bindings if case.meta is not None else ()
        return Made(case, label, source.choices, bindings)

    def maker(self, phase: Phase) -> CaseMaker:
        """What makes the cases of a phase. It raises `Exhausted` when there are no more."""
        if phase.source is CaseSource.LISTED:
            return self.listed
        return self.make if self._novelty is None else self.make_new

    def make_new(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> Made:
        """The same, but where inputs have to be unique the first one that was not made before. Raises `Exhausted`."""
        novelty = self._novelty
        for attempt in range(ATTEMPTS):
            made = self.make(label, task_seed + attempt * _APART, index, phase)
            made.case.id = case_id(task_seed, index)
            if novelty is None or novelty.is_new(label, made.case):
                return made
        raise Exhausted(label)

    def listed(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> Made:
        """Case `index` of those that the phase lists for an operation.

        Raises `Exhausted` beyond the last one, and `FilteredOut` for what is not to be sent, or not once more.
        """
        made = self._of_list(label, phase.name, index, case_id(task_seed, index))
        if made is None:
            raise Exhausted(label)
        if self._novelty is not None and not self._novelty.is_new(label, made.case):
            raise FilteredOut(f"{label}: case {index} was sent before")
        return made

    def remake(self, step: Step, *, name: str, phase: PhaseInfo) -> Made:
        """The case that a step records, under a new id. Raises `OutOfDate`, and whatever making a case does."""
        return self.redraw(step, name=name, phase=phase)(ReplaySource(choices_of(step)))

    def redraw(self, step: Step, *, name: str, phase: PhaseInfo) -> Callable[[Source], Made]:
        """What makes cases like the recorded one, with the values that it took; drawn ones from any source."""
        match step.recipe:
            case Drawn():
                return self._drawn_again(step, name, phase)
            case Listed() as listed:
                return lambda source: self._listed_again(step.label, listed, name)
            case Literal() as literal:
                return lambda source: self._literal_again(step.label, literal, name, phase)

    def simplest(self, step: Step, *, name: str, phase: PhaseInfo) -> Made:
        """The plainest case of the phase for the operation of a step."""
        match step.recipe:
            case Listed(phase=listed):
                made = self._of_list(step.label, listed, 0, name)
                if made is None:
                    raise OutOfDate(f"{step.label}: nothing is listed any more")
                return made
            case _:
                plain = Step(step.label, Drawn(()))
                return self._drawn_again(plain, name, phase)(SimplestSource())

    def _drawn_again(self, step: Step, name: str, phase: PhaseInfo) -> Callable[[Source], Made]:
        program = self.program(step.label)
        pool = BoundPool.of(step.bindings) if step.bindings else None

        def drawn(source: Source) -> Made:
            case = program.draw(source, case_id=name, phase=phase, pool=pool)
            return Made(case, step.label, source.choices, step.bindings)

        return drawn

    def _listed_again(self, label: Label, recipe: Listed, name: str) -> Made:
        made = self._of_list(label, recipe.phase, recipe.number, name)
        if made is None or made.other != replace(recipe, without=()):
            raise OutOfDate(
                f"{label}: case {recipe.number} of the {recipe.phase} phase is another one now"
            )
        return Made(without(made.case, recipe.without), label, (), (), recipe)

    def _literal_again(self, label: Label, recipe: Literal, name: str, phase: PhaseInfo) -> Made:
        case = literal_case(self.operations[label], recipe, name, phase.name)
        return Made(case, label, (), (), recipe)

    def _of_list(self, label: Label, phase: str, number: int, name: str) -> Made | None:
        operation = self.operations[label]
        try:
            found = self._lists.at(phase, operation, number)
        except LookupError:
            raise OutOfDate(f"{label}: nothing lists cases for the phase {phase!r}") from None
        if found is None:
            return None
        recipe: Listed | Literal
        if isinstance(found, Case):
            recipe = literal_of(found)
            listed = literal_case(operation, recipe, name, phase)
        else:
            recipe = Listed(phase, number, digest(repr(found.key)))
            listed = found.case(operation, name)
        case = self.hooks(operation).finished(listed)
        if case is None:
            raise FilteredOut(f"{label}: the hook filter_case does not want case {number}")
        return Made(case, label, (), (), recipe)


def choices_of(step: Step) -> tuple[Choice, ...]:
    """What a drawn step asks its source for; nothing for all others."""
    return step.recipe.choices if isinstance(step.recipe, Drawn) else ()
