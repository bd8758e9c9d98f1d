"""Lays out how a worker makes cases: programs, hooks around them, sequences."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from checker.config.settings import RunSettings, SequenceSettings
from checker.core.digests import digest_int
from checker.core.hooks import COMPONENTS, HookContext, HookSource
from checker.core.operation import Label, Operation
from checker.core.phases import EXPLORATION
from checker.core.resources import ResourceModel, naming_places
from checker.corpus.inflight import Stage
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.settings import GenerationSettings
from checker.phases.case_factory import CaseFactory, GenerationRules, PoolView
from checker.phases.sequences import SequenceBuilder, SequenceExtender
from checker.workers.observers.knowledge import Knowledge
from checker.workers.recording.recorder import Recorder
from checker.workers.selected import SelectedOperations
from checker.workers.telling import tell_of_operation, tell_of_program, tell_of_warning
from checker.workers.users import ALL_SCHEMAS, UsersCode

_MAKING_VERBS = ("before_generate", "filter", "map", "flatmap")
_PARTS = (*COMPONENTS, "case")


class Makers(Struct, frozen=True):
    """The makers of cases of a worker."""

    factory: CaseFactory
    unhooked: CaseFactory | None
    """Makes cases as they are before `filter`, `map` and `flatmap` hooks see them; None when `before_generate` hooks
    decide what is drawn."""
    stage: Stage
    """`HOOK` where users' code may run while a case is made."""
    seed: int
    resources: ResourceModel

    def explorer(self, incarnation: int, chains: SequenceBuilder) -> SequenceExtender:
        """Makes sequences, by chance that no other incarnation has."""
        chance = Random(digest_int(str(self.seed), "explorer", str(incarnation)))
        return SequenceExtender(self.factory, self.resources, chance, chains)

    def chains(self, settings: SequenceSettings, host: str, is_secret: Callable[[object], bool]) -> SequenceBuilder:
        """Return a maker of sequences for the stateful phase, the same in every worker; `host` is that of the API."""
        return SequenceBuilder(self.factory, self.resources, settings, host, is_secret)


def open_makers(
    settings: RunSettings,
    selected: SelectedOperations,
    rules: GenerationRules,
    recorder: Recorder,
    knowledge: Knowledge,
    users: UsersCode = ALL_SCHEMAS,
) -> Makers:
    """Makers of cases of the selected operations; what is found while programs are compiled goes to the recorder."""
    rules = _naming(rules, naming_places(selected.resources))
    make = partial(
        _factory, rules, selected, recorder, knowledge, (settings.phases[0], settings.sources.reusing_phases)
    )
    decides = _has_making_hooks(users.hooks, ("before_generate",))
    factory = make(_component_hooks(users.hooks))
    factory.values = users.pool
    if knowledge.demands is not None:
        factory.demands = knowledge.demands.wanted
    return Makers(
        factory=factory,
        unhooked=None if decides else make(_no_hooks),
        stage=Stage.HOOK if _has_making_hooks(users.hooks) or users.hooks.named("before_add_examples") else Stage.MAKE,
        seed=settings.seed,
        resources=selected.resources,
    )


def _factory(
    rules: GenerationRules,
    selected: SelectedOperations,
    recorder: Recorder,
    knowledge: Knowledge,
    phases: tuple[str, tuple[str, ...]],
    hooks: Callable[[Operation], ComponentHooks],
) -> CaseFactory:
    phase, reusing = phases
    pools: PoolView | None = None if knowledge.values is None else knowledge.values.view
    return CaseFactory(
        selected,
        rules,
        hooks,
        pools,
        reusing=(*reusing, EXPLORATION.name),
        met=partial(tell_of_operation, recorder),
        compiled=partial(tell_of_program, recorder, phase),
        warned=partial(tell_of_warning, recorder),
        is_first_of_path=selected.is_first_of_path,
    )


def _naming(rules: GenerationRules, places: Mapping[Label, tuple[str, ...]]) -> GenerationRules:
    """Rules that say, too, where bodies name what other operations make."""

    def of(operation: Operation, phase: str) -> GenerationSettings:
        settings, references = rules.of(operation, phase), places.get(operation.label)
        return settings if references is None else replace(settings, references=references)

    return replace(rules, of=of)


def _component_hooks(hooks: HookSource) -> Callable[[Operation], ComponentHooks]:
    """Hooks of operations, looked up once: they are asked for each case of a list."""
    found: dict[Label, ComponentHooks] = {}

    def of(operation: Operation) -> ComponentHooks:
        known = found.get(operation.label)
        if known is None:
            known = ComponentHooks.from_registry(hooks, HookContext(operation))
            found[operation.label] = known
        return known

    return of


def _no_hooks(operation: Operation) -> ComponentHooks:
    return NO_HOOKS


def _has_making_hooks(hooks: HookSource, verbs: Sequence[str] = _MAKING_VERBS) -> bool:
    return any(hooks.named(f"{verb}_{part}") for verb in verbs for part in _PARTS)
