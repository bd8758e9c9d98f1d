"""Runs of toy workers: told by events, and by a clock that leaps."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.system import Interrupts
from checker.corpus.inflight import Stage
from checker.corpus.records import Finding, Record, ValueSeen
from checker.supervisor.launchers import InlineLauncher, ProcessLauncher
from checker.supervisor.memory import memory_of_tree
from checker.supervisor.state import Deadlines
from checker.supervisor.supervisor import RunEnvironment, RunOutcome, execute
from tests.asking import run_settings, saying
from tests.supervisor.toys import LABELS, toy_work

INLINE = InlineLauncher(toy_work)
PROCESSES = ProcessLauncher(toy_work)
BOTH = pytest.mark.parametrize("launcher", [INLINE, PROCESSES], ids=["inline", "processes"])
PATIENT = Deadlines({}, heartbeat_s=1000.0, opening_s=1000.0)
IMPATIENT = replace(PATIENT, stages={Stage.HOOK: 3.0})
"""Nothing but what hangs takes so long on the busiest machine."""
LONG_S = 1000.0
"""For nights that end by what they find, or by a clock that leaps."""
END = ("slow", "0.002"), ("find", "GET /users:2")
Is = Callable[[Record], bool]


def is_work(record: Record) -> bool:
    return isinstance(record, ValueSeen)


def is_finding(record: Record) -> bool:
    return isinstance(record, Finding)


class Clock:
    """Goes as all clocks do, until it leaps."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead_s


class RememberingListener:
    """A listener that remembers; `when` it is told of something, something happens."""

    def __init__(self, when: Is | None = None, happens: Callable[[], None] | None = None) -> None:
        self.records: list[tuple[int, Record]] = []
        self._when = when
        self._happens = happens

    def __call__(self, incarnation: int, record: Record) -> None:
        self.records.append((incarnation, record))
        if self._when is not None and self._happens is not None and self._when(record):
            self._happens()

    def of(self, kind: type[Any]) -> list[Any]:
        return [record for _, record in self.records if isinstance(record, kind)]

    @property
    def cases(self) -> Counter[tuple[str, int]]:
        return Counter((value.producer, value.value) for value in self.of(ValueSeen))


class Run:
    """Settings that are made once and run as often as wanted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = RememberingListener()

    def settings(self, *orders: tuple[str, str], **fields: Any) -> RunSettings:
        fields = {"kind": "run", "seed": 1, "phases": ("fuzzing",), **fields}
        said = {
            "generation": {"max-examples": fields.pop("max_examples", 5)},
            "continue-on-failure": fields.pop("continue_on_failure", False),
            "checks": {name: {"enabled": False} for name in fields.pop("without_checks", ())},
            "headers": dict(orders),
        }
        return run_settings(location="toy", folder=str(self.folder / "corpus"), operations=saying(said), **fields)

    def __call__(
        self,
        *orders: tuple[str, str],
        launcher: Any = PROCESSES,
        deadlines: Deadlines = PATIENT,
        over: Is | None = None,
        stop: Is | None = None,
        age_s: float = 0.0,
        memory: Callable[[], Mapping[int, int]] = memory_of_tree,
        **fields: Any,
    ) -> RunOutcome:
        """`over`: 900 s are over when such a record is told; `stop`: the user asks to stop then; `age_s` have passed before."""
        clock, interrupts = Clock(), Interrupts()

        def leap() -> None:
            clock.ahead_s = 900.0

        def interrupt() -> None:
            interrupts.count = 1

        self.told = RememberingListener(over or stop, leap if over else interrupt)
        around = RunEnvironment(launcher, deadlines, interrupts, clock, age_s, memory)
        return execute(self.settings(*orders, **fields), self.told, around)


def all_cases(count: int = 5) -> Counter[tuple[str, int]]:
    return Counter((label, index) for label in LABELS for index in range(count))
