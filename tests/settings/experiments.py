"""The runs that rows of the table refer to, by name."""

from collections.abc import Mapping
from typing import Final

from tests.settings.careless import DOCUMENT, Careless
from tests.settings.runs import Experiment

ONE = ("--inline", "-n", "1", "--mode", "positive")
GIVEN = {"parameters": {"query.zork": "h1dden", "query.a": "sh0wn"}}


def of_phase(phase: str) -> Experiment:
    """The service in one phase."""
    base = {"phases.examples.fill-missing": True}
    return Experiment(("--inline", "-n", "8", "--phases", phase, "--seed", "1", "--mode", "positive"), base)


EXPERIMENTS: Final[Mapping[str, Experiment]] = {
    "told": Experiment((*ONE, "-c", "not_a_server_error"), GIVEN),
    # The values of the description stay in what is shown.
    "plain": Experiment((*ONE, "--phases", "examples", "-c", "not_a_server_error", "--no-shrink"), GIVEN),
    # One failure would end the lists.
    "listed": Experiment(("--inline", "-n", "3", "--seed", "1", "--continue-on-failure")),
    "careless": Experiment(
        ("--inline", "-n", "12", "--seed", "1", "--continue-on-failure"),
        {"auth.openapi.Key.api_key": "s3cret"},
        Careless,
        DOCUMENT,
    ),
    "nothing": Experiment(("--inline",)),
    **{phase: of_phase(phase) for phase in ("examples", "coverage", "fuzzing", "stateful")},
}
