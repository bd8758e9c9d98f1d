"""Properties are tried with the same examples in every run: a failure found once is found again.

The settings start from Hypothesis's own plain ones, not from those that it chooses when it
believes to be in a CI service: a test must not say one thing here and another one there. How much a test filters is
not looked at: texts are tried that stand in whatever modules other tests have loaded before. Nor is how long examples take:
that is the machine's.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.entropy import deterministic_PRNG

from checker.core.system import uncollected
from tests import fork_server

# Compiled modules are kept, also where the surroundings say otherwise: a run starts four processes or more, and each
# of them would compile the whole package anew (0.7 CPU-s of 1.4).
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

fork_server.prepare()

settings.register_profile(
    "house",
    parent=settings.get_profile("default"),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
settings.load_profile("house")

pytest_plugins = ["pytester"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the repetitions of a `thorough_beyond(n)` test as `thorough`: all items of its function after the first n."""
    counts: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("thorough_beyond")
        if marker is not None:
            name = item.nodeid.partition("[")[0]
            counts[name] += 1
            if counts[name] > marker.args[0]:
                item.add_marker("thorough")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and items live as long as the process: the garbage collector need not look through them.

    It did so while they came, and in each test that leaves much behind.
    """
    # Older versions of Hypothesis make their generator now, and warn when the collector does not know who holds it.
    with deterministic_PRNG():
        pass
    with uncollected():
        return (yield)


@pytest.fixture
def corpora() -> Path:
    """The folder of the large corpora, laid out as `tests/measuring/corpora.py` says."""
    folder = os.environ.get("CHECKER_CORPORA")
    if folder is None:
        pytest.skip(
            "thousands of real API descriptions are no part of this repository; name a folder of them in CHECKER_CORPORA"
        )
    return Path(folder)
