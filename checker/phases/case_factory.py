"""Cases from recipes: a task seed and an index, or the recipe of a recorded step."""

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.overrides import NO_OVERRIDES, Overrides
from checker.core.case import Case
from checker.core.constraints import RELATIONS, SAME, Constraint, is_broken, read, values_at, written
from checker.core.digests import case_id, digest
from checker.core.errors import CheckerError, HookError, UnresolvableBody
from checker.core.hooks import HookContext, HookRegistry, HookSource
from checker.core.meta import (
    Binding,
    Choice,
    Drawn,
    GenerationMode,
    Listed,
    Literal,
    PhaseInfo,
    Recipe,
    Step,
    ValuePool,
)
from checker.core.operation import Label, Operation, Place
from checker.core.phases import COVERAGE, MOST_LISTED, CaseSource, Phase
from checker.core.request import Location
from checker.core.resource_names import ends_with_variable, resource_of, variables_of
from checker.core.resources import REMOVING, SAFE, named_values, place_of
from checker.core.scenarios import Scenario
from checker.core.schema import SchemaWarning, pointer_child, unescaped
from checker.generation.boundaries.cases import BoundaryCase
from checker.generation.boundaries.values import likeness
from checker.generation.hooks import ComponentHooks
from checker.generation.relations import Relations, relations_of
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Rejected, Shared
from checker.generation.sources.replay import ReplaySource, SimplestSource
from checker.health import may_change_caller
from checker.kinds.protocol import ApiOperation
from checker.phases.bindings import (
    BoundPool,
    NewestFirst,
    has_ordinary_name,
    put_back,
    renew,
    set_into,
    take_names,
    take_references,
)
from checker.phases.case_parts import Names, literal_case, literal_of, with_names, without
from checker.phases.listing import SMALLEST, CaseLists, ListedCase, Lister, ListingContext, lister_of, topic_of

if TYPE_CHECKING:
    # The compiler imports the writer of requests, which collecting tests does without.
    from checker.generation.program import OperationProgram

ATTEMPTS = 30  # Cases that are drawn for one index before an operation counts as exhausted.
_MOST = 1_000_000  # Inputs of one operation that are remembered, about 32 MiB; beyond it all are forgotten.


class Exhausted(CheckerError):
    """An operation has no new cases. This ends its task and is not an error."""

    def __init__(self, label: Label) -> None:
        super().__init__(f"{label} has no more inputs that were not sent before")


def key_of(case: Case) -> bytes:
    """Return a key that is equal for cases with the same request."""
    return blake2b(likeness(case).encode("utf-8", "surrogatepass"), digest_size=12).digest()


class Novelty:
    """The inputs that this worker has already generated, for `generation.unique-inputs`."""

    def __init__(self) -> None:
        self._seen: dict[Label, dict[bytes, int]] = defaultdict(dict)
        """Operation -> key of a request -> hash of the place that made it first."""

    def is_new(self, case: Case, *place: Hashable) -> bool:
        """Whether no other place (phase, seed of the task, index) has made the request. A place may make its own case again."""
        seen = self._seen[case.operation.label]
        if len(seen) >= _MOST:
            seen.clear()
        here = hash(place)
        return seen.setdefault(key_of(case), here) == here


# When half of the first steps were wrong, as half of single cases are, 4,745 valid steps got a 2xx on the planted
# services; with this share it was 8,478.
WRONG_STEPS: Final = 0.1
"""Share of the steps of sequences with wrong data, where both modes are tested: few operations can follow a refused request."""


class GenerationRules(Struct, frozen=True):
    """The generation rules of each operation."""

    of: Callable[[Operation, str], GenerationSettings]
    """Return the settings of an operation in a phase; called when its first case is made there."""
    by_phase: bool = False  # Whether they differ from phase to phase.
    some_unique: bool = False  # Whether any operation has `unique_inputs`.
    overrides: Overrides = NO_OVERRIDES
    """The overrides of all settings. The overrides are kept, because making the settings of an operation is slow."""

    def unforced(self, operation: Operation, bindings: tuple[Binding, ...]) -> tuple[Binding, ...]:
        """Return the values of earlier responses at places without a forced value."""
        if not self.overrides.parameters:
            return bindings
        own = self.overrides.of(operation)
        return tuple(one for one in bindings if not own.is_forced(one.location, one.name))

    @classmethod
    def alike(cls, settings: GenerationSettings) -> "GenerationRules":
        """Return rules that give all operations these settings."""
        return cls(lambda operation, phase: settings, some_unique=settings.unique_inputs, overrides=settings.overrides)


# Python finds a member of an enumeration ten times slower than a name.
_NEGATIVE: Final = GenerationMode.NEGATIVE
BUDGET_BYTES: Final = 64 << 20
"""Room for nearly all programs of large descriptions: 24 to 79 MiB in eight of 134 to 1,049 operations, 48 cases each.

`RunSettings.memory_growth_mib` has room for these programs and all other caches. A worker that grows beyond that is
replaced, and its successor compiles everything again.
"""
LEAST: Final = 8
"""Number of programs that are always kept: this many operations take turns case by case (`supervisor/fuzz_plan.py`). If their programs did not fit, each case would compile its operation again.
"""
_COUNTED_IN: Final = 8  # Once in this many uses, the size of the program is measured again.
_FIRST_BLOCK: Final = 24
"""Length of the first block. Half of its cases are valid, and half of these have a given optional part: enough to see whether the part is refused."""


def block_start(index: int) -> int:
    """Return the first index of the block of a drawn case: 0, 24, 48, 96, 192, ..."""
    # A block begins when all earlier cases are judged, so what it respects does not depend on the number of lanes.
    blocks = index // _FIRST_BLOCK
    return _FIRST_BLOCK << (blocks.bit_length() - 1) if blocks else 0


Key = tuple[Label, str, str]  # Operation, phase (if programs differ by phase), and learned demands of the target.


class ProgramCache(Struct):
    """The programs that were used last. A dropped program is compiled again when it is needed."""

    budget_bytes: int = BUDGET_BYTES
    held_bytes: int = 0  # Bytes of all kept programs when they were last counted.
    _kept: OrderedDict[Key, "OperationProgram"] = field(default_factory=OrderedDict)  # The least recently used first.
    _counted: dict[Key, int] = field(default_factory=dict)  # Bytes of each program in `held_bytes`.
    _met: set[Key] = field(default_factory=set)
    _uses: int = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> "OperationProgram | None":
        """Return a kept program; called for each case."""
        program = self._kept.get(key)
        if program is not None:
            self._kept.move_to_end(key)
            # Programs grow: draws of wrong data are compiled when they are first chosen.
            self._uses += 1
            if self._uses % _COUNTED_IN == 0 and program.size_bytes != self._counted[key]:
                self._count(key, program)
        return program

    def keep(self, key: Key, program: "OperationProgram") -> bool:
        """Keep a compiled program, and return whether it was compiled for the first time."""
        self._kept[key] = program
        self._count(key, program)
        is_new = key not in self._met
        self._met.add(key)
        return is_new

    def _count(self, key: Key, program: "OperationProgram") -> None:
        """Count the bytes of the program that was used last, and drop others while there are too many."""
        size_bytes = program.size_bytes
        self.held_bytes += size_bytes - self._counted.get(key, 0)
        self._counted[key] = size_bytes
        while self.held_bytes > self.budget_bytes and len(self._kept) > LEAST:
            oldest, _ = self._kept.popitem(last=False)
            self.held_bytes -= self._counted.pop(oldest)


_APART = 1 << 40
"""Distance between the seeds of one index, more than the cases of a task. Case ids hold 40 bits of a seed, so all these seeds give the same id."""
_STEP_BITS = 6  # Bits of a number for the step: no sequence has more than 64.
_STEPS = 1 << 50  # First number of later steps; first steps have the numbers of their sequences.
_MODE_ATTEMPTS = 8
_MOST_ADAPTING = 16  # Lists whose order is kept: a worker may have as many tasks as lanes.
# A list changes one thing in such a case. If the case itself is refused for another reason, so are its variations.
_BASES = 3  # Cases with which a list begins: the smallest one, the usual one, and the body in its usual form.
_SAMPLES = 6  # Cases that a program must draw before it replaces another.


class KnownValues(ValuePool, Protocol):
    """Values of earlier responses as one operation may use them."""

    def was_shown(self, place: Place, value: object) -> bool:
        """Whether an earlier layer of the run showed a value for a place, so that other tasks use it. False where there are no layers."""
        ...


PoolView = Callable[[Operation, Sequence[Binding], Sequence[Constraint]], KnownValues]
"""(operation, values that every case takes, demands on the path) -> values of earlier responses for the operation."""


class UserValues(Protocol):
    """The values that users register for cases."""

    def pool(self, operation: Operation, usual: ValuePool | None) -> ValuePool | None:
        """Return the values for cases of an operation, given those of earlier responses."""
        ...


class ReusedValues(Struct):
    """The values that cases take in place of generated ones."""

    view: PoolView
    phases: Collection[str]  # Phases that take values of earlier responses.
    users: UserValues | None = None
    _of_paths: dict[str, tuple[Constraint, ...]] = field(default_factory=dict)  # Text of demands -> those on paths.

    def of(self, operation: Operation, phase: str, learned: str, given: Sequence[Binding] = ()) -> ValuePool | None:
        """Return the values for cases of a phase that respect demands of the target. `given`: values that every case takes."""
        usual = None
        if phase in self.phases:
            if learned not in self._of_paths:
                self._of_paths[learned] = tuple(one for one in read(learned) if one.location == Location.PATH)
            usual = self.view(operation, given, self._of_paths[learned])
        return usual if self.users is None else self.users.pool(operation, usual)


class DescriptionReader:
    """Receives what is found in a description while cases are made, and ignores it. Workers record it (`workers/starting/announcing.py`)."""

    def met(self, operation: Operation) -> None:
        """Take note of an operation before its first case is made."""

    def compiled(self, program: "OperationProgram") -> None:
        """Take note of a program, once for each."""

    def warned(self, warning: SchemaWarning) -> None:
        """Take note of a fault of the description that is found while cases are listed."""


CaseMaker = Callable[[Label, int, int, PhaseInfo], "GeneratedCase"]
"""Returns the case of (operation, seed of the task, index, phase)."""


LateCases = tuple[int, str]
"""Index of the first case of a list that a later phase sends, and that phase.

From this case on, the list respects the demands that are known in that phase.
"""
ON_TIME: Final[LateCases] = (MOST_LISTED, "")


class FilteredOut(CheckerError):
    """This case is left out: a hook refused it, it was sent before, or the run ends before its credentials arrive."""


class OutOfDate(CheckerError):
    """A recipe makes another case than before: the description or the settings have changed."""


class GeneratedCase(Struct):
    """A case with its recipe. Not frozen, because one is made for each request and freezing costs a microsecond."""

    case: Case
    label: Label
    choices: Sequence[Choice]  # Empty for a case that was not drawn.
    bindings: tuple[Binding, ...]
    other: Listed | Literal | None = None  # The recipe of a case that was not drawn.
    learned: str = ""  # Demands of the target that the case respects.
    names: Names = ()  # Values that replace those of the recipe.

    @property
    def recipe(self) -> Recipe:
        """Return the recipe that makes the case again."""
        return self.other or Drawn(tuple(self.choices), self.learned)

    @property
    def step(self) -> Step:
        """Return the recipe with its values, for the corpus."""
        return Step(self.label, self.recipe, self.bindings, self.names)


class Learner:
    """Knows no demands of the target. Workers have a subclass that learns them from refusals (`workers/observers/demands.py`)."""

    def wanted(self, label: Label, phase: str, index: int = 0) -> Sequence[Constraint]:
        """Return the known demands on an operation in a phase: the same object until they change.

        With an index, demands from earlier cases of the same list are included.
        """
        return ()

    def is_left_out(self, made: GeneratedCase, phase: str, index: int, judged: int, source: CaseSource) -> bool:
        """Whether valid case `index` of a phase is not worth sending, given that the cases below the index `judged` are judged."""
        return False


@dataclasses.dataclass
class CaseFactory:
    """Compiles each operation when its first case is made, and makes cases."""

    operations: Mapping[Label, ApiOperation]
    rules: GenerationRules
    values: ReusedValues | None = None  # None if cases take generated values alone.
    hooks: HookSource = dataclasses.field(default_factory=HookRegistry)
    _hooks: dict[Label, ComponentHooks] = dataclasses.field(default_factory=dict)
    """The hooks of operations, which are needed for each case of a list."""
    reader: DescriptionReader = dataclasses.field(default_factory=DescriptionReader)
    is_first_of_path: Callable[[Label], bool] = lambda label: True
    """Whether no operation of the same path that is tested stands before it."""
    lister: Callable[[str], Lister] = lister_of  # Return the lister of a phase.
    _programs: ProgramCache = dataclasses.field(default_factory=ProgramCache)
    learner: Learner = dataclasses.field(default_factory=Learner)
    _learned: dict[Label, tuple[Sequence[Constraint], str]] = dataclasses.field(default_factory=dict)
    """Operation -> demands, and the text of those that its description admits."""
    _usable: dict[tuple[Label, str], str] = dataclasses.field(default_factory=dict)
    """(operation, demands) -> the demands that the description of the operation admits."""
    _unique: set[tuple[Label, str]] = dataclasses.field(default_factory=set)
    """(operation, phase) pairs with unique inputs."""
    _lists: CaseLists = dataclasses.field(init=False)
    _adapting: "dict[tuple[Label, str, LateCases], _AdaptingList]" = dataclasses.field(default_factory=dict)
    _met: set[Label] = dataclasses.field(default_factory=set)
    _novelty: Novelty = dataclasses.field(default_factory=Novelty)
    _related: dict[tuple[Label, str], Relations | None] = dataclasses.field(default_factory=dict)
    """The relations of operations for which lists were made."""
    _random: RandomSource = dataclasses.field(default_factory=lambda: RandomSource(0))
    _shared: Shared = dataclasses.field(default_factory=Shared)

    def __post_init__(self) -> None:
        self._lists = CaseLists(self._listing_context, self.lister, by_phase=self.rules.by_phase)

    def learned(self, label: Label, phase: str, index: int = 0) -> str:
        """Return the text of the demands that cases respect. Demands under which the description admits no case are ignored."""
        constraints = self.learner.wanted(label, phase, index)
        known, usable = self._learned.get(label, ((), ""))
        if known is constraints or not constraints:
            return usable if constraints else ""
        key = label, written(constraints)
        if key not in self._usable:
            found = list(constraints)
            if not self._draws(label, written(found), phase):
                # Demands are tried one by one only if all together admit nothing, because each trial compiles a
                # program. Those that were learned first are kept.
                found.clear()
                for one in constraints:
                    if self._draws(label, written((*found, one)), phase):
                        found.append(one)
            self._usable[key] = written(found)
        usable = self._usable[key]
        self._learned[label] = constraints, usable
        return usable

    def _draws(self, label: Label, learned: str, phase: str) -> bool:
        """Whether a program that respects these demands draws valid cases."""
        try:
            program = self.program(label, phase, learned)
            for seed in range(_SAMPLES):
                program.draw(RandomSource(seed), "", PhaseInfo(phase))
        except (CheckerError, Rejected):
            return False
        return program.fault is None

    def _hooks_of(self, operation: Operation) -> ComponentHooks:
        known = self._hooks.get(operation.label)
        if known is None:
            known = self._hooks[operation.label] = ComponentHooks.from_registry(self.hooks, HookContext(operation))
        return known

    def program(self, label: Label, phase: str, learned: str | None = None) -> "OperationProgram":
        """Return the draw program of an operation in a phase; with the known demands of its target by default.

        Raises `Unsatisfiable`, `BudgetSpent`, `HookError`.
        """
        learned = self.learned(label, phase) if learned is None else learned
        place = (label, phase if self.rules.by_phase else "", learned)
        program = self._programs.get(place)
        if program is None:
            operation = self.operations[label]
            self._meet(operation)
            settings = replace(self.rules.of(operation, phase), learned=read(learned), shared=self._shared)
            program = operation.compile(settings, hooks=self._hooks_of(operation))
            is_new = self._programs.keep(place, program)
            if settings.unique_inputs:
                self._unique.add(place[:2])
            if is_new and not learned:
                self.reader.compiled(program)
        return program

    def make(
        self, label: Label, task_seed: int, index: int, phase: PhaseInfo, *, newest: bool = False, after: int = 0
    ) -> GeneratedCase:
        """Return case `index` of a task: the same in every worker. `newest` prefers the latest values.

        The case respects demands that were learned in earlier phases, or from cases of the task below the index `after`.
        """
        learned = self.learned(label, phase.name, after)
        program = self.program(label, phase.name, learned)
        return self._drawn(program, learned, (task_seed, index), phase, newest=newest)

    def _drawn(
        self,
        program: "OperationProgram",
        learned: str,
        place: tuple[int, int],
        phase: PhaseInfo,
        given: Sequence[Binding] = (),
        *,
        newest: bool = False,
    ) -> GeneratedCase:
        """Return the case that a program draws for (seed of the task, index). `given`: values that are set into it later."""
        if isinstance(program.fault, UnresolvableBody):
            # If the schema of the body cannot be resolved, the coverage phase lists the requests without a body.
            raise program.fault
        operation, source = program.operation, self._random
        pool = None if self.values is None else self.values.of(operation, phase.name, learned, given)
        if newest and pool is not None:
            pool = NewestFirst(pool)
        source.reset(sum(place))
        case = program.draw(source, case_id(*place), phase, pool)
        bindings = case.meta.bindings if case.meta is not None else ()
        return GeneratedCase(case, operation.label, source.choices, bindings, learned=learned)

    def make_step(
        self,
        label: Label,
        place: tuple[int, int, int],
        phase: PhaseInfo,
        bindings: tuple[Binding, ...],
        *,
        is_wrong: bool,
    ) -> GeneratedCase:
        """Return a later step of a sequence: a new case with values of earlier responses.

        `place` is (seed of the task, number of the sequence, number of the step). `is_wrong` requests wrong data if the
        operation is tested with both modes.
        """
        seed, index, step = place
        number = _STEPS + (index << _STEP_BITS) + step
        bindings = self.rules.unforced(self.operations[label], bindings)
        made = self._in_mode(label, (seed, number), phase, bindings, is_wrong=is_wrong)
        # Some members of the body repeat values of the path, because the target demands this, or because the
        # description suggests it and the drawn case does so.
        found: list[Binding] = []
        relations = self.program(made.label, phase.name, made.learned).relations
        if relations is not None:
            for one in (*relations.demanded, *relations.suggested):
                if one.keyword != SAME or (one not in relations.demanded and is_broken(one, made.case)):
                    continue
                present = list(values_at(made.case.body, one.path))
                for binding in bindings:
                    is_of_path = (binding.location, binding.name) == (Location.PATH, one.given)
                    # A text does not fit a numeric member, nor a number a text member.
                    if is_of_path and present and isinstance(present[0], str) is isinstance(binding.literal, str):
                        found.append(replace(binding, location=Location.BODY, name=pointer_child("", *one.path)))
        repeated = self.rules.unforced(made.case.operation, tuple(found))
        taken = set_into(made.case, (*bindings, *repeated))
        made.bindings = (*made.bindings, *taken)
        return made

    def make_first(self, label: Label, seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return the first step of sequence `index`, with wrong data as rarely as later steps."""
        is_wrong = Random(seed + index).random() < WRONG_STEPS
        return self._in_mode(label, (seed, index), phase, (), is_wrong=is_wrong)

    def _in_mode(
        self, label: Label, place: tuple[int, int], phase: PhaseInfo, bindings: Sequence[Binding], *, is_wrong: bool
    ) -> GeneratedCase:
        """Return a case of (seed, number) in the wanted mode, if one of a few attempts yields it."""
        seed, number = place
        last = number + (_MODE_ATTEMPTS - 1) * _APART
        learned = self.learned(label, phase.name)
        program = self.program(label, phase.name, learned)
        for attempt in range(number, last + 1, _APART):
            # Drawing a case takes a hundred times as long as finding out its mode beforehand.
            if attempt < last:
                self._random.reset(seed + attempt)
                ahead = program.mode_ahead(self._random)
                if ahead is not None and (ahead is _NEGATIVE) is not is_wrong:
                    continue
            made = self._drawn(program, learned, (seed, attempt), phase, bindings)
            meta = made.case.meta
            if meta is None or (meta.mode is _NEGATIVE) is is_wrong:
                break
        return made

    def maker(self, phase: Phase) -> CaseMaker:
        """Return the maker of the cases of a phase.

        The maker raises `Exhausted` when there are no more cases, and `FilteredOut` for a case that is left out.
        """
        source = phase.source
        makers: dict[CaseSource, CaseMaker]
        makers = {CaseSource.LISTED: self.listed, CaseSource.DRAWN: self.drawn, CaseSource.CHAINED: self.make_first}
        make = makers.get(source, self.make)

        def made(label: Label, task_seed: int, index: int, info: PhaseInfo) -> GeneratedCase:
            found = make(label, task_seed, index, info)
            # Cases of the task below this index are judged.
            judged = index if source is CaseSource.LISTED else block_start(index) if source is CaseSource.DRAWN else 0
            return self.worthwhile(found, index, info, judged, source)

        return partial(self._made_new, made) if self.rules.some_unique and make != self.listed else made

    def worthwhile(
        self, made: GeneratedCase, index: int, phase: PhaseInfo, judged: int, source: CaseSource
    ) -> GeneratedCase:
        """Return case `index` of a task whose cases below `judged` are judged. Raises `FilteredOut` for a case that is left out."""
        meta, other = made.case.meta, made.other
        is_wrong = meta is not None and meta.mode is _NEGATIVE
        # Authors and users choose examples, and one of them may show a behaviour that no other case shows.
        is_chosen = isinstance(other, Literal) or (isinstance(other, Listed) and other.phase != COVERAGE)
        if not (is_wrong or is_chosen) and may_remove_caller(made.case):
            raise FilteredOut(f"{made.label}: case {index} may remove the account of the run")
        if not (is_wrong or is_chosen) and self.learner.is_left_out(made, phase.name, index, judged, source):
            listing = self._adapting.get((made.label, phase.name, ON_TIME))
            # A new topic may be the first that the target accepts.
            if listing is not None and listing.begins_topic(index):
                return made
            raise FilteredOut(
                f"{made.label}: valid cases are refused again and again, so that case {index} is left out"
            )
        return made

    def drawn(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return case `index` of a task. It respects the demands that were learned in earlier blocks."""
        return self.make(label, task_seed, index, phase, after=block_start(index))

    def _made_new(self, make: CaseMaker, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return case `index`, or with unique inputs the first new case. Raises `Exhausted`."""
        place = (label, phase.name if self.rules.by_phase else "")
        for attempt in range(ATTEMPTS):
            made = make(label, task_seed + attempt * _APART, index, phase)
            if place not in self._unique or self._novelty.is_new(made.case, phase.name, task_seed, index):
                return made
        raise Exhausted(label)

    def listed(
        self, label: Label, task_seed: int, index: int, phase: PhaseInfo, *, of: str = "", late: LateCases = ON_TIME
    ) -> GeneratedCase:
        """Return case `index` of the list of the phase, or of another one (`of`); `late`: the cases that a later phase sends.

        Raises `Exhausted` beyond the last case, and `FilteredOut` for a case that hooks refuse or that was sent before.
        """
        place = (self.learned(label, phase.name), index) if of else self._listing(label, phase.name, late).at(index)
        if place is None:
            raise Exhausted(label)
        learned, number = place
        operation, name = self.operations[label], case_id(task_seed, index)
        pool = None if self.values is None else self.values.of(operation, phase.name, learned)
        wanted = Listed(of or phase.name, number, "", token=name if index else "", learned=learned)
        made = self._of_list(label, wanted, name, pool)
        if made is None:
            raise Exhausted(label)
        rules = self.rules
        is_unique = rules.some_unique and rules.of(made.case.operation, phase.name).unique_inputs
        if is_unique and not self._novelty.is_new(made.case, of or phase.name, task_seed, index):
            raise FilteredOut(f"{label}: case {index} was sent before")
        return made

    def _listing(self, label: Label, phase: str, late: LateCases) -> "_AdaptingList":
        """Return the list of an operation. The lists that were read last are kept; others are read again."""
        key = label, phase, late
        found = self._adapting.pop(key, None) or _AdaptingList(self, *key)
        self._adapting[key] = found
        if len(self._adapting) > _MOST_ADAPTING:
            del self._adapting[next(iter(self._adapting))]
        return found

    def listed_from(self, label: Label, phase: str, late: LateCases) -> Iterator[tuple[int, Hashable]]:
        """Yield (index, topic) of the cases that a phase lists for an operation and a later one sends."""
        first, _ = late
        with suppress(CheckerError):
            listing = self._listing(label, phase, late)
            while (place := listing.at(first)) is not None:
                learned, number = place
                yield first, topic_of(self.listed_at(label, phase, number, learned))
                first += 1

    def has_smallest(self, label: Label, phase: str) -> bool:
        with suppress(CheckerError, LookupError):
            learned = self.learned(label, phase)
            return self.listed_at(label, phase + SMALLEST, 0, learned) is not None
        return False

    def listed_at(self, label: Label, phase: str, number: int, learned: str) -> ListedCase | Case | None:
        """Return a case of a list; None beyond its end."""
        return self._lists.at(phase, self.operations[label], number, learned)

    def _meet(self, operation: Operation) -> None:
        if operation.label not in self._met:
            self._met.add(operation.label)
            self.reader.met(operation)

    def _listing_context(self, operation: Operation, phase: str, learned: str) -> ListingContext:
        self._meet(operation)
        settings = replace(self.rules.of(operation, phase), learned=read(learned))
        first = self.is_first_of_path(operation.label)
        return ListingContext(settings, self._hooks_of(operation), self.reader.warned, first)

    def remake(self, step: Step, *, name: str, phase: PhaseInfo) -> GeneratedCase:
        """Return the recorded case of a step under a new id. Raises `OutOfDate` and the errors of making a case."""
        return self.redraw(step, name=name, phase=phase)(ReplaySource(step.choices))

    def redraw(self, step: Step, *, name: str, phase: PhaseInfo) -> Callable[[Source], GeneratedCase]:
        """Return a maker of cases like the recorded one, with the values that it took. Drawn cases take their choices from the source."""
        draw = self._drawn_again(step, name, phase) if isinstance(step.recipe, Drawn) else None

        def made_again(source: Source) -> GeneratedCase:
            match step.recipe:
                case Listed() as listed:
                    made = self._listed_again(step, listed, name)
                case Literal() as literal:
                    made = self._literal_again(step, literal, name, phase)
                case Drawn():
                    assert draw is not None
                    made = draw(source)
            return replace(made, case=with_names(made.case, step.names), names=step.names) if step.names else made

        return made_again

    def simplest(self, step: Step, *, name: str, phase: PhaseInfo, is_valid: bool = False) -> GeneratedCase:
        """Return the simplest case of the operation of a step; with `is_valid` one that is meant to be accepted.

        Raises `Rejected` and the errors of making a case.
        """
        recipe = step.recipe
        learned = recipe.learned if isinstance(recipe, Drawn) else self.learned(step.label, phase.name)
        draw = self._drawn_again(Step(step.label, Drawn((), learned)), name, phase)
        made = draw(SimplestSource())
        if is_valid and made.case.meta is not None and made.case.meta.mode.is_negative:
            # If a phase sends both modes, the first choice decides the mode, and its simplest value is a wrong case.
            made = draw(ReplaySource((True,), rest=SimplestSource()))
        return made

    def _drawn_again(self, step: Step, name: str, phase: PhaseInfo) -> Callable[[Source], GeneratedCase]:
        learned = step.recipe.learned if isinstance(step.recipe, Drawn) else ""
        program = self.program(step.label, phase.name, learned)
        pool = BoundPool.of(step.bindings) if step.bindings else None

        def drawn(source: Source) -> GeneratedCase:
            case = program.draw(source, case_id=name, phase=phase, pool=pool)
            if any(binding.expression for binding in step.bindings):
                set_into(case, step.bindings)
            return GeneratedCase(case, step.label, source.choices, step.bindings, learned=learned)

        return drawn

    def _listed_again(self, step: Step, recipe: Listed, name: str) -> GeneratedCase:
        label, pool = step.label, BoundPool.of(step.bindings) if step.bindings else None
        made = self._of_list(label, recipe, name, pool)
        # A recipe holds the digest of its request (`Listed.likeness`): after a change of the description, the same
        # number may be another case.
        if made is None or made.other != replace(recipe, without=()):
            raise OutOfDate(f"{label}: case {recipe.number} of the {recipe.phase} phase is a different case now")
        return GeneratedCase(without(made.case, recipe.without), label, (), made.bindings, recipe)

    def _literal_again(self, step: Step, recipe: Literal, name: str, phase: PhaseInfo) -> GeneratedCase:
        case = literal_case(self.operations[step.label], recipe, name, phase.name)
        return GeneratedCase(case, step.label, (), put_back(case, step.bindings), recipe)

    def _of_list(self, label: Label, wanted: Listed, name: str, pool: ValuePool | None) -> GeneratedCase | None:
        operation, phase, number = self.operations[label], wanted.phase, wanted.number
        try:
            found = self._lists.at(phase, operation, number, wanted.learned)
        except LookupError:
            raise OutOfDate(f"{label}: nothing lists cases for the phase {phase!r}") from None
        if found is None:
            return None
        recipe: Listed | Literal
        taken: tuple[Binding, ...] = ()
        if isinstance(found, Case):
            recipe = literal_of(found)
            listed = literal_case(operation, recipe, name, phase)
        else:
            listed = found.case(operation, name)
            # The path comes first, as in drawn cases, because values of the body belong to it. Both come before
            # `renew`, so that a body keeps the names of other resources.
            taken = *take_names(listed, pool, number), *take_references(listed, found, pool, number)
            # On Django Oscar, 44 cases of coverage had a path variable of 1, -1, '00' or '000', and all but the 1s that
            # exist by chance got 404.
            if has_ordinary_name(listed, pool):
                raise FilteredOut(f"{label}: case {number} invents a name although names are known")
            token = renew(listed, found, wanted.token)
            self._relate(listed, found, wanted.learned)
            recipe = Listed(phase, number, digest(repr(found.key)), token=token, learned=wanted.learned)
        case = self._hooks_of(operation).finished(listed)
        if case is None:
            raise FilteredOut(f"{label}: a hook rejected case {number}")
        return GeneratedCase(case, label, (), taken, recipe)

    def _relate(self, case: Case, listed: object, learned: str) -> None:
        """Let a valid case of a list respect the relations between values that the description suggests or the target demands."""
        if not isinstance(listed, BoundaryCase) or listed.mode.is_negative:
            return
        key = case.operation.label, learned
        if key not in self._related:
            with suppress(CheckerError):
                has_any = any(one.keyword in RELATIONS for one in read(learned)) or relations_of(case.operation)
                program = self.program(key[0], listed.phase, learned) if has_any else None
                self._related[key] = None if program is None else program.relations
        relations = self._related.setdefault(key, None)
        if relations is not None:
            # The value that a case tests stays unchanged.
            kept = listed.parameter
            if listed.location is Location.BODY:
                kept = unescaped((listed.pointer or "").rpartition("/properties/")[2].partition("/")[0])
            relations.repair(case, lambda count: 0, all_of_them=True, kept=kept)


@dataclasses.dataclass(slots=True)
class _AdaptingList:
    """The cases of one list, which begins again when a new demand of the target is learned, without the cases that were sent before.

    Indices are derived from the demands and from the indices of the cases that showed them, so all workers agree.
    """

    factory: CaseFactory
    label: Label
    phase: str
    late: LateCases
    _places: list[tuple[str, int]] = dataclasses.field(default_factory=list)
    """(demands, number in the list that respects them) of each index."""
    _topics: dict[Hashable, int] = dataclasses.field(default_factory=dict)  # Topic -> index of its first case.
    _sent: set[Hashable] = dataclasses.field(default_factory=set)
    _learned: str = ""
    _number: int = 0

    def at(self, index: int) -> tuple[str, int] | None:
        """Return the demands and the number of the case with an index; None beyond the end."""
        while len(self._places) <= index:
            count = len(self._places)
            first, later = self.late
            learned = self.factory.learned(self.label, *((self.phase, count) if count < first else (later, 0)))
            # If the description omits a rule, every case of a list may be refused. So the list begins again with the
            # new demand, without the cases that were sent.
            if learned != self._learned:
                # The cases that a later phase sends do not begin again. Otherwise they would begin again at each turn.
                self._learned, self._number = learned, 0 if count < first else self._number
            listed = self.factory.listed_at(self.label, self.phase, self._number, learned)
            if listed is None:
                return None
            # Equal for equal requests.
            key = (self._number, learned) if isinstance(listed, Case) else repr(listed.key)
            if key not in self._sent:
                self._sent.add(key)
                self._topics.setdefault(topic_of(listed), count)
                self._places.append((learned, self._number))
            self._number += 1
        return self._places[index]

    def begins_topic(self, index: int) -> bool:
        """Return True for the first case of a topic, and for the cases at the start of a list, because the other cases are changes of these."""
        return self._places[index][1] < _BASES or index in self._topics.values()


# The coverage phase removed `/admin/users/1` of Django Oscar, the account of the run, and every later request was refused.
_SEEDED: Final = 100
"""Integers below this one name the first members of a collection, which exist before a run."""


def may_remove_caller(case: Case) -> bool:
    """Whether a case removes a member of `/users` or the like by an invented number that may name the account of the run."""
    operation = case.operation
    if operation.resource_method != REMOVING or not ends_with_variable(operation.resource_path):
        return False
    variable = variables_of(operation.resource_path)[-1]
    place, text = place_of(operation, variable), f"{named_values(case).get(variable)}"
    bindings = () if case.meta is None else case.meta.bindings
    return (
        may_change_caller(REMOVING, resource_of(operation.resource_path))
        and text.isdecimal()
        and 0 < int(text) < _SEEDED
        and all((one.location, one.name) != place for one in bindings)
    )


def undescribed_method(case: Case) -> str | None:
    """Return the method if a case tests an undeclared one; None for other cases."""
    meta = case.meta
    scenario = None if meta is None else meta.phase.data.get("scenario")
    return case.other_method if scenario == Scenario.UNSPECIFIED_METHOD else None


def plainest_like(factory: CaseFactory, made: GeneratedCase, phase: PhaseInfo) -> GeneratedCase:
    """Return the simplest case of the operation of `made`, with the same undeclared method if it has one.

    It is valid unless something other than the method is wrong in `made`. Raises `Rejected` and the errors of making a case.
    """
    meta, method = made.case.meta, undescribed_method(made.case)
    is_valid = method is not None or (meta is not None and not meta.mode.is_negative)
    plain = factory.simplest(made.step, name="", phase=phase, is_valid=is_valid)
    if method is None:
        return plain
    told = literal_of(made.case)
    recipe = replace(literal_of(plain.case), mode=told.mode, data=told.data, method=method)
    return factory.remake(Step(made.label, recipe), name="", phase=phase)


@dataclasses.dataclass(slots=True)
class LeftOutFirst:
    """Makes the cases that lists skipped after a failure, then draws cases; at least half of the cases of the task are drawn."""

    # A list may end at its first failure: without these cases, a defect could hide behind another one.
    factory: CaseFactory
    draws: CaseMaker
    left_out: Sequence[tuple[str, int]]  # (phase, number of its first skipped case).
    most: int  # Cases of the task.
    _places: list[tuple[str, int, LateCases]] | None = dataclasses.field(default=None, init=False)

    def __call__(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return case `index` of the task: the same in every worker. Raises the errors of both makers."""
        if self._places is None:
            topics = {
                (listed, number, (first, phase.name)): topic
                for listed, first in self.left_out
                for number, topic in self.factory.listed_from(label, listed, (first, phase.name))
            }
            self._places, room = list(topics), self.most // 2
            if len(topics) > room:
                shuffled = Random(task_seed).sample(self._places, len(topics))
                # One case of each topic comes first. A random choice would rarely contain the single case without a
                # header among hundreds of values of a body.
                one_of_each = {topics[place]: place for place in shuffled}.values()
                kept = set(islice(dict.fromkeys((*one_of_each, *shuffled)), room))
                self._places = [place for place in topics if place in kept]
        if index >= len(self._places):
            return self.draws(label, task_seed, index, phase)
        listed, number, late = self._places[index]
        made = self.factory.listed(label, task_seed, number, PhaseInfo(listed), late=late)
        made.case.id = case_id(task_seed, index)
        return self.factory.worthwhile(made, index, phase, block_start(index), CaseSource.LISTED)


@dataclasses.dataclass(slots=True)
class SmallestFirst:
    """Makes the cases of the first task of one or more operations: the smallest case of each, then those of the phase.

    The list of the coverage phase begins with the smallest case. Other phases with lists get this case as an additional
    first case. In phases that draw, it replaces the first case.
    """

    factory: CaseFactory
    makes: CaseMaker
    later: int
    """Index of the first case of the phase: the number of added smallest cases, 0 if the smallest case replaces one."""
    count: int  # Operations of the task.

    def __call__(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return case `index` of the task. Raises the errors of both makers."""
        later = self.later
        if index >= self.count:
            made = self.makes(label, task_seed, index - later, phase)
        elif self.factory.has_smallest(label, phase.name):
            made = self.factory.listed(label, task_seed, 0, phase, of=phase.name + SMALLEST)
        elif later:
            raise FilteredOut(f"{label}: has no smallest case")
        else:
            return self.makes(label, task_seed, index, phase)
        if later or index < self.count:
            made.case.id = case_id(task_seed, index)
        return made


@dataclasses.dataclass(slots=True)
class RecalledFirst:
    """Makes the first steps of sequences of earlier runs, then the usual cases of a task."""

    factory: CaseFactory
    makes: CaseMaker
    recalled: Sequence[Sequence[Step]]
    first: int  # Index of the first recalled sequence.

    def __call__(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return case `index` of the task. Raises `FilteredOut` for a recipe that is no longer admitted, and errors of the maker."""
        number = index - self.first
        if number < 0:
            return self.makes(label, task_seed, index, phase)
        name = case_id(task_seed, index)
        if number < len(self.recalled):
            try:
                return self.factory.remake(self.recalled[number][0], name=name, phase=phase)
            except HookError:
                raise
            except (CheckerError, Rejected) as error:
                # If an operation has no cases at all, that is reported when its own cases are made.
                raise FilteredOut(
                    f"{label}: case {index} of an earlier run can no longer be generated: {error}"
                ) from error
        made = self.makes(label, task_seed, index - len(self.recalled), phase)
        made.case.id = name
        return made


_BLOCK: Final = 200
"""Number of cases of a task that are compared with one another. A worker that continues a task makes at most this many again."""


@dataclasses.dataclass(slots=True)
class EachOnce:
    """Makes drawn cases, without safe requests that an earlier case of the block has sent: their responses are known.

    A repeated case is replaced by another one if all its values are invented.
    """

    makes: CaseMaker
    _first: dict[bytes, int] = dataclasses.field(default_factory=dict, init=False)
    """Key of a safe request of the block -> index that made it first."""
    _block: range = dataclasses.field(default=range(0), init=False)  # Indices of the block.
    _next: int = dataclasses.field(default=0, init=False)  # First index of the block that is not made yet.

    def __call__(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return case `index` of the task: the same in every worker.

        Raises `FilteredOut` for a case that is skipped, `Exhausted` if there are no others, and the errors of the maker.
        """
        if index not in self._block:
            self._next = index - index % _BLOCK
            self._block = range(self._next, self._next + _BLOCK)
            self._first.clear()
        earlier, self._next = range(self._next, index), max(self._next, index + 1)
        for other in earlier:
            with suppress(CheckerError):
                self._new(label, task_seed, other, phase)
        return self._new(label, task_seed, index, phase)

    def _new(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        for attempt in range(ATTEMPTS):
            made = self.makes(label, task_seed + attempt * _APART, index, phase)
            if not is_safe(made.case) or self._first.setdefault(key_of(made.case), index) >= index:
                return made
            # Usually there is no other value of an earlier response, so another case would name no existing resource.
            if made.bindings or made.other is not None:
                raise FilteredOut(f"{label}: the request of case {index} was sent before")
        raise Exhausted(label)


def is_safe(case: Case) -> bool:
    """Whether the request of a case changes nothing."""
    return (case.other_method or case.operation.resource_method) in SAFE
