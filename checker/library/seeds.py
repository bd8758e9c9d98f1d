"""Which seed a test of Hypothesis has that says none itself."""

import os
import secrets
from functools import cache
from typing import Any, Final

from msgspec import Struct

from checker.core.digests import digest_int
from checker.generation.sources.hypothesis import forced_seed

_TEST_RUN: Final = "PYTEST_XDIST_TESTRUNUID"
"""Variable of the environment: what pytest-xdist calls a session, the same in each of its processes."""


class TestSeed(Struct, frozen=True):
    """A seed, and whether somebody asked for it."""

    __test__ = False

    value: int
    is_asked: bool
    """Then nothing that was found before is tried first: the same seed makes the same requests."""


def seed_by(config: Any) -> TestSeed:
    """The seed of `--hypothesis-seed`, of the configuration, or of the session, whichever is there first."""
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
