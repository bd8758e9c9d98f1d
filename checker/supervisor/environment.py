"""The environment of a run: the launcher of its workers, interrupts, the clock."""

import time
from collections.abc import Callable

from msgspec import Struct, field

from checker.supervisor.launchers.handle import Launcher
from checker.supervisor.signals import Interrupts
from checker.supervisor.state import Deadlines


class RunEnvironment(Struct, frozen=True):
    """The environment of a run. Tests replace its parts."""

    launcher: Launcher | None = None
    """Starts the workers; None: as the settings say."""
    deadlines: Deadlines | None = None
    """None: those of the settings."""
    interrupts: Interrupts = field(default_factory=Interrupts)
    """The run ends early when it counts, and sooner when it counts more."""
    clock: Callable[[], float] = time.monotonic
    """Seconds of the run are counted by it; whether a worker hangs is not."""
    age_s: float = 0.0
    """Seconds that belong to the run although they passed before: since the process began."""
