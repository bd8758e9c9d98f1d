"""State machines of Hypothesis over the transitions of a description: sequences of calls that Hypothesis draws and shrinks."""

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from checker.checks.resources import Sent
from checker.core.case import NOT_SET, Case
from checker.core.errors import IncorrectUsage, InvalidStateMachine, InvalidTransition, NoLinksFound
from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import BrokenOperation, Label
from checker.core.resources import ResourceModel, Transition
from checker.core.response import Response
from checker.generation.sources.hypothesis import give_seed, seed_given
from checker.kinds.protocol import ApiOperation
from checker.library.faults import faults_of
from checker.library.hypothesis_settings import SEQUENCES, TestSeed, fit_for_sequences, of_sequences, seed_by
from checker.library.recording import record_test
from checker.phases.bindings import evaluated, place_in_answer, set_into

_MANY: Final = 1 << 16
SEQUENCES_TEST: Final = "_checker_sequences"
"""Attribute of the tests of state machines. The calls of state machines belong to a session, like the calls of tests of operations."""


class APIStateMachine(RuleBasedStateMachine):
    """Calls operations, then operations that use values of their responses. `schema.as_state_machine()` returns one for a schema.

    Override `setup`, `teardown`, `before_call`, `after_call`, `get_call_kwargs` and `validate_response` as you need.
    """

    usual_settings: ClassVar[settings] = SEQUENCES
    """Settings of `TestCase`, and of `run` if it is called without settings. The settings follow from the configuration of the schema."""
    usual_seed: ClassVar[TestSeed | None] = None  # Seed of a class without `@hypothesis.seed`.

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Hypothesis makes a test of each class, with settings of its own.
        cls.TestCase.settings = cls.usual_settings
        setattr(cls.TestCase, SEQUENCES_TEST, True)
        cls.TestCase.runTest = _fit(cls.TestCase.runTest, cls)  # type: ignore[assignment,method-assign]

    def __init__(self) -> None:
        super().__init__()
        self.exchanged: list[Sent] = []
        """The calls of this scenario, in order."""
        self.setup()

    def setup(self) -> None:
        """Called once before each scenario."""

    def teardown(self) -> None:
        """Called once after each scenario."""

    def before_call(self, case: Case) -> None:
        """Called before each call: change the case in place."""

    def after_call(self, response: Response, case: Case) -> None:
        """Called after each call, before its response is judged."""

    def get_call_kwargs(self, case: Case) -> dict[str, Any]:
        """Return arguments of `case.call`: `headers`, `session`, ..."""
        return {}

    def call(self, case: Case, **kwargs: Any) -> Response:
        """Return the response to a case."""
        return case.call(**kwargs)

    def validate_response(self, response: Response, case: Case, additional_checks: Any = None, **kwargs: Any) -> None:
        """Raise a `FailureGroup` when a check fails."""
        earlier = [one for one in self.exchanged if one.case is not case]
        assert case.engine is not None, "it was drawn"
        case.engine.validate_response(case, response, additional_checks=additional_checks, earlier=earlier, **kwargs)

    def step(self, case: Case) -> None:
        """Send one case and judge its response."""
        self.before_call(case)
        given: object = self.get_call_kwargs(case)
        if not isinstance(given, Mapping):
            raise IncorrectUsage(
                f"`get_call_kwargs` of {type(self).__name__} must return a dict of arguments of `case.call`, got {given!r:.80}"
            )
        response = self.call(case, **given)
        self.after_call(response, case)
        self.exchanged.append(Sent(case, response.request, response))
        self.validate_response(response, case)

    @classmethod
    def run(cls, *, settings: settings | None = None) -> None:
        """Try scenarios until one fails or the configured number is reached.

        Raises the exception of the shortest failing scenario, or `IncorrectUsage`.
        """
        chosen = cls.usual_settings if settings is None else fit_for_sequences(settings)
        with _seeded(cls, chosen):
            run_state_machine_as_test(cls, settings=chosen)


def _fit(run: Callable[[Any], None], machine: type[APIStateMachine]) -> Callable[[Any], None]:
    """Return the test of a state machine, with its seed. Settings of the user are made fit for sequences of calls."""

    @functools.wraps(run)
    def run_test(self: Any) -> None:
        __tracebackhide__ = True
        self.settings = fit_for_sequences(self.settings)
        with _seeded(machine, self.settings):
            run(self)

    return run_test


@contextmanager
def _seeded(machine: type[APIStateMachine], chosen: settings) -> Iterator[None]:
    """Give a state machine its usual seed within the block, unless it or its settings determine the random choices."""
    __tracebackhide__ = True
    own, usual = seed_given(machine), machine.usual_seed
    if own is None and usual is not None and (usual.is_asked or not chosen.derandomize):
        give_seed(machine, usual.value)
    record_test("", seed_given(machine))
    try:
        yield
    finally:
        give_seed(machine, own)


def state_machine(
    title: str, model: ResourceModel, operations: Sequence[ApiOperation | BrokenOperation], config: Any
) -> type[APIStateMachine]:
    """Return a state machine over the transitions between these operations; the configuration applies to tests without settings.

    Raises `NoLinksFound` when there are none; `InvalidStateMachine` when declared links cannot be followed.
    """
    usable = {one.label: one for one in operations if not isinstance(one, BrokenOperation)}
    own = model.restricted(usable.keys())
    if not own.transitions:
        start = f"{title or 'the API'} has no links between its operations: "
        if model.transitions:
            raise NoLinksFound(f"{start}none of them connects selected operations")
        faults = [fault for operation in usable.values() for fault in faults_of(operation)]
        broken = [one for one in faults if isinstance(one, InvalidTransition)]
        if broken:
            told = "; ".join(one.message for one in broken)
            raise InvalidStateMachine(f"{start}none of the declared links can be followed. {told}", broken)
        raise NoLinksFound(f"{start}declare `links`, or paths that share resources")
    rules = dict(_rules(own, usable))
    name = re.sub(r"\W", "", title) or "API"
    seed = seed_by(config)
    usual = of_sequences(config)
    usual = settings(usual, database=None) if seed.is_asked else usual
    return type(f"{name}StateMachine", (APIStateMachine,), {"usual_settings": usual, "usual_seed": seed, **rules})


def _rules(model: ResourceModel, operations: dict[Label, ApiOperation]) -> Iterator[tuple[str, Any]]:
    sources = {one.source for one in model.transitions}
    for label in [one for one in model.roots if one in sources] or sorted(sources):
        name = _name("begin", label)

        def begin(self: APIStateMachine, case: Case) -> None:
            _mark(case)
            self.step(case)

        begin.__name__ = name
        yield name, rule(case=operations[label].as_strategy())(begin)
    for number, transition in enumerate(model.transitions):
        name = _name(f"follow_{number}", transition.target)
        responses = operations[transition.source].definition.get("responses")
        documented = frozenset(map(str, responses)) if isinstance(responses, dict) else frozenset()
        strategy = operations[transition.target].as_strategy()
        made = rule(case=strategy, which=st.integers(0, _MANY))(_following(name, transition, documented))
        yield name, precondition(_was_called(transition.source))(made)


def _following(name: str, transition: Transition, documented: frozenset[str]) -> Any:
    def follow(self: APIStateMachine, case: Case, which: int) -> None:
        found = [
            _bindings(transition, sent, step)
            for step, sent in enumerate(self.exchanged)
            if sent.case.operation.label == transition.source
            and isinstance(sent.outcome, Response)
            and transition.is_for(sent.outcome.status_code, documented)
        ]
        possible = [one for one in reversed(found) if one]
        if not possible:
            return
        _mark(case)
        set_into(case, possible[which % len(possible)])
        self.step(case)

    follow.__name__ = name
    return follow


def _was_called(label: Label) -> Any:
    """Return the precondition that an operation was called.

    Responses do not matter, because the rules must stay the same when a server responds differently.
    """
    return lambda self: any(sent.case.operation.label == label for sent in self.exchanged)


def _bindings(transition: Transition, sent: Sent, step: int) -> tuple[Binding, ...]:
    values = ((one, evaluated(one.value, sent)) for one in transition.values)
    source = transition.source
    return tuple(
        Binding(
            location=one.location,
            name=one.name,
            producer=source,
            pointer=place_in_answer(one.value),
            index=0,
            literal=value,
            expression=json.dumps(one.value),
            step=step,
        )
        for one, value in values
        if value is not NOT_SET
    )


def _mark(case: Case) -> None:
    if case.meta is not None:
        case.meta.phase = PhaseInfo("stateful")


def _name(verb: str, label: str) -> str:
    return f"{verb}_{re.sub(r'[^0-9A-Za-z]+', '_', label).strip('_').lower()}"
