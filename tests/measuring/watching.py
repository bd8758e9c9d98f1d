"""How a schema is judged without an end in sight: under a watchdog, every way out a kind of verdict."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.sources.context import Rejected
from tests.measuring.oracles import NoOpinion


class Kind(Protocol):
    """A verdict, as far as it is the same for all."""

    kind: str
    detail: str


class Hang(Exception):
    """The watchdog of time barked."""


@contextmanager
def watchdog(seconds: float) -> Iterator[None]:
    """Raise `Hang` inside after so many seconds of CPU."""

    def bark(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, bark)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def watched(verdict: Kind, seconds: float, judge: Callable[[], None], doubt: Callable[[], None]) -> None:
    """Judge within so many seconds of CPU; what goes wrong stands in the verdict. `doubt` looks at a refusal."""
    try:
        with watchdog(seconds):
            judge()
    except Hang:
        verdict.kind, verdict.detail = "hang", f"more than {seconds:g} s of CPU"
    except NoOpinion as error:
        verdict.kind, verdict.detail = "unread", str(error)
    except (Unsatisfiable, BudgetSpent, Rejected) as error:
        verdict.kind, verdict.detail = "refused", str(error)
        doubt()
    except Exception as error:  # noqa: BLE001 - what is measured is that there is none
        verdict.kind, verdict.detail = "error", f"{type(error).__name__}: {error}"
