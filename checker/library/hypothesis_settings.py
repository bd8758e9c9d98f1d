"""The settings of Hypothesis: the configured ones, and replacements of defaults that do not fit calls of an API."""

import os
import secrets
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase, InMemoryExampleDatabase
from msgspec import Struct

from checker.config.table import default_of
from checker.core.digests import digest_int
from checker.core.errors import IncorrectUsage
from checker.generation.sources.hypothesis import forced_seed

_STEPS: Final = 6  # Calls of a sequence, at most, unless settings say otherwise.
_MAX_EXAMPLES: Final = default_of(("generation",), "max-examples")
_DATABASE: Final = default_of(("generation",), "database")


def profile() -> settings:
    """Return the settings for tests that have none of their own."""
    found = settings.default
    assert found is not None
    return found


def with_configured(chosen: settings, generation: Any, max_examples: int | None, **changes: Any) -> settings:
    """Return settings with the values of a section `generation`. `max_examples` is the configured number; None if it does not apply."""
    if _is_usual_deadline(chosen):
        changes["deadline"] = None
    if max_examples not in (None, _MAX_EXAMPLES):
        changes["max_examples"] = max_examples
    if generation.deterministic:
        changes.update(derandomize=True, database=None)
    elif generation.database != _DATABASE:
        if generation.database == "none":
            changes["database"] = None
        else:
            changes["database"] = (
                InMemoryExampleDatabase()
                if generation.database == ":memory:"
                else DirectoryBasedExampleDatabase(generation.database)
            )
    return settings(chosen, **changes)


def of_sequences(config: Any) -> settings:
    """Return the settings of a state machine without settings of its own, by the configuration of its schema."""
    own = config.generation_for(operation=None, phase="stateful")
    return with_configured(
        profile(),
        config.generation,
        own.max_examples,
        stateful_step_count=config.phases.stateful.max_steps or _STEPS,
        phases=tuple(without_explanations(profile().phases, no_shrink=own.no_shrink)),
        suppress_health_check=list(HealthCheck),
    )


def fit_for_sequences(chosen: object) -> settings:
    """Return the settings of a test, without a deadline for whole sequences unless the test sets one. Raises `IncorrectUsage`."""
    if not isinstance(chosen, settings):
        raise IncorrectUsage(f"settings of a state machine must be a `hypothesis.settings(...)`, got {chosen!r:.80}")
    return settings(
        chosen,
        deadline=None if _is_usual_deadline(chosen) else chosen.deadline,
        phases=tuple(without_explanations(chosen.phases, no_shrink=False)),
    )


def without_explanations(phases: Iterable[Phase], *, no_shrink: bool) -> Iterator[Phase]:
    """Return the phases that are useful for an API.

    To explain a failure, Hypothesis runs it hundreds of times and names the executed lines, which are lines of checker.
    """
    unwanted = {Phase.explain, Phase.shrink} if no_shrink else {Phase.explain}
    return (phase for phase in phases if phase not in unwanted)


def _is_usual_deadline(chosen: settings) -> bool:
    """Whether neither these settings nor the profile set a deadline."""
    return bool(chosen.deadline == profile().deadline == settings.get_profile("default").deadline)


SEQUENCES: Final = fit_for_sequences(settings(stateful_step_count=_STEPS, suppress_health_check=list(HealthCheck)))
"""Settings of a state machine that no configuration covers."""


_TEST_RUN: Final = "PYTEST_XDIST_TESTRUNUID"
"""Environment variable with the id of a session of pytest-xdist, which is the same in each of its processes."""


class TestSeed(Struct, frozen=True):
    """A seed, and whether the user chose it."""

    __test__ = False

    value: int
    is_asked: bool  # If the user chose it, earlier findings are not tried first, so that the same seed makes the same requests.


def seed_by(config: Any) -> TestSeed:
    """Return the seed of `--hypothesis-seed`, else of the configuration, else of the session."""
    forced = forced_seed()
    if forced is not None:
        return TestSeed(forced if isinstance(forced, int) else digest_int(str(forced)), True)
    if config.seed is not None:
        return TestSeed(int(config.seed), True)
    return TestSeed(_of_session(), False)


@cache
def _of_session() -> int:
    run = os.environ.get(_TEST_RUN)
    return secrets.randbits(63) if run is None else digest_int(run)
