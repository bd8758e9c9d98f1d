"""A test function and an operation as one Hypothesis test. Listed cases are its explicit examples, drawn cases its generated ones."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from msgspec import Struct

from checker.config.operation_settings import OperationSettings
from checker.core.errors import IncorrectUsage, UnresolvableBody
from checker.core.hooks import TEST_HOOKS
from checker.generation.sources.hypothesis import (
    forget_settings,
    give_seed,
    keep_examples_apart,
    seed_given,
    settings_given,
)
from checker.kinds.protocol import ApiOperation
from checker.library.decorators import CASE, TEST_AUTH, copied, other_strategies, refuse_misuse
from checker.library.engine import LibraryEngine
from checker.library.hypothesis_settings import TestSeed, profile, seed_by, with_configured, without_explanations
from checker.library.schema import LoadedSchema

PROPERTY_TEST: Final = "_checker_property_test"  # Attribute of the Hypothesis test: its `PropertyTest`.
_GENERATING: Final = frozenset((Phase.reuse, Phase.generate, Phase.target, Phase.shrink))


class PropertyTest(Struct, frozen=True):
    """One operation under one test function."""

    operation: ApiOperation
    engine: LibraryEngine
    function: Callable[..., Any]  # The Hypothesis test; call it with the fixtures of the test.
    others: Mapping[str, Any]  # Strategies of the arguments beside `case`.

    @property
    def settings(self) -> OperationSettings:
        return self.engine.settings_of(self.operation)

    @property
    def seed(self) -> Any:
        """Return the seed of the test; None if the test needs no randomness."""
        return seed_given(self.function)

    @property
    def draws(self) -> bool:
        return "fuzzing" in self.settings.phases

    def compile(self) -> None:
        """Make sure that there are cases. Raises `NothingToBreak`, `Unsatisfiable`, `SerializationError`, `BudgetSpent`."""
        if not self.draws:
            return
        fault = self.engine.program(self.operation).fault
        # If a reference of the body leads nowhere, the cases without the body are tested.
        if fault is not None and not isinstance(fault, UnresolvableBody):
            raise fault

    def add_listed_cases(self) -> int:
        """Put the cases that phases list first. Return their number. Raises `IncorrectUsage`, `Unsatisfiable`."""
        listed = list(self.engine.listed_cases(self.operation))
        others = {}
        for name, strategy in self.others.items() if listed else ():
            try:
                others[name] = hypothesis.find(strategy, lambda value: True, settings=_QUICK)
            except Exception as error:
                raise IncorrectUsage(
                    f"{name!r} of `schema.given` has no value to go with the examples of {self.operation.label}: {error}; "
                    "switch the examples and coverage phases off, or give another strategy"
                ) from error
        # The decorator that stands lowest comes first.
        for case in reversed(listed):
            hypothesis.example(case=case, **others)(self.function)
        return len(listed)


_QUICK: Final = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))


def property_test(test: Callable[..., Any], schema: LoadedSchema, operation: ApiOperation, name: str) -> PropertyTest:
    """Return a Hypothesis test for one operation, called `name`. Raises `IncorrectUsage`."""
    refuse_misuse(test)
    hooks = getattr(test, TEST_HOOKS, None)
    if hooks is not None:
        schema = schema.with_test_hooks(hooks)
        operation = schema.bound(operation)
    own_auth = getattr(test, TEST_AUTH, None)
    if own_auth is not None:
        schema = schema.with_test_auth(own_auth)
        operation = schema.bound(operation)
    inner = copied(test)
    forget_settings(inner)
    keep_examples_apart(inner, name)
    others = other_strategies(test)
    engine = schema.engine
    function = hypothesis.given(**{CASE: engine.cases_of_test(operation)}, **others)(inner)
    own = engine.settings_of(operation)
    given = settings_given(test)
    chosen = profile() if given is None else given
    is_said = given is not None and given.max_examples != profile().max_examples
    unwanted = frozenset() if "fuzzing" in own.phases else _GENERATING
    told = without_explanations(chosen.phases, no_shrink=own.cases.no_shrink)
    function = with_configured(
        chosen,
        schema.config.generation,
        None if is_said else own.cases.max_examples,
        phases=tuple(phase for phase in told if phase not in unwanted),
        # Fixtures such as a client or a database are made once for all cases, as for any test of pytest.
        suppress_health_check=[*chosen.suppress_health_check, HealthCheck.function_scoped_fixture],
    )(function)
    _seed(test, function, seed_by(schema.config))
    found = PropertyTest(operation, engine, function, others)
    function.__dict__[PROPERTY_TEST] = found
    return found


def _seed(test: Callable[..., Any], function: Callable[..., Any], usual: TestSeed) -> None:
    """Set the seed of a Hypothesis test, unless the test function determines it."""
    chosen = settings_given(function)
    if seed_given(test) is not None:
        return
    if usual.is_asked:
        hypothesis.seed(usual.value)(function)
    elif chosen is None or not chosen.derandomize:
        give_seed(function, usual.value)
